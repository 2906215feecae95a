#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Is docs/benchmarks.md, with its plots, what the numbers beside it give?

usage: benchmarks_check.py SOURCE_DIR
"""
import pathlib
import shutil
import subprocess
import sys
import tempfile


def main() -> None:
    source = pathlib.Path(sys.argv[1])
    docs = source / "docs"
    with tempfile.TemporaryDirectory() as folder:
        again = pathlib.Path(folder)
        shutil.copytree(docs / "benchmarks", again / "benchmarks", ignore=shutil.ignore_patterns("*.svg"))
        subprocess.run([source / "bench" / "compare.py", "--report-only", "--docs", again], check=True)
        for path in sorted(p for p in again.rglob("*") if p.is_file()):
            name = path.relative_to(again)
            if path.read_bytes() != (docs / name).read_bytes():
                sys.exit(f"docs/{name} is not what its numbers give; run bench/compare.py --report-only")


main()
