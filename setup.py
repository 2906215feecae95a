# SPDX-License-Identifier: BSD-3-Clause
"""Builds the package of pyproject.toml: the libraries and the command are made with the project's own tools and put beside
the modules."""
import os
import re
import shutil
import subprocess
from pathlib import Path

from setuptools import Distribution, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_py import build_py

ROOT = Path(__file__).resolve().parent


def version() -> str:
    found = re.search(r"^project\(pteron VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text(), re.M)
    return found.group(1)


def pinned(*names: str) -> list[str]:
    """The plugin only fits the ExecuTorch that it is built with."""
    pins = [line.split() for line in (ROOT / "pins.txt").read_text().splitlines()]
    return [f"{pin[2]}=={pin[3]}" for pin in pins if pin[:2] == ["export", "pip"] and pin[2] in names]


class BuildWithLibraries(build_py):
    def run(self):
        shutil.rmtree(self.build_lib, ignore_errors=True)  # files of an earlier build that are no more
        super().run()
        # pip's own environment for builds must not shine through into the project's.
        env = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        package = Path(self.build_lib, "pteron").resolve()
        for command in (
            [ROOT / "tools" / "setup", "build", "plugin"],
            [ROOT / "tools" / "build", "release", "pteron_cli", "pteron_c", "pteron_executorch"],
            ["cmake", "--install", ROOT / "build" / "release", "--component", "python", "--strip", "--prefix", package],
        ):
            subprocess.run(command, check=True, env=env)


class PlatformWheel(bdist_wheel):
    """Any Python, this platform: the libraries talk to C and C++, not to Python."""

    def get_tag(self):
        return "py3", "none", super().get_tag()[2]


class WithLibraries(Distribution):
    def has_ext_modules(self):
        return True


setup(
    version=version(),
    install_requires=["numpy>=2"],
    extras_require={"executorch": pinned("torch", "executorch")},
    distclass=WithLibraries,
    cmdclass={"build_py": BuildWithLibraries, "bdist_wheel": PlatformWheel},
    options={"build": {"build_base": "build/wheel"}},
)
