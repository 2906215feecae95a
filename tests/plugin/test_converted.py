# SPDX-License-Identifier: BSD-3-Clause
"""Programs of `pteron convert` in stock ExecuTorch, with the plugin. usage: test_converted.py PTERON DATA_FOLDER"""
import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import numpy as np
import pteron
import torch
from executorch.runtime import Runtime

PTERON, DATA = sys.argv.pop(1), Path(sys.argv.pop(1)) / "gguf"
MANIFEST = json.loads((DATA / "models.json").read_text())


class Converted(unittest.TestCase):
    def setUp(self):
        self.work = Path(self.enterContext(tempfile.TemporaryDirectory()))

    def convert(self, name, *options):
        path = self.work / f"{name}.pte"
        subprocess.run([PTERON, "convert", DATA / f"{name}.gguf", "-o", path, "-q", *options], check=True, capture_output=True)
        return path

    def test_logits_of_every_call_are_torchs(self):
        for model in MANIFEST["models"]:
            with self.subTest(model["name"]):
                golden = np.fromfile(DATA / f"{model['name']}.logits.bin", dtype="<f4").reshape(-1, model["vocabulary"])
                forward = Runtime.get().load_program(self.convert(model["name"])).load_method("forward")
                position = 0
                for tokens in MANIFEST["calls"]:
                    (logits,) = forward.execute([torch.tensor([tokens]), torch.tensor([position])])
                    position += len(tokens)
                    self.assertLess(np.abs(logits.numpy()[0] - golden[position - 1]).max(), 1e-4)

    def test_runners_find_what_they_ask_for(self):
        program = Runtime.get().load_program(self.convert("llama_q4_1", "--max-context", "48", "--max-seq-len", "16"))
        ask = lambda name: program.load_method(name).execute([])
        self.assertEqual(ask("get_max_context_len"), [48])
        self.assertEqual(ask("get_max_seq_len"), [16])
        self.assertEqual(ask("get_vocab_size"), [67])
        self.assertEqual(ask("use_kv_cache"), [True])
        for name in ("get_bos_id", "get_eos_ids", "get_n_layers", "use_sdpa_with_kv_cache", "enable_dynamic_shape"):
            self.assertIn(name, program.method_names)


if __name__ == "__main__":
    unittest.main()
