# SPDX-License-Identifier: BSD-3-Clause
"""`pteron.LLM`, with numpy alone. usage: test_llm.py DATA_FOLDER"""
import doctest
import json
import os
import shutil
import sys
import tempfile
import threading
import unittest
from pathlib import Path

import numpy as np
import pteron
import pteron.llm

DATA = Path(sys.argv.pop(1)).resolve()
LLAMA = DATA / "llama_tiny" / "rope_llama"
ENCODER = DATA / "encoder_tiny"
RUNS = json.loads((LLAMA / "manifest.json").read_text())["runs"]


class LanguageModel(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.llm = pteron.LLM(LLAMA / "model.pte", tokenizer=DATA / "tiny_tokenizer" / "tokenizer.json")

    def test_goes_on_as_torch_does(self):
        for run in RUNS:
            answer = self.llm.generate(np.array(run["prompt_ids"]), max_tokens=len(run["generated_ids"]))
            self.assertEqual(answer.tokens, run["generated_ids"])

    def test_logits_and_logprobs_are_those_of_torch(self):
        run = RUNS[0]
        wanted = np.fromfile(LLAMA / run["logits_file"], np.float32).reshape(run["logits_shape"])
        np.testing.assert_allclose(self.llm.logits(np.array(run["prompt_ids"])), wanted[0], atol=2e-3)
        answer = self.llm.generate(np.array(run["prompt_ids"]), max_tokens=len(wanted), logprobs=0)
        rows = wanted.astype(np.float64)
        logprobs = rows - np.log(np.exp(rows - rows.max(1, keepdims=True)).sum(1, keepdims=True)) - rows.max(1, keepdims=True)
        np.testing.assert_allclose(answer.logprobs, logprobs[np.arange(len(rows)), run["generated_ids"]], atol=2e-3)

    def test_lists_in_and_out(self):
        alone = [self.llm.generate(text, max_tokens=4) for text in ("One", "Two")]
        self.assertEqual(self.llm.generate(["One", "Two"], max_tokens=4), alone)
        talk = [{"role": "user", "content": "Hi"}]
        self.assertEqual(self.llm.chat([talk, talk], max_tokens=4), [self.llm.chat("Hi", max_tokens=4)] * 2)

    def test_a_stream_that_is_given_up_leaves_the_model_usable(self):
        whole = self.llm.generate("One", max_tokens=10, temperature=1, seed=4)
        stream = self.llm.stream("One", max_tokens=10, temperature=1, seed=4)
        self.assertTrue(whole.text.startswith(next(stream)))
        stream.close()
        self.assertEqual("".join(self.llm.stream("One", max_tokens=10, temperature=1, seed=4)), whole.text)

    def test_threads_take_turns(self):
        wanted, answers = self.llm.generate("One", max_tokens=8), []
        threads = [threading.Thread(target=lambda: answers.append(self.llm.generate("One", max_tokens=8))) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        self.assertEqual(answers, [wanted] * 4)

    def test_a_schema_is_kept(self):
        schema = {"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"], "additionalProperties": False}
        answer = self.llm.generate("Hm", json_schema=schema, max_tokens=60, temperature=1, seed=1)
        self.assertIn(json.loads(answer.text)["ok"], (True, False))

    def test_text_survives_tokens(self):
        text = "Hello, 世界! " * 40
        self.assertEqual(self.llm.decode(self.llm.encode(text)), text)

    def test_what_is_wrong_is_said(self):
        for call, words in (
            (lambda: self.llm.generate("a", temperature=-1), "temperature"),
            (lambda: self.llm.generate("a", frobnicate=1), "no option 'frobnicate'"),
            (lambda: self.llm.generate(np.array([99999])), "outside of the model's vocabulary"),
            (lambda: self.llm.generate("word " * 500), "context holds 128"),
            (lambda: self.llm.generate("a", json_schema="{"), "JSON"),
        ):
            with self.assertRaisesRegex(pteron.Error, words):
                call()
        with self.assertRaises(FileNotFoundError):
            pteron.LLM("elsewhere.pte")
        with self.assertRaisesRegex(pteron.Error, "language model"):
            pteron.LLM(DATA / "ops" / "add" / "itself" / "model.pte")

    def test_an_encoder_gives_the_vectors_of_torch(self):
        for name in ("dynamic", "static"):
            encoder = pteron.LLM(ENCODER / f"{name}.pte", tokenizer=DATA / "tiny_tokenizer" / "tokenizer.json")
            self.assertEqual((encoder.width, encoder.context), (16, 32))
            golden = json.loads((ENCODER / "golden.json").read_text())
            rows = encoder.embed([np.array(item["tokens"]) for item in golden])
            np.testing.assert_allclose(rows, [item["vector"] for item in golden], atol=1e-5)
            np.testing.assert_array_equal(encoder.embed("One"), encoder.embed(np.array(encoder.encode("One"))))
            self.assertEqual(encoder.embed([]).shape, (0, 16))
        for call, words in (
            (lambda: encoder.embed("word " * 500), "from 1 to 32"),
            (lambda: encoder.embed(np.array([], np.uint32)), "has 0 tokens"),
            (lambda: encoder.embed(np.array([99999])), "99999"),
            (lambda: encoder.generate("One"), "writes none"),
            (lambda: encoder.chat("One"), "writes none"),
            (lambda: self.llm.embed("One"), "load an encoder"),
        ):
            with self.assertRaisesRegex(pteron.Error, words):
                call()

    def test_the_examples_of_the_documentation(self):
        with tempfile.TemporaryDirectory() as folder:
            shutil.copy(LLAMA / "model.pte", Path(folder) / "llama.pte")
            shutil.copy(ENCODER / "dynamic.pte", Path(folder) / "encoder.pte")
            shutil.copytree(DATA / "tiny_tokenizer", folder, dirs_exist_ok=True)
            before = os.getcwd()
            os.chdir(folder)
            try:
                results = doctest.testmod(pteron.llm)
            finally:
                os.chdir(before)
        self.assertGreater(results.attempted, 8)
        self.assertEqual(results.failed, 0)


if __name__ == "__main__":
    unittest.main()
