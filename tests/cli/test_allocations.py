#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Memory ends at any moment: the program says so in one sentence and ends with its code for failures, and no file is left half-written.

usage: test_allocations.py PTERON DATA, with a pteron whose n-th allocation can be made to fail (tests/support/failing_allocations.cpp)
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

PTERON, DATA = sys.argv[1], pathlib.Path(sys.argv[2])
LLAMA = DATA / "llama_tiny" / "rope_llama" / "model.pte"
SENTENCE = "pteron: out of memory; close other programs, or take a smaller model or context\n"


def run(arguments, failing=None):
    environment = dict(os.environ) if failing is None else os.environ | {"PTERON_TEST_FAILING_ALLOCATION": str(failing)}
    return subprocess.run([PTERON, *map(str, arguments)], env=environment, capture_output=True, text=True, timeout=120)


class EveryAllocation(unittest.TestCase):
    def fail_each(self, arguments, first, further, absent=None):
        """Allocations 1 to `first`, and `further` of those behind, spread evenly."""
        calm = run(arguments)
        self.assertEqual(calm.returncode, 0, calm.stderr)
        total = int(re.search(r"(\d+) allocations$", calm.stderr.strip())[1])
        if absent:
            absent.unlink()
        points = list(range(1, min(first, total) + 1)) + list(range(first + 1, total, max(1, (total - first) // max(further, 1))))
        for point in points:
            ended = run(arguments, point)
            if ended.returncode == 0 and point > 0.9 * total:
                continue  # threads share the count, so the last ones differ from run to run
            self.assertEqual((ended.returncode, ended.stderr[-len(SENTENCE) :]), (1, SENTENCE), f"allocation {point} of {total}: {ended.stderr}")
            self.assertLessEqual(ended.stderr.count("out of memory"), 1, ended.stderr)
            if absent:
                self.assertFalse(absent.exists(), f"allocation {point} of {total} left a file")

    def test_info(self):
        self.fail_each(["info", LLAMA], 500, 100)

    def test_convert(self):
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder) / "m.pte"
            self.fail_each(["convert", "-q", DATA / "gguf" / "llama_q4_1.gguf", "-o", out], 100, 100, absent=out)

    def test_bench(self):
        self.fail_each(["bench", "-q", "--prefill", 4, "--prompts", 1, "--decode", 3, LLAMA], 0, 40)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
