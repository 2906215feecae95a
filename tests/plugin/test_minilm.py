# SPDX-License-Identifier: BSD-3-Clause
"""A BERT of any length, which the exporter splits into many delegates. usage: test_minilm.py WEIGHTS KEPT_PROGRAMS"""
import sys
import unittest
from pathlib import Path

import minilm
import pteron
import torch

WEIGHTS, KEPT = Path(sys.argv.pop(1)), Path(sys.argv.pop(1))


class MiniLM(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.model = minilm.load(WEIGHTS / "model.safetensors")
        cls.path = minilm.program(cls.model, KEPT)
        cls.program = pteron.load(cls.path)
        cls.words = (WEIGHTS / "vocab.txt").read_text().split("\n")

    def tokens(self, sentence):
        """Enough of a tokenizer for words that are in the vocabulary."""
        return torch.tensor([[self.words.index(word) for word in ("[CLS]", *sentence.split(), "[SEP]")]])

    def embed(self, tokens, mask=None):
        mask = torch.ones_like(tokens) if mask is None else mask
        (actual,) = self.program(tokens.numpy(), mask.numpy())
        with torch.no_grad():
            expected = self.model(tokens, mask)
        torch.testing.assert_close(torch.from_numpy(actual), expected, rtol=0, atol=1e-4)
        return torch.from_numpy(actual)[0]

    def test_program_has_many_delegates_with_integers_between_them(self):
        from executorch.exir._serialize._program import deserialize_pte_binary

        (plan,) = deserialize_pte_binary(self.path.read_bytes()).program.execution_plan
        calls = [step.instr_args for step in plan.chains[0].instructions if hasattr(step.instr_args, "delegate_index")]
        integers = sum(type(plan.values[index].val).__name__ == "Int" for call in calls for index in call.args)
        self.assertGreater(len(calls), 10)
        self.assertGreater(integers, 10)

    def test_every_length_agrees_with_torch(self):
        torch.manual_seed(0)
        for length in (minilm.LONGEST, 2, 33, 7, 64, minilm.LONGEST):
            self.embed(torch.randint(1000, 30000, (1, length)))

    def test_masked_tokens_do_not_count(self):
        tokens = self.tokens("the cat sleeps")
        padded = torch.nn.functional.pad(tokens, (0, 4))
        mask = (torch.arange(padded.shape[1]) < tokens.shape[1]).long()[None]
        torch.testing.assert_close(self.embed(padded, mask), self.embed(tokens), rtol=0, atol=1e-4)

    def test_sentences_that_mean_the_same_are_close(self):
        cat, kitten, market = (
            self.embed(self.tokens(text))
            for text in ("a cat is sleeping", "a kitten is taking a nap", "shares fell on the stock market")
        )
        self.assertGreater(cat @ kitten, 0.6)
        self.assertLess(cat @ market, 0.2)


if __name__ == "__main__":
    unittest.main()
