# SPDX-License-Identifier: BSD-3-Clause
"""Exports the table's cases, or checks that the repository holds what they give.

usage, in python/: python -m cases.export [--only TEXT] [--out DIR] [--check [--full]] [--list]
"""
import argparse
import shutil
import sys
import traceback
from pathlib import Path

from cases import drift, folder, golden, lowering
from cases.case import Case
from cases.progress import Progress
from cases.table import coverage, families

DATA = Path(__file__).resolve().parents[2] / "tests" / "data" / "ops"


def export_case(case: Case, out: Path) -> int:
    """Writes the folder of a case; returns its size."""
    calls, precision = golden.answer(case)
    lowered = lowering.lower(case)
    lowering.check(case, lowered)
    files = folder.contents(case, lowered, calls, precision)
    folder.write(out / case.name, files)
    return sum(map(len, files.values()))


def export_all(cases: list[Case], out: Path) -> int:
    progress, failed, size = Progress(len(cases)), [], 0
    for case in cases:
        with progress.step(case.name):
            try:
                size += export_case(case, out)
            except Exception:  # the others can still be exported
                failed.append(case.name)
                print(f"\n{traceback.format_exc()}", file=sys.stderr)
    print(f"{len(cases) - len(failed)} of {len(cases)} cases exported, {size / 1024:.0f} KiB")
    for name in failed:
        print(f"failed: {name}")
    return 1 if failed else 0


def remove_others(cases: list[Case], out: Path):
    """Folders of cases that are no longer in the table."""
    known = {case.name for case in cases}
    for path in [manifest.parent for manifest in out.glob("*/*/manifest.json")]:
        if str(path.relative_to(out)) not in known:
            print(f"removing {path.relative_to(out)}")
            shutil.rmtree(path)


def list_ops(cases: list[Case]):
    """How many cases there are for each op that a case is meant to test."""
    counts = coverage(cases)
    for op, count in sorted(counts.items()):
        print(f"{count:4} {op}")
    print(f"{len(cases)} cases, {len(counts)} ops")


def main() -> int:
    parser = argparse.ArgumentParser(prog="cases.export", description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", metavar="TEXT", help="cases whose name contains TEXT")
    parser.add_argument("--out", type=Path, default=DATA, metavar="DIR", help="instead of tests/data/ops")
    parser.add_argument("--check", action="store_true", help="compare with DIR instead of writing to it")
    parser.add_argument("--full", action="store_true", help="with --check: every program, not one for each suite")
    parser.add_argument("--list", action="store_true", help="print how many cases each op has")
    args = parser.parse_args()
    table = families()
    chosen = [case for family in table.values() for case in family if args.only in case.name]
    if not chosen:
        parser.error(f"no case has '{args.only}' in its name")
    if args.list:
        return list_ops(chosen) or 0
    if args.check:
        return drift.check(table, args.out, args.only, args.full)
    if not args.only:
        remove_others(chosen, args.out)
    return export_all(chosen, args.out)


if __name__ == "__main__":
    sys.exit(main())
