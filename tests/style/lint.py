#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""clang-tidy, with the checks of .clang-tidy, over what the build compiles of ours. Takes many minutes of CPU time.

usage: lint.py SOURCE_DIR BUILD_DIR [NAME…]     only files whose path contains one of the names
"""
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys

TIDY = "clang-tidy-22"
OURS = ("src/", "executorch/", "tests/")


def main() -> int:
    source, build = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
    listed = {pathlib.Path(entry["file"]) for entry in json.loads((build / "compile_commands.json").read_text())}
    names = {path: str(path.relative_to(source)) for path in listed if path.is_relative_to(source)}
    wanted = sorted(path for path, name in names.items() if name.startswith(OURS) and any(part in name for part in sys.argv[3:] or [""]))

    def lint(path: pathlib.Path) -> str:
        done = subprocess.run([TIDY, "-p", build, "--quiet", path], capture_output=True, text=True)
        found = re.findall(r"^.*(?:warning|error): .*$", done.stdout, re.M)
        return "\n".join(found or [done.stderr] if done.returncode else [])

    problems = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for path, found in zip(wanted, pool.map(lint, wanted)):
            problems += bool(found)
            if found:
                print(found, flush=True)
    print(f"{len(wanted)} files, {problems} with findings")
    return min(problems, 1)


if __name__ == "__main__":
    sys.exit(main())
