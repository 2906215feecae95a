# SPDX-License-Identifier: BSD-3-Clause
"""Puts what is built into packages. usage: make.py ROOT OUT KIND...     called by tools/package"""
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import archive
import cross
import deb
import elf
import wheel

EPOCH = int(os.environ["SOURCE_DATE_EPOCH"])
#: Whose licences must be in a package, because their code is in the files.
LICENSES = {"wgpu-native", "unicode", "flatbuffers", "nlohmann-json", "cli11"}


def check_licenses(tree: Path) -> Path:
    there = {path.stem for path in (tree / "share" / "doc" / "pteron" / "licenses").glob("*.txt")}
    library = "libc++" if "macos" in tree.name else "libstdc++"
    if missing := (LICENSES | {library}) - there:
        raise SystemExit(f"package: the licences of {', '.join(sorted(missing))} are missing; are their packages' files in /usr/share/doc?")
    return tree


def requirements(folder: Path, version: str, command: Path) -> str:
    """A page that says what a machine must have."""
    files = elf.in_folder(folder)
    all_together = elf.together(files)
    about = subprocess.run([command, "--version"], check=True, capture_output=True, text=True).stdout
    compiler = re.search(r"GCC (\d+)", about)[1]
    rows = "".join(f"  {name:34} glibc {needs.glibc}\n" for name, needs in files.items())
    return f"""Pteron {version} for Linux on x86-64

Needs glibc {all_together.glibc} or newer: the highest version that a file in here asks for.
{rows}
Besides glibc: {", ".join(sorted(all_together.libraries - deb.PACKAGES["libc6"][1]))}; and to find a GPU, libvulkan.so.1 with the GPU's
driver (Mesa has one in software).
Linking with lib/libpteron.a needs GCC {compiler} or newer, C++23.

Made of:
{about}"""


def stage(root: Path, folder: Path, version: str) -> Path:
    """What `cmake --install` gives, and a page about it."""
    tree = folder / f"pteron-{version}-linux-x86_64"
    subprocess.run(
        ["cmake", "--install", root / "build" / "release", "--strip", "--prefix", tree], check=True, stdout=subprocess.DEVNULL
    )
    subprocess.run(["strip", "--strip-unneeded", tree / "lib" / "pteron" / "libwgpu_native.so"], check=True)
    (tree / "share" / "doc" / "pteron" / "REQUIREMENTS.txt").write_text(requirements(tree, version, tree / "bin" / "pteron"))
    return tree


def make(kind: str, root: Path, folder: Path, out: Path, version: str) -> Path:
    if kind == "wheel":
        return wheel.build(root, folder, out, EPOCH)
    if kind == "npm":
        node = root / "build" / "deps" / "node"
        command = [node / "bin" / "node", node / "lib" / "npm" / "bin" / "npm-cli.js", "pack", "--silent", "--pack-destination", out]
        name = subprocess.run(command, cwd=root / "web", check=True, capture_output=True, text=True).stdout.split()[-1]
        return out / name
    if kind in cross.SYSTEMS:
        return cross.build(check_licenses(cross.stage(root, folder, version, kind)), out, EPOCH)
    tree = check_licenses(stage(root, folder, version))
    if kind == "deb":
        return deb.build(root, tree, folder, out, version, EPOCH)
    archive.normalize(tree, EPOCH)
    print((tree / "share/doc/pteron/REQUIREMENTS.txt").read_text().split("\n\n")[1])
    made = out / f"{tree.name}.tar.xz"
    archive.write_tar_xz(tree, made)
    return made


def main() -> None:
    root, out, kinds = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3:]
    version = re.search(r"^project\(pteron VERSION (\S+)", (root / "CMakeLists.txt").read_text(), re.M)[1]
    for kind in kinds:
        with tempfile.TemporaryDirectory() as folder:
            inner = Path(folder, "package")  # whose mode, unlike the folder's, goes into the package
            inner.mkdir()
            made = make(kind, root, inner, out, version)
        print(f"{made} ({made.stat().st_size / 1e6:.1f} MB)")
    files = sorted(path for path in out.iterdir() if path.name.startswith("pteron") and path.is_file())
    sums = (f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in files)
    (out / "SHA256SUMS").write_text("".join(sums))


if __name__ == "__main__":
    main()
