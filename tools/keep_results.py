#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Adds what ctest's reports say to build/results/tests.json: of every test its last result, at which commit and when. That is where
tools/platforms --record takes results from.

usage: tools/keep_results.py COMMIT REPORT.xml...
"""
import datetime
import json
import pathlib
import re
import sys
import xml.etree.ElementTree

RESULTS = pathlib.Path(__file__).resolve().parent.parent / "build" / "results" / "tests.json"
STATUS = {"run": "passed", "fail": "failed"}  # as ctest calls them; what was not run has no result


def results(report: pathlib.Path, commit: str) -> dict[str, dict]:
    suite = xml.etree.ElementTree.parse(report).getroot()
    date = datetime.datetime.fromisoformat(suite.get("timestamp")).date().isoformat()
    tests = {test.get("name"): test for test in suite.iter("testcase") if test.get("status") in STATUS}
    return {
        name: {"status": STATUS[test.get("status")], "seconds": round(float(test.get("time")), 1), "commit": commit, "date": date} | adapter(test)
        for name, test in tests.items()
    }


def adapter(test: xml.etree.ElementTree.Element) -> dict[str, str]:
    """On which GPU it ran, if it says so at its beginning; ctest keeps no more of what a test says."""
    said = re.search(r"^adapter: (.+)$", test.findtext("system-out") or "", re.M)
    return {"adapter": said[1]} if said else {}


def main() -> None:
    commit, reports = sys.argv[1], map(pathlib.Path, sys.argv[2:])
    kept = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    for report in filter(pathlib.Path.exists, reports):
        kept |= results(report, commit)
    RESULTS.parent.mkdir(parents=True, exist_ok=True)
    part = RESULTS.with_suffix(".part")
    part.write_text(json.dumps(dict(sorted(kept.items())), indent=1) + "\n")
    part.replace(RESULTS)


if __name__ == "__main__":
    main()
