# SPDX-License-Identifier: BSD-3-Clause
"""The Debian package: the tree of the tarball under /usr."""
import gzip
import hashlib
import re
import shutil
import subprocess
import textwrap
from email.utils import formatdate
from pathlib import Path

import archive
import elf

MAINTAINER = "The Pteron authors <pteron@pteron.invalid>"
#: Who has what our files ask for; libvulkan is opened by name when a GPU is looked for.
PACKAGES = {
    "libc6": ("GLIBC", {"libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "ld-linux-x86-64.so.2"}),
    "libgcc-s1": ("GCC", {"libgcc_s.so.1"}),
}


def depends(needs: elf.Needs) -> str:
    known = set().union(*(libraries for _, libraries in PACKAGES.values()))
    if unknown := needs.libraries - known:
        raise SystemExit(f"package: no Debian package is known for {', '.join(sorted(unknown))} (tools/packages/deb.py)")
    found = [
        f"{name} (>= {needs.versions[kind]})" for name, (kind, libraries) in PACKAGES.items() if libraries & needs.libraries
    ]
    return ", ".join([*found, "libvulkan1"])


def control(version: str, needs: elf.Needs, size: int) -> str:
    return f"""Package: pteron
Version: {version}
Architecture: amd64
Maintainer: {MAINTAINER}
Installed-Size: {size}
Depends: {depends(needs)}
Recommends: mesa-vulkan-drivers
Suggests: cmake, g++
Section: science
Priority: optional
Description: run ExecuTorch programs on the GPU through WebGPU
 Pteron loads programs (.pte) that ExecuTorch's Vulkan and WebGPU partitioners
 exported, verifies and plans them, and executes them as compute shaders on any
 GPU with a Vulkan driver, in software if there is none.
 .
 This package has the command pteron, the C++ library with its headers and CMake
 files, and the C interface as a shared library.
"""


def indented(text: str) -> str:
    return "".join(f" {line.rstrip() or '.'}\n" for line in text.rstrip().splitlines())


def copyright_file(root: Path, licenses: Path) -> str:
    out = "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\nUpstream-Name: pteron\n\n"
    holder = re.search(r"Copyright \(c\) (.*)", (root / "LICENSE").read_text())[1]
    out += f"Files: *\nCopyright: {holder}\nLicense: BSD-3-Clause\n{indented((root / 'LICENSE').read_text())}\n"
    for path in sorted(licenses.iterdir()):
        out += f"Files: what-comes-from-{path.stem}\nCopyright: see the text\nLicense: of-{path.stem}\n{indented(path.read_text())}\n"
    return out


def changelog(root: Path, version: str, epoch: int) -> str:
    entries = re.search(rf"^## {re.escape(version)}.*?\n(.*?)(?=^## |\Z)", (root / "CHANGELOG.md").read_text(), re.M | re.S)[1]
    points = (" ".join(point.split()) for point in re.split(r"^- ", entries, flags=re.M)[1:])
    lines = "".join(textwrap.fill(point, 78, initial_indent="  * ", subsequent_indent="    ") + "\n" for point in points)
    return f"pteron ({version}) unstable; urgency=medium\n\n{lines}\n -- {MAINTAINER}  {formatdate(epoch)}\n"


def build(root: Path, tree: Path, folder: Path, out: Path, version: str, epoch: int) -> Path:
    """Moves the tree into a package."""
    tree.rename(folder / "usr")
    docs = folder / "usr" / "share" / "doc" / "pteron"
    (docs / "copyright").write_text(copyright_file(root, docs / "licenses"))
    (docs / "LICENSE").unlink()  # both are in the file copyright
    for path in (docs / "licenses").iterdir():
        path.unlink()
    (docs / "licenses").rmdir()
    units = folder / "usr" / "lib" / "systemd" / "system"
    units.mkdir(parents=True)
    shutil.copyfile(root / "tools" / "packages" / "pteron.service", units / "pteron.service")
    (docs / "changelog.gz").write_bytes(gzip.compress(changelog(root, version, epoch).encode(), 9, mtime=0))
    for library in elf.in_folder(folder):
        if ".so" in library:
            (folder / library).chmod(0o644)
    files = sorted(path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    needs = elf.together(elf.in_folder(folder))
    meta = folder / "DEBIAN"
    meta.mkdir()
    (meta / "control").write_text(control(version, needs, sum(-(-path.stat().st_size // 1024) for path in files)))
    sums = (f"{hashlib.md5(path.read_bytes()).hexdigest()}  {path.relative_to(folder)}\n" for path in files)
    (meta / "md5sums").write_text("".join(sums))
    (meta / "triggers").write_text("activate-noawait ldconfig\n")
    (meta / "shlibs").write_text(f"libpteron 1 pteron (>= {version})\n")
    archive.normalize(folder, epoch)
    made = out / f"pteron_{version}_amd64.deb"
    subprocess.run(
        ["dpkg-deb", "--root-owner-group", "--threads-max=1", "-Zxz", "-z3", "--build", folder, made],
        check=True, stdout=subprocess.DEVNULL,
    )  # fmt: skip
    return made
