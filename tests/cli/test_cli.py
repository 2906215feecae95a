# SPDX-License-Identifier: BSD-3-Clause
"""The command line as a user types it. usage: test_cli.py PTERON DATA_FOLDER"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import numpy as np

PTERON = sys.argv.pop(1)
DATA = pathlib.Path(sys.argv.pop(1))
LLAMA = DATA / "llama_tiny" / "rope_llama"


def pteron(*args, env=None):
    done = subprocess.run([PTERON, *map(str, args)], capture_output=True, text=True, env={**os.environ, **(env or {})}, timeout=300)
    return done.returncode, done.stdout, done.stderr


class Help(unittest.TestCase):
    def test_version(self):
        code, out, _ = pteron("--version")
        self.assertEqual(code, 0)
        self.assertRegex(out, r"^pteron \d+\.\d+\.\d+$")

    def test_help_lists_every_command(self):
        code, out, _ = pteron("--help")
        self.assertEqual(code, 0)
        for command in ("devices", "info", "run", "generate", "convert", "selftest"):
            self.assertIn(command, out)
            code, text, _ = pteron(command, "--help")
            self.assertEqual(code, 0)
            self.assertIn("--json", text)

    def test_wrong_usage_exits_with_2(self):
        for args in ((), ("frobnicate",), ("run",), ("info",), ("run", "a.pte", "--no-such-option")):
            code, out, err = pteron(*args)
            self.assertEqual(code, 2, args)
            self.assertNotEqual(out + err, "")


class Devices(unittest.TestCase):
    def test_names_every_adapter(self):
        code, out, _ = pteron("devices", "--json")
        self.assertEqual(code, 0)
        adapters = json.loads(out)
        self.assertGreaterEqual(len(adapters), 1)
        code, text, _ = pteron("devices")
        for adapter in adapters:
            self.assertIn(adapter["name"], text)

    def test_a_software_adapter_can_be_refused(self):
        adapters = json.loads(pteron("devices", "--json")[1])
        if not all(a["software"] for a in adapters):
            return  # there is a real GPU, so nothing to refuse
        code, _, err = pteron("generate", LLAMA / "model.pte", "--require-gpu")
        self.assertEqual(code, 1)
        self.assertIn("--require-gpu", err)

    def test_an_unknown_adapter_is_an_error_that_lists_those_there_are(self):
        for extra, env in ((("--adapter", "nonsense"), {}), ((), {"PTERON_ADAPTER": "nonsense"})):
            code, _, err = pteron("generate", LLAMA / "model.pte", *extra, env=env)
            self.assertEqual(code, 1)
            self.assertIn("no adapter is called 'nonsense'; there are: 0:", err)


class Info(unittest.TestCase):
    def test_tells_methods_ops_and_memory_without_a_gpu(self):
        no_gpu = {"VK_ICD_FILENAMES": "none", "VK_DRIVER_FILES": "none"}
        code, out, _ = pteron("info", LLAMA / "model.pte", "--json", env=no_gpu)
        self.assertEqual(code, 0)
        report = json.loads(out)
        forward = next(m for m in report["methods"] if m["name"] == "forward")
        self.assertTrue(forward["runnable"])
        self.assertEqual(forward["inputs"][0], {"kind": "tensor", "dtype": "int64", "shape": [1, 127], "dynamic": True})
        delegate = forward["delegates"][0]
        ops = {op["name"]: op for op in delegate["ops"]}
        self.assertEqual(ops["et_vk.linear_q4gsw.default"]["count"], 15)
        self.assertTrue(all(op["supported"] for op in delegate["ops"]))
        memory = delegate["memory"]
        self.assertEqual(memory["state"], 4 * 128 * 2 * 16 * 4)
        parts = ("weights", "state", "initial_state", "activations", "parameters", "staging")
        self.assertEqual(memory["total"], sum(memory[part] for part in parts))
        vocabulary = next(m for m in report["methods"] if m["name"] == "get_vocab_size")
        self.assertEqual(vocabulary["constants"], [512])
        code, text, _ = pteron("info", LLAMA / "model.pte", env=no_gpu)
        self.assertEqual(code, 0)
        self.assertIn("WebGPU's default limits, without f16", text)

    def test_plans_for_a_real_adapter_when_asked(self):
        code, out, _ = pteron("info", LLAMA / "model.pte", "--adapter", "0", "--json")
        self.assertEqual(code, 0)
        self.assertNotIn("default limits", json.loads(out)["planned_for"])


class Run(unittest.TestCase):
    def run_llama(self, tokens, position, folder, *extra):
        np.save(f"{folder}/tokens.npy", np.array([tokens], dtype=np.int64))
        np.save(f"{folder}/position.npy", np.array([position], dtype=np.int64))
        return pteron("run", LLAMA / "model.pte", "--input", f"{folder}/tokens.npy", "--input", f"{folder}/position.npy", "--output", folder, *extra)

    def test_npy_in_npy_out(self):
        manifest = json.loads((LLAMA / "manifest.json").read_text())
        run = manifest["runs"][0]
        golden = np.fromfile(LLAMA / run["logits_file"], dtype=np.float32).reshape(run["logits_shape"])
        with tempfile.TemporaryDirectory() as folder:
            code, out, err = self.run_llama(run["prompt_ids"], 0, folder, "--json")
            self.assertEqual(code, 0, err)
            self.assertEqual(json.loads(out)["outputs"][0]["shape"], [1, 512])
            logits = np.load(f"{folder}/output_0.npy")
        self.assertLess(np.abs(logits[0] - golden[0]).max(), 2e-4)

    def test_bad_inputs_are_one_sentence_and_exit_1(self):
        with tempfile.TemporaryDirectory() as folder:
            for tokens, position, message in (([512], 0, "token 512"), ([1], 128, "the context is full"), ([1] * 128, 0, "at most 127")):
                code, out, err = self.run_llama(tokens, position, folder)
                self.assertEqual(code, 1)
                self.assertIn(message, err)
                self.assertEqual(out, "")

    def test_missing_and_broken_files(self):
        with tempfile.TemporaryDirectory() as folder:
            broken = pathlib.Path(folder) / "broken.pte"
            broken.write_bytes((LLAMA / "model.pte").read_bytes()[:5000])
            for path, message in (("no/such.pte", "cannot open"), (broken, "truncated or corrupted"), (__file__, "not an ExecuTorch program"), (folder, "not a regular file")):
                code, _, err = pteron("run", path)
                self.assertEqual(code, 1)
                self.assertIn(message, err)
            code, _, err = pteron("run", LLAMA / "model.pte", "--method", "nope")
            self.assertEqual(code, 1)
            self.assertIn("it has: forward", err)
            code, _, err = pteron("run", LLAMA / "model.pte", "--input", __file__)
            self.assertEqual(code, 1)
            self.assertIn("NumPy", err)

    def test_a_constant_method_needs_no_input(self):
        with tempfile.TemporaryDirectory() as folder:
            code, _, err = pteron("run", LLAMA / "model.pte", "--method", "get_vocab_size", "--output", folder)
            self.assertEqual(code, 0, err)
            self.assertEqual(np.load(f"{folder}/output_0.npy"), 512)


class Generate(unittest.TestCase):
    def test_greedy_tokens_equal_torch(self):
        for run in json.loads((LLAMA / "manifest.json").read_text())["runs"]:
            prompt = ",".join(map(str, run["prompt_ids"]))
            code, out, err = pteron("generate", LLAMA / "model.pte", "--token-ids", prompt, "--max-tokens", len(run["generated_ids"]), "--json")
            self.assertEqual(code, 0, err)
            self.assertEqual(json.loads(out)["token_ids"], run["generated_ids"])


class Selftest(unittest.TestCase):
    def test_every_kernel_agrees_with_the_cpu(self):
        code, out, err = pteron("selftest", "--json")
        self.assertEqual(code, 0, out + err)
        report = json.loads(out)
        self.assertEqual([trial for trial in report["trials"] if trial["problem"]], [])
        self.assertEqual(report["untried"], [])
        names = [trial["name"] for trial in report["trials"]]
        self.assertEqual(len(names), len(set(names)))

    def test_prints_a_line_for_each_trial(self):
        code, out, _ = pteron("selftest", "--only", "softmax")
        self.assertEqual(code, 0)
        self.assertRegex(out, r"(?m)^ok +softmax of 7 +softmax +[\d.e-]+$")
        self.assertRegex(out, r"(?m)^2 passed, 0 failed on ")


class Convert(unittest.TestCase):
    MODEL = DATA / "gguf" / "llama_q4_1.gguf"

    def test_gguf_in_pte_out(self):
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder) / "m.pte"
            code, out, err = pteron("convert", self.MODEL, "-o", program, "--max-context", 48, "--max-seq-len", 16, "--json")
            self.assertEqual(code, 0, err)
            report = json.loads(out)
            self.assertEqual(report["file_bytes"], program.stat().st_size)
            self.assertEqual(report["tensors"], {"F32": 5, "Q4_1": 14, "Q8_0": 1})
            self.assertEqual(os.listdir(folder), ["m.pte"])
            methods = {m["name"]: m for m in json.loads(pteron("info", program, "--json")[1])["methods"]}
            self.assertEqual(methods["get_max_context_len"]["constants"], [48])
            self.assertEqual(methods["forward"]["inputs"][0]["shape"], [1, 16])
            code, out, _ = pteron("convert", self.MODEL, "-o", program, "--quant", "q4")
            self.assertEqual(code, 0)
            self.assertLess(program.stat().st_size, report["file_bytes"])
            self.assertIn("14 Q4_1", out)

    def test_failures_leave_no_file_and_keep_the_old_one(self):
        with tempfile.TemporaryDirectory() as folder:
            program, broken = pathlib.Path(folder) / "m.pte", pathlib.Path(folder) / "broken.gguf"
            program.write_bytes(b"old")
            broken.write_bytes(self.MODEL.read_bytes()[:20000])
            for model, output, message in (
                (broken, program, "truncated or corrupted"),
                (LLAMA / "model.pte", program, "not a GGUF model"),
                ("no/such.gguf", program, "cannot open"),
                (self.MODEL, "no/such/folder/m.pte", "cannot write"),
                (broken, broken, "is the model itself"),
            ):
                code, out, err = pteron("convert", model, "-o", output)
                self.assertEqual(code, 1)
                self.assertIn(message, err)
                self.assertEqual(out, "")
            self.assertEqual(sorted(os.listdir(folder)), ["broken.gguf", "m.pte"])
            self.assertEqual(program.read_bytes(), b"old")
            self.assertEqual(pteron("convert", self.MODEL, "--quant", "q3")[0], 2)


if __name__ == "__main__":
    unittest.main()
