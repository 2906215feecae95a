# SPDX-License-Identifier: BSD-3-Clause
"""The GPU routes of a 4-bit language model, as AMD's compiler sees them. usage: test_ruler.py SOURCE PTERON GGUF"""
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

GGUF, PTERON, SOURCE = (Path(sys.argv.pop()) for _ in range(3))


class Ruler(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        model = Path(folder.name) / "model.pte"
        subprocess.run([PTERON, "convert", GGUF, "--quant", "q4", "-q", "-o", model], check=True, capture_output=True)
        command = [SOURCE / "bench" / "gpu" / "measure", model, "--binary", PTERON]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            raise AssertionError(done.stdout + done.stderr)
        rows = [line.strip("| ").split(" | ") for line in done.stdout.splitlines() if line.startswith("| ")]
        cls.facts = {row[0]: row[1] for row in rows if len(row) == 2}

    def test_no_kernel_needs_scratch_memory(self):
        self.assertEqual(self.facts["scratch bytes of a thread, most"], "0")

    def test_loads_of_weights_use_whole_lines(self):
        self.assertEqual(self.facts["bytes used of a line of 128 by a wave's loads of weights"], "128")

    def test_a_token_has_few_dispatches(self):
        self.assertLessEqual(int(self.facts["a token at context 32: dispatches"]), 156)

    def test_unpacking_is_a_small_part_of_multiplying(self):
        most = float(self.facts["vector instructions per 4-bit weight, decoding"].split(" to ")[-1])
        self.assertLessEqual(most, 4.0)


if __name__ == "__main__":
    unittest.main()
