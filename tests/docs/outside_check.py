#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What `pteron info` and `pteron run` say about programs that are not wholly for Pteron, and that their advice works.

usage: outside_check.py PTERON PROGRAMS
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

PTERON = pathlib.Path(sys.argv.pop(1)).resolve()
PROGRAMS = pathlib.Path(sys.argv.pop(1)).resolve()


def pteron(*args):
    done = subprocess.run([PTERON, *map(str, args)], capture_output=True, text=True, timeout=300)
    return done.returncode, done.stdout, done.stderr


def method(name):
    code, out, _ = pteron("info", PROGRAMS / f"{name}.pte", "--json")
    assert code == 0
    return json.loads(out)["methods"][0]


class Outside(unittest.TestCase):
    maxDiff = None

    def test_programs_are_small(self):
        for path in PROGRAMS.iterdir():
            self.assertLess(path.stat().st_size, 20_000, path)

    def test_an_op_that_the_exporter_lacks_lies_between_two_delegates(self):
        forward = method("split")
        self.assertFalse(forward["runnable"])
        self.assertEqual(forward["outside"], [{
            "name": "aten::cumsum.out", "count": 1, "forms": ["float32 [3, 5]"], "runs_here": False,
            "reason": "not in the exporter's op registry (ExecuTorch 1.5.1)"}])  # fmt: skip
        self.assertEqual([d["backend"] for d in forward["delegates"]], ["VulkanBackend"] * 2)
        for delegate in forward["delegates"]:
            self.assertTrue(all(op["supported"] for op in delegate["ops"]))

    def test_forms_that_the_exporter_does_not_take(self):
        reasons = {op["name"]: op["reason"] for op in method("forms")["outside"]}
        self.assertEqual(reasons["aten::relu.out"], "the exporter takes it with float16 or float32, not with int64")
        self.assertEqual(reasons["aten::_softmax.out"], "the exporter takes it with at most 4 dimensions, not with 5")
        self.assertEqual(reasons["aten::convolution.out"], "the exporter knows it, but its partitioner did not take this form")
        self.assertEqual(len(reasons), 3)

    def test_a_program_without_delegates(self):
        forward = method("cpu")
        self.assertEqual(forward["delegates"], [])
        for op in forward["outside"]:
            self.assertEqual(op["reason"], "the exporter knows it; nothing of this method went to 'VulkanBackend'")
        self.assertEqual(forward["problem"], "these ops were not delegated: aten::permute_copy.out, aten::addmm.out, aten::sigmoid.out")
        self.assertIn("Export it with Pteron's partitioner", forward["remedy"]["what"])

    def test_a_program_for_another_backend(self):
        forward = method("xnnpack")
        self.assertEqual([d["backend"] for d in forward["delegates"]], ["XnnpackBackend"])
        self.assertEqual(forward["problem"], "a part is delegated to 'XnnpackBackend', only 'VulkanBackend' runs here")
        self.assertIn("PteronPartitioner", "\n".join(forward["remedy"]["python"]))

    def test_a_program_for_two_backends(self):
        forward = method("mixed")
        self.assertEqual(sorted(d["backend"] for d in forward["delegates"]), ["VulkanBackend", "XnnpackBackend"])
        self.assertIn("delegated to 'XnnpackBackend'", forward["problem"])
        self.assertIn("import pteron", forward["remedy"]["python"])

    def test_the_text_says_the_same(self):
        for path in PROGRAMS.glob("*.pte"):
            forward = method(path.stem)
            _, text, _ = pteron("info", path)
            for i, delegate in enumerate(forward["delegates"]):
                self.assertIn(f"delegate {i} of {len(forward['delegates'])} ({delegate['backend']})", text)
            self.assert_tells(forward, text)

    def test_an_error_of_run_brings_the_same_help(self):
        for path in PROGRAMS.glob("*.pte"):
            code, out, err = pteron("run", path)
            forward = method(path.stem)
            self.assertEqual((code, out), (1, ""))
            self.assertIn(forward["problem"], err.splitlines()[0])
            self.assert_tells(forward, err)

    def assert_tells(self, forward, text):
        for op in forward["outside"]:
            self.assertRegex(text, rf"{op['name']} +{op['count']}  ")
            self.assertIn(op["reason"], text)
        for line in (forward["remedy"]["what"], *forward["remedy"]["python"]):
            self.assertIn(line, text)


class Advice(unittest.TestCase):
    """The Python lines, done as they are printed."""

    def follow(self, forward, **names):
        exec("\n".join(forward["remedy"]["python"]), names)
        return names

    def test_the_plugin_runs_what_has_parts_outside(self):
        import torch
        from outside_programs import Forms, Product, Split

        examples = {
            "split": (Split(), [torch.randn(3, 5)]),
            "forms": (Forms(), [torch.randn(2, 3, 6, 6), torch.arange(4) - 2]),
            "mixed": (Product(), [torch.randn(2, 4)]),
        }
        for name, (module, inputs) in examples.items():
            outputs = self.follow(method(name), inputs=inputs)["outputs"]
            expected = module(*inputs)
            for actual, wanted in zip(outputs, expected if isinstance(expected, tuple) else (expected,), strict=True):
                torch.testing.assert_close(actual, wanted, rtol=1e-5, atol=1e-5)

    def test_another_export_runs_here(self):
        import torch
        from outside_programs import Product

        before = pathlib.Path.cwd()
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            try:
                self.follow(method("cpu"), torch=torch, module=Product(), inputs=(torch.randn(2, 4),))
                code, out, _ = pteron("info", "model.pte", "--json")
            finally:
                os.chdir(before)
        self.assertTrue(json.loads(out)["methods"][0]["runnable"])


unittest.main()
