# SPDX-License-Identifier: BSD-3-Clause
"""examples/ray: lines of a file through Ray Data. usage: test_ray.py PTERON DATA_FOLDER"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

from serving import DATA, LLAMA, TOKENIZER

EXAMPLES = DATA.resolve().parents[1] / "examples" / "ray"
QUIET = {**os.environ, "RAY_USAGE_STATS_ENABLED": "0", "RAY_DEDUP_LOGS": "0"}


def rows(folder):
    return [json.loads(line) for file in sorted(folder.iterdir()) for line in file.read_text().splitlines()]


class Ray(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def batch(self, model, texts, *options):
        prompts, out = self.folder / "prompts.txt", self.folder / "out"
        prompts.write_text("".join(f"{text}\n" for text in texts))
        command = [sys.executable, EXAMPLES / "batch.py", model, prompts, out, "--tokenizer", TOKENIZER, *options]
        done = subprocess.run(list(map(str, command)), env=QUIET, capture_output=True, text=True, timeout=900)
        self.assertEqual(done.returncode, 0, done.stderr[-3000:])
        return rows(out)

    def test_lines_of_a_file_are_answered(self):
        import pteron

        texts = [f"Line {number}" for number in range(40)]
        answers = self.batch(LLAMA / "model.pte", texts, "--max-tokens", 6)
        self.assertEqual(sorted(row["text"] for row in answers), sorted(texts))
        alone = pteron.LLM(LLAMA / "model.pte", tokenizer=TOKENIZER)
        self.assertEqual({row["text"]: row["answer"] for row in answers}, {text: alone.generate(text, max_tokens=6).text for text in texts})

    def test_lines_of_a_file_are_embedded(self):
        answers = self.batch(DATA / "encoder_tiny" / "dynamic.pte", ["One", "Two", "Three"] * 10)
        self.assertEqual({len(row["embedding"]) for row in answers}, {16})
        self.assertEqual(len({tuple(row["embedding"]) for row in answers}), 3)


if __name__ == "__main__":
    unittest.main()
