# SPDX-License-Identifier: BSD-3-Clause
"""The Python wheel: as setup.py builds it, for every Linux whose glibc is new enough."""
import base64
import hashlib
import os
import subprocess
import zipfile
from pathlib import Path

import archive
import elf


def record(files: dict[str, tuple[bytes, bool]], name: str) -> bytes:
    lines = []
    for file, (content, _) in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        lines.append(f"{file},sha256={digest},{len(content)}\n")
    return "".join([*lines, f"{name},,\n"]).encode()


def build(root: Path, folder: Path, out: Path, epoch: int) -> Path:
    # A path of somebody else's environment must not shine through.
    env = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    python = root / "build" / "venv" / "bin" / "python"
    command = [python, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation", "-w", folder, root]
    subprocess.run(command, check=True, env=env)
    (built,) = folder.glob("*.whl")
    with zipfile.ZipFile(built) as wheel:
        wheel.extractall(folder / "files")
        files = {entry.filename: (wheel.read(entry), bool(entry.external_attr >> 16 & 0o100)) for entry in wheel.infolist()}
    platform = "manylinux_{}_{}_x86_64".format(*elf.numbers(elf.together(elf.in_folder(folder / "files")).glibc))
    name, version, python_tag, abi, old = built.stem.split("-")
    info = f"{name}-{version}.dist-info"
    description = files[f"{info}/WHEEL"][0].decode().replace(f"Tag: {python_tag}-{abi}-{old}", f"Tag: {python_tag}-{abi}-{platform}")
    files[f"{info}/WHEEL"] = description.encode(), False
    del files[f"{info}/RECORD"]
    files = {file: files[file] for file in sorted(files, key=lambda file: (file.startswith(info), file))}
    files[f"{info}/RECORD"] = record(files, f"{info}/RECORD"), False
    made = out / f"{name}-{version}-{python_tag}-{abi}-{platform}.whl"
    archive.write_zip(files, made, epoch)
    return made
