# SPDX-License-Identifier: BSD-3-Clause
"""Packages for other systems than this one: what tools/build PRESET gave, in an archive that is usual there."""
import subprocess
from pathlib import Path

import archive
import elf
import macho

#: By the name of their preset. The linker of macOS leaves out names by itself, and signs; nothing may change the files afterwards.
SYSTEMS = {
    "linux-arm64": "Linux on arm64",
    "windows-x64": "Windows on x86-64",
    "macos-arm64": "macOS on Apple's processors",
    "macos-x64": "macOS on x86-64",
}
ABOUT_GPU = {
    "linux": "To find a GPU: libvulkan.so.1 with the GPU's driver (Mesa has one in software).",
    "windows": "To find a GPU: its driver, with DirectX 12 or Vulkan. wgpu_native.dll needs VCRUNTIME140.dll,\nwhich Microsoft's Visual C++ Redistributable brings.",
    "macos": "To find a GPU: nothing, Metal belongs to the system. The C++ library is inside of the files.",
}


def needs(system: str, tree: Path) -> str:
    if system.startswith("linux"):
        files = elf.in_folder(tree, "aarch64-linux-gnu-objdump")
        return f"Needs glibc {elf.together(files).glibc} or newer: the highest version that a file in here asks for."
    if system.startswith("windows"):
        return "Needs Windows 10 or newer."
    return f"Needs macOS {macho.read(tree / 'bin' / 'pteron').minimum} or newer."


def stage(root: Path, folder: Path, version: str, system: str) -> Path:
    tree = folder / f"pteron-{version}-{system}"
    strip = [] if system.startswith("macos") else ["--strip"]
    command = ["cmake", "--install", root / "build" / system, *strip, "--prefix", tree]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    gpu = ABOUT_GPU[system.partition("-")[0]]
    page = f"Pteron {version} for {SYSTEMS[system]}\n\n{needs(system, tree)}\n{gpu}\n\n`pteron --version` says what it is made of.\n"
    (tree / "share" / "doc" / "pteron" / "REQUIREMENTS.txt").write_text(page)
    return tree


def build(tree: Path, out: Path, epoch: int) -> Path:
    archive.normalize(tree, epoch)
    if "windows" not in tree.name:
        made = out / f"{tree.name}.tar.xz"
        archive.write_tar_xz(tree, made)
        return made
    made = out / f"{tree.name}.zip"
    files = sorted(path for path in tree.rglob("*") if path.is_file())
    archive.write_zip({str(path.relative_to(tree.parent)): (path.read_bytes(), path.parent.name == "bin") for path in files}, made, epoch)
    return made
