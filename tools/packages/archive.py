# SPDX-License-Identifier: BSD-3-Clause
"""Folders and archives whose bytes depend on nothing but what is in them."""
import lzma
import os
import tarfile
import time
import zipfile
from pathlib import Path


def normalize(folder: Path, epoch: int) -> None:
    """The modes and times that every copy of a folder has."""
    for path in [folder, *folder.rglob("*")]:
        if not path.is_symlink():
            path.chmod(0o755 if path.is_dir() or path.stat().st_mode & 0o100 else 0o644)
        os.utime(path, (epoch, epoch), follow_symlinks=False)


def write_tar_xz(folder: Path, out: Path) -> None:
    def anonymous(entry: tarfile.TarInfo) -> tarfile.TarInfo:
        entry.uid = entry.gid = 0
        entry.uname = entry.gname = "root"
        return entry

    with lzma.open(out, "wb", preset=3) as stream, tarfile.open(fileobj=stream, mode="w", format=tarfile.GNU_FORMAT) as tar:
        for path in [folder, *sorted(folder.rglob("*"))]:
            tar.add(path, path.relative_to(folder.parent), recursive=False, filter=anonymous)


def write_zip(files: dict[str, tuple[bytes, bool]], out: Path, epoch: int) -> None:
    """Names with contents and whether they are programs, in the order given."""
    date = time.gmtime(max(epoch, 315532800))[:6]  # zip begins in 1980
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, (content, program) in files.items():
            entry = zipfile.ZipInfo(name, date)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.create_system = 3
            entry.external_attr = (0o100755 if program else 0o100644) << 16
            archive.writestr(entry, content)
