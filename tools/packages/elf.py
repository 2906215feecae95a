# SPDX-License-Identifier: BSD-3-Clause
"""What programs and shared libraries ask of the system, as objdump shows it."""
import re
import subprocess
from dataclasses import dataclass, field
from pathlib import Path


def numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


@dataclass
class Needs:
    libraries: set[str] = field(default_factory=set)
    versions: dict[str, str] = field(default_factory=dict)  # the highest by kind: GLIBC, GCC, GLIBCXX, …

    def add(self, other: "Needs") -> None:
        self.libraries |= other.libraries
        for kind, version in other.versions.items():
            if numbers(version) > numbers(self.versions.get(kind, "0")):
                self.versions[kind] = version

    @property
    def glibc(self) -> str:
        return self.versions.get("GLIBC", "0")


def is_elf(path: Path) -> bool:
    if path.is_symlink() or not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(4) == b"\x7fELF"


def needs(path: Path, objdump: str = "objdump") -> Needs:
    text = subprocess.run([objdump, "-p", path], check=True, capture_output=True, text=True).stdout
    out = Needs(set(re.findall(r"^ +NEEDED +(\S+)$", text, re.M)))
    for kind, version in re.findall(r" ([A-Z]+)_(\d+(?:\.\d+)+)$", text.partition("Version References:")[2], re.M):
        out.add(Needs(versions={kind: version}))
    return out


def in_folder(folder: Path, objdump: str = "objdump") -> dict[str, Needs]:
    """Of every such file in a folder, by its path in it."""
    files = sorted(path for path in folder.rglob("*") if is_elf(path))
    return {str(path.relative_to(folder)): needs(path, objdump) for path in files}


def together(files: dict[str, Needs]) -> Needs:
    """Of all files, without those that are in the folder themselves."""
    out = Needs()
    for one in files.values():
        out.add(one)
    out.libraries -= {Path(name).name for name in files}
    return out
