# SPDX-License-Identifier: BSD-3-Clause
"""What the table of cases promises. usage: test_cases.py (needs torch and ExecuTorch, and python/ on the path)"""
import contextlib
import io
import json
import re
import tempfile
import unittest
from pathlib import Path

import torch
from cases import drift, export, finetune, golden, lowering
from cases.case import case, dim, f32, i64
from cases.table import coverage, families

ADD = "aten.add.Tensor"
OPS = Path(__file__).resolve().parents[2] / "src" / "ops"


def engine_ops() -> list[str]:
    """The names in the tables of src/ops that files may hold; the others are the engine's own."""
    tables = (text for path in OPS.glob("*.cpp") for text in re.findall(r"entries\[\] = \{(.*?)\n\};", path.read_text(), re.S))
    names = sorted(name for table in tables for name in re.findall(r'\{"([^"]+)"', table))
    return [name for name in names if not name.startswith("pteron.")]



def addition(name="add/x", *inputs, **rest):
    return case(name, torch.add, *(inputs or (f32(3, 5), f32(5))), expect_ops=rest.pop("expect_ops", ADD), **rest)


class Counter(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("count", torch.zeros(1))

    def forward(self, x):
        self.count.add_(x)
        return self.count * 1.0


class Declaring(unittest.TestCase):
    def test_refuses_loose_tolerances(self):
        with self.assertRaisesRegex(ValueError, "rtol 0.01 is looser than 0.001"):
            addition(rtol=1e-2)

    def test_refuses_live_sizes_beyond_their_dim(self):
        with self.assertRaisesRegex(ValueError, "s is 10, beyond 1 … 9"):
            addition("add/x", f32(dim("s", 1, 9), 5), f32(5), live=[10])

    def test_refuses_names_that_mean_nothing(self):
        with self.assertRaisesRegex(ValueError, "z is neither a dim nor a parameter"):
            golden.make_inputs(addition(), 0, {"z": 1})


class Goldens(unittest.TestCase):
    def test_inputs_depend_on_the_name_alone(self):
        values = [golden.make_inputs(addition(name), 0, {})[1][0] for name in ("add/x", "add/x", "add/y")]
        self.assertTrue(torch.equal(values[0], values[1]))
        self.assertFalse(torch.equal(values[0], values[2]))

    def test_are_computed_in_float64_and_rounded(self):
        third = case("div/x", lambda x: x / 3, f32(of=[1.0]), expect_ops="aten.div.Tensor")
        calls, precision = golden.answer(third)
        self.assertEqual(precision, "float64")
        self.assertEqual(calls[0].outputs[0].item(), torch.tensor(1 / 3, dtype=torch.float32).item())

    def test_refuse_modules_that_depend_on_their_precision(self):
        with self.assertRaisesRegex(ValueError, "differs between float64"):
            golden.answer(case("sub/x", lambda x: (x + 1e9) - 1e9, f32(of=[0.3]), expect_ops=ADD))

    def test_steps_keep_state_and_other_calls_must_not_have_any(self):
        calls, _ = golden.answer(case("state/x", Counter, f32(of=[2.0]), steps=[{}, {}, {}], expect_ops=ADD))
        self.assertEqual([call.outputs[0].item() for call in calls], [2, 4, 6])
        with self.assertRaisesRegex(ValueError, "declare steps"):
            golden.answer(case("state/x", Counter, f32(of=[2.0]), expect_ops=ADD))

    def test_live_calls_take_sizes_and_values(self):
        s = dim("s", 1, 9)
        rows = case("add/x", torch.add, f32(s, 2), f32(2), live=[{"s": 4, "y": [7, 8]}], expect_ops=ADD)
        call = golden.answer(rows)[0][1]
        self.assertEqual(tuple(call.inputs[0].shape), (4, 2))
        self.assertEqual(call.inputs[1].tolist(), [7, 8])


class Programs(unittest.TestCase):
    def test_must_hold_the_expected_op(self):
        wrong = addition(expect_ops="aten.mul.Tensor")
        with self.assertRaisesRegex(ValueError, "aten.mul.Tensor is not in the delegate; there are aten.add.Tensor"):
            lowering.check(wrong, lowering.lower(wrong))

    def test_must_not_leave_work_outside(self):
        both = case("add/x", lambda x, i: (x + x, torch.sort(i)[0]), f32(3), i64(3), expect_ops=ADD)
        with self.assertRaisesRegex(ValueError, "stays outside of the delegate"):
            lowering.check(both, lowering.lower(both))


class Table(unittest.TestCase):
    def setUp(self):
        self.cases = [case for family in families().values() for case in family]

    def test_has_four_cases_for_each_op_of_the_engine(self):
        counts = coverage(self.cases)
        few = [f"{op}: {counts[op]}" for op in engine_ops() if counts[op] < 4]
        self.assertFalse(few, "fewer than 4 cases:\n" + "\n".join(few))

    def test_names_the_folders_of_the_repository(self):
        kept = {str(path.parent.relative_to(export.DATA)) for path in export.DATA.glob("*/*/manifest.json")}
        self.assertEqual(kept, {case.name for case in self.cases})

    def test_data_stays_small(self):
        self.assertLess(sum(path.stat().st_size for path in export.DATA.rglob("*") if path.is_file()), 15 << 20)


class Drift(unittest.TestCase):
    def check(self, folder):
        with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()):
            code = drift.check({"family": [addition()]}, Path(folder), "", True)
        return code, out.getvalue()

    def test_is_found_in_goldens_programs_and_folders(self):
        with tempfile.TemporaryDirectory() as folder:
            export.export_case(addition(), Path(folder))
            self.assertEqual(self.check(folder)[0], 0)
            self.assertEqual(sorted(p.name for p in Path(folder, "add/x").iterdir()),
                             ["data.bin", "manifest.json", "model.pte"])
            for name, position in (("data.bin (output_0)", 83), ("model.pte", 700)):
                path = Path(folder, "add/x", name.split()[0])
                good = path.read_bytes()
                path.write_bytes(good[:position] + bytes([good[position] ^ 1]) + good[position + 1 :])
                self.assertEqual(self.check(folder), (1, f"add/x/{name} differs\n1 cases, 1 problems\n"))
                path.write_bytes(good)
            Path(folder, "add/x").rename(Path(folder, "add/y"))
            code, text = self.check(folder)
            self.assertEqual(code, 1)
            self.assertIn("add/y is not in the table", text)
            self.assertIn("add/x is not in the repository", text)

    def test_training_data_is_what_torch_computes(self):
        manifest, data = finetune.contents()
        self.assertEqual(json.loads((finetune.DATA / "manifest.json").read_text()), manifest)
        self.assertEqual(drift.changed_tensors(data, (finetune.DATA / "data.bin").read_bytes()), [])

    def test_is_not_seen_in_the_last_bit_of_a_float(self):
        value = torch.tensor([1.0, -2.5])
        self.assertTrue(drift.same(value, torch.nextafter(value, torch.tensor(9.0)).numpy().tobytes()))
        self.assertFalse(drift.same(value, (value + 1e-4).numpy().tobytes()))


if __name__ == "__main__":
    unittest.main()
