# SPDX-License-Identifier: BSD-3-Clause
"""What the tests of packages for other systems share."""
import os
import pathlib
import re
import shutil
import subprocess
import sys

SOURCE, WORK, NATIVE = (pathlib.Path(sys.argv.pop(1)).resolve() for _ in range(3))
DATA = SOURCE / "tests" / "data"
DECLARED = set(re.findall(r"\b(pteron_\w+)\(", (SOURCE / "include/pteron/c.h").read_text()))
sys.path.insert(0, str(SOURCE / "tools" / "packages"))


def run(*command, **options) -> str:
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, encoding="utf-8", timeout=600, **options)
    if done.returncode != 0:
        raise AssertionError(f"{' '.join(map(str, command))} ended with {done.returncode}:\n{done.stdout}\n{done.stderr}")
    return done.stdout


def unpacked(system: str) -> pathlib.Path:
    """The folder that the package of a system holds, made anew."""
    shutil.rmtree(WORK / system, ignore_errors=True)
    out = WORK / system / "package"
    made = subprocess.run([SOURCE / "tools" / "package", system, "-o", out], stdout=subprocess.PIPE, text=True)
    if made.returncode != 0:
        raise AssertionError(f"tools/package {system} ended with {made.returncode}")
    archive = next(path for path in out.iterdir() if path.name.startswith("pteron"))
    shutil.unpack_archive(archive, WORK / system)
    return next(path for path in (WORK / system).iterdir() if path.name.startswith("pteron"))


def programs() -> list[str]:
    """Some of every kind, the same each time."""
    found = sorted(DATA.glob("*/*/*/model.pte")) + sorted(DATA.glob("*/*.pte"))
    return [str(path.relative_to(DATA)) for path in found[:: len(found) // 40]]


def check_files(test, tree: pathlib.Path, files: set[str]) -> None:
    names = {path.relative_to(tree).as_posix() for path in tree.rglob("*") if path.is_file()}
    test.assertLessEqual(files | {"include/pteron/c.h", "share/doc/pteron/LICENSE", "share/doc/pteron/REQUIREMENTS.txt"}, names)
    for path in tree.rglob("*"):
        if path.is_file():
            test.assertNotIn(os.fsencode(SOURCE), path.read_bytes(), path)
