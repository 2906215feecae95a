# SPDX-License-Identifier: BSD-3-Clause
"""The Python wheel as a user installs it, with numpy alone and with ExecuTorch. usage: test_wheel.py SOURCE WHEEL_FOLDER WORK_FOLDER"""
import json
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

SOURCE, WHEELS, WORK = (Path(sys.argv.pop(1)).resolve() for _ in range(3))
DATA = SOURCE / "tests" / "data"
MODEL = DATA / "ops" / "add" / "itself" / "model.pte"
DOCTESTS = """
import doctest, sys, pteron, pteron.llm, pteron.program
results = [doctest.testmod(module) for module in (pteron, pteron.llm, pteron.program)]
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


def environment(name: str, wheel: Path) -> tuple[Path, Path]:
    """A virtual environment with the wheel: its Python and its packages."""
    venv.create(WORK / name, symlinks=True)
    python = WORK / name / "bin" / "python"
    packages = Path(run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").strip())
    run(sys.executable, "-m", "pip", "-q", "--python", python, "install", "--no-deps", "--no-index", wheel)
    return python, packages


class Wheel(unittest.TestCase):
    """Dependencies are not installed again but lent by the environment of the tests."""

    @classmethod
    def setUpClass(cls):
        shutil.rmtree(WORK, ignore_errors=True)
        cls.folder = WORK / "run"
        cls.folder.mkdir(parents=True)
        shutil.copy(MODEL, cls.folder)
        shutil.copy(DATA / "llama_tiny" / "rope_llama" / "model.pte", cls.folder / "llama.pte")
        shutil.copy(DATA / "encoder_tiny" / "dynamic.pte", cls.folder / "encoder.pte")
        shutil.copytree(DATA / "tiny_tokenizer", cls.folder, dirs_exist_ok=True)
        lent = Path(sysconfig.get_path("purelib"))
        (cls.wheel,) = WHEELS.glob("*.whl")
        cls.alone, cls.packages = environment("alone", cls.wheel)
        for path in lent.glob("numpy*"):
            (cls.packages / path.name).symlink_to(path)
        cls.both, packages = environment("both", cls.wheel)
        (packages / "dependencies.pth").write_text(f"{lent}\n")

    def python(self, code, python=None):
        return run(python or self.alone, "-c", "import numpy as np\nimport pteron\n" + code, cwd=self.folder)

    def metadata(self):
        archive = zipfile.ZipFile(self.wheel)
        return archive.read(next(name for name in archive.namelist() if name.endswith("METADATA"))).decode()

    def test_files(self):
        names = zipfile.ZipFile(self.wheel).namelist()
        for name in ("libpteron.so.1", "libpteron_executorch.so", "libwgpu_native.so", "pteron", "py.typed",
                     "licenses/wgpu-native.txt", "licenses/flatbuffers.txt"):
            self.assertIn(f"pteron/{name}", names)
        self.assertTrue(any(name.endswith("licenses/LICENSE") for name in names))

    def test_it_asks_for_numpy_and_as_an_extra_for_the_pinned_executorch(self):
        pins = [line.split() for line in (SOURCE / "pins.txt").read_text().splitlines()]
        version = {pin[2]: pin[3] for pin in pins if pin[0] == "export"}
        asked = re.findall(r"^Requires-Dist: (.*)$", self.metadata(), re.M)
        extra = [f'{name}=={version[name]}; extra == "executorch"' for name in ("torch", "executorch")]
        self.assertEqual(sorted(asked), sorted(["numpy>=2", *extra]))

    def test_libraries_look_for_others_beside_themselves(self):
        for name, expected in (("libpteron.so.1", "$ORIGIN:$ORIGIN/pteron"), ("pteron", "$ORIGIN:$ORIGIN/../lib/pteron"),
                               ("libpteron_executorch.so", "$ORIGIN:$ORIGIN/../executorch/lib")):
            text = run("readelf", "-d", self.packages / "pteron" / name)
            self.assertEqual(re.search(r"R(?:UN)?PATH\).*\[(.*)\]", text)[1], expected)

    def test_the_command_is_there(self):
        out = run(self.alone.with_name("pteron"), "version", "--json")
        self.assertEqual(json.loads(out)["version"], re.search("^Version: (.*)$", self.metadata(), re.M)[1])

    def test_numpy_is_enough(self):
        out = self.python("import sys\nprint(pteron.load('model.pte')(np.ones((3, 5), 'f4'))[0].sum(), 'torch' in sys.modules)")
        self.assertEqual(out.split(), ["30.0", "False"])

    def test_every_type_goes_in_and_comes_out(self):
        """Programs of the table of cases, by the types of their inputs: what the engine answers is what torch did."""
        seen = {}
        for manifest in sorted(DATA.glob("ops/*/*/manifest.json")):
            case = json.loads(manifest.read_text())
            if case.get("dynamic") or case.get("mutated") or case.get("data_files") or not case["inputs"]:
                continue
            values = case["inputs"] + case["outputs"]
            for value in values if all("shape" in value for value in values) else []:
                seen.setdefault((value["dtype"], len(value["shape"]) == 0), manifest.parent)
        self.assertLessEqual({"bool", "int8", "uint8", "int32", "int64", "float16", "float32"}, {dtype for dtype, _ in seen})
        self.assertTrue(any(scalar for _, scalar in seen))
        code = f"""
import json
for folder in {sorted({str(folder) for folder in seen.values()})!r}:
    case = json.load(open(folder + "/manifest.json"))
    data = open(folder + "/data.bin", "rb").read()
    read = lambda v: np.frombuffer(data, v["dtype"], v["size"] // np.dtype(v["dtype"]).itemsize, v["offset"]).reshape(v["shape"])
    outputs = pteron.load(folder + "/model.pte")(*map(read, case["inputs"]))
    assert len(outputs) == len(case["outputs"]), folder
    for out, expected in zip(outputs, map(read, case["outputs"])):
        assert np.shape(out) == expected.shape, (folder, np.shape(out))
        np.testing.assert_allclose(out, expected, rtol=1e-2, atol=1e-2, err_msg=folder)
    print(folder)
"""
        self.assertEqual(len(self.python(code).split()), len(set(seen.values())))

    def test_shapes_may_change_from_call_to_call(self):
        neg, sizes = (str(DATA / "ops" / case / "model.pte") for case in ("neg/dynamic", "sym_size/as_output"))
        out = self.python(f"""
neg, sizes = pteron.load({neg!r}), pteron.load({sizes!r})
for rows in (9, 1, 4, 9):
    x = np.random.default_rng(0).normal(size=(rows, 3, 5)).astype("f4")
    assert (neg(x)[0] == -x).all()
    print([value for value in sizes(x[:, 0]) if isinstance(value, int)])
""")
        self.assertEqual(out.split("\n")[:4], ["[9, 5]", "[1, 5]", "[4, 5]", "[9, 5]"])

    def test_wrong_inputs_are_named(self):
        out = self.python("""
add = pteron.load("model.pte")
for inputs in ([], [np.ones((3, 5))], [np.ones((3, 4), "f4")], [np.ones((3, 5), "c8")], [np.ones((1,) * 9, "f4")], [1.5], [True]):
    try:
        add(*inputs)
    except pteron.Error as error:
        print(error.kind, error)
add(np.ones((3, 5), ">f4"))
add(np.ones((5, 3), "f4").T)
""")
        for part in ("takes 1 inputs, but 0 were given", "should be float32, but float64 was given", "should have shape [3, 5], but [3, 4]",
                     "is complex64; there are: bool,", "has 9 axes; at most 8", "should have shape [3, 5], but []",
                     "should be float32, but the bool True was given"):
            self.assertIn(part, out)
        self.assertEqual(out.count("invalid"), 7)

    def test_ops_outside_of_the_delegate_point_to_the_extra(self):
        split = DATA / "package" / "split.pte"
        out = self.python(f"""
try:
    pteron.load({str(split)!r})(np.ones((3, 5), "f4"))
except pteron.Error as error:
    print(error.kind, error)
""")
        self.assertRegex(out, r"^unsupported .*aten::cumsum.out.*pip install 'pteron\[executorch\]'")

    def test_with_executorch_they_run_in_it(self):
        split = DATA / "package" / "split.pte"
        out = self.python(f"x = np.ones((3, 5), 'f4')\nprint(pteron.load({str(split)!r})(x)[0][0].tolist())", self.both)
        self.assertIn("[8.0, 17.0, 26.0, 35.0, 44.0]", out)

    def test_another_executorch_is_not_touched(self):
        other = WORK / "other" / "executorch-0.1.dist-info"
        other.mkdir(parents=True)
        (other / "METADATA").write_text("Metadata-Version: 2.1\nName: executorch\nVersion: 0.1\n")
        code = f"""
import sys, warnings
sys.path.insert(0, {str(other.parent)!r})
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    import pteron
print(caught[0].message)
"""
        self.assertRegex(run(self.alone, "-c", code), r"executorch 0\.1 is installed, but .*pip install 'pteron\[executorch\]'")

    def test_docstring_examples_run(self):
        out = run(self.both, "-c", DOCTESTS, cwd=self.folder)
        self.assertGreaterEqual(int(out.split()[0]), 10)

    def test_readme_example_runs_as_it_stands(self):
        blocks = re.findall(r"```python\n(.*?)```", (SOURCE / "README.md").read_text(), re.S)
        code = next(block for block in blocks if "executorch.runtime" in block)
        self.assertEqual(len(code.splitlines()), 3)
        given = "import torch\ninputs = [torch.ones(3, 5)]\n"
        out = run(self.both, "-c", given + code + "print(outputs[0].sum().item())", cwd=self.folder)
        self.assertEqual(out.split()[-1], "30.0")


if __name__ == "__main__":
    unittest.main()
