#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""clang-tidy, with the checks of .clang-tidy, over what the build compiles of ours. The first time takes many minutes of CPU time; a
file without findings is checked again when it, something that it includes, its command or the checks have changed.

usage: lint.py SOURCE_DIR BUILD_DIR [NAME…]     only files whose path contains one of the names
"""
import concurrent.futures
import functools
import hashlib
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys

TIDY = "clang-tidy-22"
OURS = ("src/", "executorch/", "tests/")


@functools.cache
def digest(path: str) -> str:
    try:
        return hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest()
    except FileNotFoundError:
        return "missing"


class Unreadable(Exception):
    """What the compiler says of a file that it does not even read: mostly that something generated is missing."""


class Linter:
    def __init__(self, source: pathlib.Path, build: pathlib.Path):
        self.source, self.build = source, build
        self.commands = {}
        for entry in json.loads((build / "compile_commands.json").read_text()):
            path = pathlib.Path(entry["file"])
            if path.is_relative_to(source) and str(path.relative_to(source)).startswith(OURS):
                self.commands[str(path.relative_to(source))] = entry["command"]
        version = subprocess.run([TIDY, "--version"], capture_output=True, text=True, check=True).stdout
        self.checks = hashlib.sha256((version + (source / ".clang-tidy").read_text()).encode()).hexdigest()

    def clean(self, name: str) -> pathlib.Path:
        """Where it is kept that a file is clean, with what it was made of then."""
        return self.build / "lint" / (name + ".json")

    def is_clean(self, name: str) -> bool:
        try:
            kept = json.loads(self.clean(name).read_text())
        except FileNotFoundError:
            return False
        return (kept["checks"], kept["command"]) == (self.checks, self.commands[name]) and all(
            digest(path) == was for path, was in kept["read"].items())

    def read_by(self, name: str) -> dict[str, str]:
        """What the compiler reads for a file, as it is now."""
        words = shlex.split(self.commands[name])
        for option, values in (("-o", 1), ("-c", 0)):
            if option in words:
                del words[words.index(option):words.index(option) + 1 + values]
        done = subprocess.run([*words, "-M"], cwd=self.build, capture_output=True, text=True)
        if done.returncode:
            raise Unreadable(f"{name}: {done.stderr.strip()}")
        return {path: digest(path) for path in shlex.split(done.stdout.replace("\\\n", " "))[1:]}

    def lint(self, name: str) -> str:
        try:
            read = self.read_by(name)  # before it is checked: who edits meanwhile has it checked again
        except Unreadable as problem:
            return str(problem)
        done = subprocess.run([TIDY, "-p", self.build, "--quiet", self.source / name], capture_output=True, text=True)
        if done.returncode:
            return "\n".join(re.findall(r"^.*(?:warning|error): .*$", done.stdout, re.M) or [done.stderr])
        self.clean(name).parent.mkdir(parents=True, exist_ok=True)
        self.clean(name).write_text(json.dumps({"checks": self.checks, "command": self.commands[name], "read": read}))
        return ""


def main() -> int:
    linter = Linter(*(pathlib.Path(argument).resolve() for argument in sys.argv[1:3]))
    wanted = sorted(name for name in linter.commands if any(part in name for part in sys.argv[3:] or [""]))
    due = [name for name in wanted if not linter.is_clean(name)]
    problems = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for found in pool.map(linter.lint, due):
            problems += bool(found)
            if found:
                print(found, flush=True)
    print(f"{len(wanted)} files, {len(due)} of them checked, {problems} with findings")
    return min(problems, 1)


if __name__ == "__main__":
    sys.exit(main())
