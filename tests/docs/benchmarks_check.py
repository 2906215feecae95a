#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Is docs/benchmarks.md what the numbers beside it give, and does compare.py keep what it has measured?

usage: benchmarks_check.py SOURCE_DIR
"""
import itertools
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(sys.argv.pop(1))
DOCS = SOURCE / "docs"
RESULTS = json.loads((DOCS / "benchmarks" / "results.json").read_text())
HEADINGS = {
    "own": "## Where the time goes",
    "contestants": "## Language model, side by side",
    "kernels": "## Single ops",
    "growth": "## How costs grow",
}
sys.path.insert(0, str(SOURCE / "bench"))
sys.dont_write_bytecode = True
import compare  # noqa: E402
import growth  # noqa: E402
import report  # noqa: E402


class Folder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.docs = pathlib.Path(folder.name) / "docs"
        (self.docs / "benchmarks").mkdir(parents=True)

    def numbers(self):
        return json.loads((self.docs / "benchmarks" / "results.json").read_text())

    def assert_page_has(self, parts):
        page = (self.docs / "benchmarks.md").read_text()
        for part, heading in HEADINGS.items():
            self.assertEqual(heading in page, part in parts, (heading, parts))
        for picture in re.findall(r"!\[.*?\]\((.*?)\)", page):
            self.assertTrue((self.docs / picture).exists(), picture)


class Page(Folder):
    def test_is_what_its_numbers_give(self):
        shutil.copy(DOCS / "benchmarks" / "results.json", self.docs / "benchmarks")
        subprocess.run([SOURCE / "bench" / "compare.py", "--report-only", "--docs", self.docs], check=True)
        for path in sorted(p for p in self.docs.rglob("*") if p.is_file()):
            name = path.relative_to(self.docs)
            same = path.read_bytes() == (DOCS / name).read_bytes()
            self.assertTrue(same, f"docs/{name} is not what its numbers give; run bench/compare.py --report-only")

    def test_leaves_out_what_was_not_measured(self):
        for count in range(len(HEADINGS) + 1):
            for parts in itertools.combinations(HEADINGS, count):
                shutil.rmtree(self.docs / "benchmarks")
                (self.docs / "benchmarks").mkdir()
                some = {key: value for key, value in RESULTS.items() if key not in HEADINGS or key in parts}
                (self.docs / "benchmarks" / "results.json").write_text(json.dumps(some))
                report.write(self.docs / "benchmarks", self.docs / "benchmarks.md")
                self.assert_page_has(parts)


class Runner:
    """A contestant that costs nothing."""

    left = None  # calls until someone presses Ctrl-C

    def cost(self, *_):
        if Runner.left is not None:
            Runner.left -= 1
            if Runner.left < 0:
                raise KeyboardInterrupt
        return {"cpu_ms": 2.0, "wall_ms": 1.0}

    tokens = kernel = cost

    def prompt(self, _):
        return {"prompt": self.cost(), "load_ms": 3.0, "next": "Paris"}

    def close(self):
        pass


class Measuring(Folder):
    def setUp(self):
        super().setUp()
        Runner.left = None
        bench = lambda *_, **__: dict(RESULTS["own"]["q4, lavapipe"])
        stubs = {
            compare: {
                "run": lambda *_: "",
                "prepare": lambda _: None,
                "pteron_bench": bench,
                "contestants": lambda: {"Pteron, q4, lavapipe": Runner, "Other, lavapipe": Runner},
                "has_kernels": lambda _: True,
            },
            growth: {"run": lambda *_: "", "convert": lambda *_: None, "gguf_model": lambda: None, "pteron_bench": bench},
        }
        for module, functions in stubs.items():
            for name, stub in functions.items():
                self.addCleanup(setattr, module, name, getattr(module, name))
                setattr(module, name, stub)

    def compare(self, *arguments):
        self.addCleanup(setattr, sys, "argv", sys.argv)
        self.addCleanup(setattr, sys, "stderr", sys.stderr)
        sys.argv = ["compare.py", "--quick", "--docs", str(self.docs), *arguments]
        with open("/dev/null", "w") as sys.stderr:
            compare.main()

    def test_what_it_sets_up_exists(self):
        lines = (SOURCE / "pins.txt").read_text().splitlines()
        self.assertLessEqual(set(compare.GROUPS), {line.split()[0] for line in lines if line and line[0] != "#"})

    def test_one_part_makes_a_page(self):
        for part, (key, *_) in compare.PARTS.items():
            (self.docs / "benchmarks" / "results.json").unlink(missing_ok=True)
            self.compare("--parts", part)
            self.assert_page_has([key])

    def test_parts_are_added_to_those_that_are_there(self):
        self.compare("--parts", "peers")
        self.compare("--parts", "kernels")
        self.assert_page_has(["contestants", "kernels"])

    def test_what_was_measured_before_an_interruption_is_kept(self):
        Runner.left = 3  # two prompts, one turn of the first
        with self.assertRaises(KeyboardInterrupt):
            self.compare("--parts", "own", "peers")
        rows = self.numbers()["contestants"]
        self.assertEqual([bool(row["decode"]) for row in rows.values()], [True, False])
        self.compare("--report-only")
        self.assert_page_has(["own", "contestants"])

    def test_what_fails_is_named_and_the_rest_is_kept(self):
        def fail():
            raise RuntimeError("no such GPU")

        compare.contestants = lambda: {"Pteron, q4, lavapipe": Runner, "Other, lavapipe": fail}
        self.compare("--parts", "peers")
        self.assertEqual(self.numbers()["failed"], {"Other, lavapipe": "no such GPU"})
        self.assertIn("Other, lavapipe did not run: no such GPU", (self.docs / "benchmarks.md").read_text())


unittest.main()
