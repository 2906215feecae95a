# SPDX-License-Identifier: BSD-3-Clause
"""The Python package as a user installs it. usage: test_package.py SOURCE WORK_FOLDER"""
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import unittest
import venv
import zipfile
from pathlib import Path

SOURCE, WORK = Path(sys.argv.pop(1)), Path(sys.argv.pop(1))
MODEL = SOURCE / "tests" / "data" / "ops" / "add" / "itself" / "model.pte"
DOCTESTS = """
import doctest, sys, pteron, pteron.program
results = [doctest.testmod(module) for module in (pteron, pteron.program)]
print(sum(result.attempted for result in results), "examples")
sys.exit(sum(result.failed for result in results))
"""


# Nothing of the source tree may stand in for the installed package.
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"} | {"PYTHONWARNINGS": "ignore"}


def run(*command, **rest):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, env=ENVIRONMENT, **rest)
    if done.returncode:
        raise AssertionError(f"{command} failed:\n{done.stdout}\n{done.stderr}")
    return done.stdout


def build_wheel() -> Path:
    run(sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation", "-w", WORK, SOURCE)
    return next(WORK.glob("*.whl"))


def clean_environment(wheel: Path) -> Path:
    """A virtual environment with the wheel. Its dependencies are not installed again but lent by this one."""
    venv.create(WORK / "venv", symlinks=True)
    python = WORK / "venv" / "bin" / "python"
    packages = Path(run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").strip())
    (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    run(sys.executable, "-m", "pip", "-q", "--python", python, "install", "--no-deps", "--no-index", wheel)
    return python


class Package(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        shutil.rmtree(WORK, ignore_errors=True)
        WORK.mkdir(parents=True)
        cls.wheel = build_wheel()
        cls.python = clean_environment(cls.wheel)
        cls.folder = WORK / "run"
        cls.folder.mkdir()
        shutil.copy(MODEL, cls.folder)

    def test_wheel_holds_the_libraries_with_their_licences_and_types(self):
        self.assertRegex(self.wheel.name, r"^pteron-\d+\.\d+\.\d+-py3-none-\w+\.whl$")
        names = zipfile.ZipFile(self.wheel).namelist()
        for name in ("libpteron_executorch.so", "libwgpu_native.so", "LICENSE.wgpu-native", "py.typed"):
            self.assertIn(f"pteron/{name}", names)
        self.assertTrue(any(name.endswith("licenses/LICENSE") for name in names))

    def test_wheel_asks_for_the_pinned_executorch(self):
        archive = zipfile.ZipFile(self.wheel)
        metadata = next(name for name in archive.namelist() if name.endswith("METADATA"))
        pins = (line.split() for line in (SOURCE / "pins.txt").read_text().splitlines())
        pin = next(words[3] for words in pins if words[2:3] == ["executorch"])
        self.assertIn(f"Requires-Dist: executorch=={pin}\n", archive.read(metadata).decode())

    def test_library_looks_for_others_beside_itself(self):
        library = next((WORK / "venv").glob("lib/*/site-packages/pteron/libpteron_executorch.so"))
        text = run("readelf", "-d", library)
        paths = re.search(r"R(?:UN)?PATH\).*\[(.*)\]", text).group(1).split(":")
        self.assertEqual(paths, ["$ORIGIN", "$ORIGIN/../executorch/lib"])

    def test_docstring_examples_run(self):
        out = run(self.python, "-c", DOCTESTS, cwd=self.folder)
        self.assertGreaterEqual(int(out.split()[0]), 10)

    def test_readme_example_runs_as_it_stands(self):
        code = re.search(r"```python\n(.*?)```", (SOURCE / "README.md").read_text(), re.S).group(1)
        self.assertEqual(len(code.splitlines()), 3)
        given = "import torch\ninputs = [torch.ones(3, 5)]\n"
        out = run(self.python, "-c", given + code + "print(outputs[0].sum().item())", cwd=self.folder)
        self.assertEqual(out.split()[-1], "30.0")


if __name__ == "__main__":
    unittest.main()
