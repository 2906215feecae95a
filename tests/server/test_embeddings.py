# SPDX-License-Identifier: BSD-3-Clause
"""/v1/embeddings with MiniLM, beside a language model. usage: test_embeddings.py PTERON DATA_FOLDER MINILM_FOLDER"""
import base64
import contextlib
import io
import json
import pathlib
import re
import struct
import sys
import unittest

MINILM = pathlib.Path(sys.argv.pop(3))

import openai
from serving import LLAMA, NAME, Server, in_threads

GOLDEN = json.loads((MINILM / "golden.json").read_text())  # texts, their tokens and torch's vectors


class Embeddings(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        # The language model has no tokenizer here: --tokenizer would be for both.
        cls.server = cls.enterClassContext(Server("-q", models=(LLAMA / "model.pte", MINILM / "minilm.pte"), tokenizer=None))
        cls.client = openai.OpenAI(base_url=cls.server.url + "/v1", api_key="none", max_retries=0, timeout=300)

    def embed(self, given, **more):
        return self.client.embeddings.create(model="minilm", input=given, **more)

    def test_vectors_are_those_of_torch(self):
        for format in ("float", "base64"):
            answer = self.embed([item["text"] for item in GOLDEN], encoding_format=format)
            self.assertEqual([item.index for item in answer.data], list(range(len(GOLDEN))))
            for got, item in zip(answer.data, GOLDEN):
                vector = got.embedding
                if format == "base64":
                    raw = base64.b64decode(vector)
                    vector = struct.unpack(f"<{len(raw) // 4}f", raw)
                self.assertEqual(len(vector), 384)
                self.assertLess(max(abs(a - b) for a, b in zip(vector, item["vector"])), 1e-4)
                self.assertGreater(sum(a * b for a, b in zip(vector, item["vector"])), 0.9999)  # both have length 1
        self.assertEqual(answer.usage.prompt_tokens, sum(len(item["tokens"]) for item in GOLDEN))

    def test_the_package_decodes_by_itself(self):
        (one,) = self.embed(GOLDEN[0]["text"]).data  # asks for base64
        self.assertLess(max(abs(a - b) for a, b in zip(one.embedding, GOLDEN[0]["vector"])), 1e-4)

    def test_the_example_of_the_documentation(self):
        page = (pathlib.Path(__file__).resolve().parents[2] / "docs" / "serving.md").read_text()
        (example,) = re.findall(r"^```python\n(answer = client\.embeddings.*?)^```$", page, re.M | re.S)
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(example, {"client": self.client})
        self.assertGreater(float(printed.getvalue()), 0.5)  # the two mean much the same

    def test_tokens_are_accepted(self):
        (one,) = self.embed(GOLDEN[0]["tokens"]).data
        self.assertEqual(one.embedding, self.embed(GOLDEN[0]["text"]).data[0].embedding)

    def test_texts_become_the_tokens_of_the_reference(self):
        for item in GOLDEN:
            tokens = self.server.post("/tokenize", {"model": "minilm", "content": item["text"], "add_special": True})[2]["tokens"]
            self.assertEqual(tokens, item["tokens"])
        text = self.server.post("/detokenize", {"model": "minilm", "tokens": GOLDEN[0]["tokens"][1:-1]})[2]["content"]
        self.assertEqual(text, GOLDEN[0]["text"].lower())

    def test_many_texts_at_once(self):
        answer = self.embed(["one", "two", "three"] * 20)
        self.assertEqual([item.index for item in answer.data], list(range(60)))
        self.assertEqual(answer.data[0].embedding, answer.data[57].embedding)
        self.assertNotEqual(answer.data[0].embedding, answer.data[1].embedding)

    def test_an_encoder_alone_says_that_it_does_not_chat(self):
        with Server("-q", models=(MINILM / "minilm.pte",), tokenizer=None) as server:
            self.assertEqual(len(server.post("/v1/embeddings", {"input": "a"})[2]["data"][0]["embedding"]), 384)
            said = [{"role": "user", "content": "a"}]
            for path, body in (("/v1/chat/completions", {"messages": said}), ("/v1/completions", {"prompt": "a"}), ("/v1/responses", {"input": "a"})):
                status, _, answer = server.post(path, body)
                self.assertEqual((status, answer["error"]["message"]), (404, "the server has no language model"))

    def test_a_time_limit_ends_a_long_list(self):
        with Server("-q", "--time-limit", "5", models=(MINILM / "minilm.pte",), tokenizer=None) as server:
            status, _, answer = server.post("/v1/embeddings", {"input": ["word " * 100] * 2048})
            self.assertEqual(status, 503, answer)
            self.assertEqual(server.post("/v1/embeddings", {"input": "a"})[0], 200)

    def test_fewer_dimensions(self):
        (one,) = self.embed(GOLDEN[0]["text"], dimensions=32).data
        self.assertEqual(len(one.embedding), 32)
        self.assertAlmostEqual(sum(x * x for x in one.embedding), 1, places=4)

    def test_goes_on_while_answers_are_made(self):
        def chat():
            return self.server.post("/v1/completions", {"prompt": [1, 2, 3], "max_tokens": 40, "temperature": 0, "ignore_eos": True})[0]

        results = in_threads([chat, lambda: len(self.embed(["a b c"] * 8).data), chat])
        self.assertEqual(results, [200, 8, 200])

    def test_bad_requests(self):
        for body, status in (({"model": "minilm"}, 400), ({"input": ""}, 400), ({"input": []}, 400), ({"input": [""]}, 400), ({"input": 5}, 400),
                             ({"input": "word " * 500}, 400), ({"input": ["a"] * 3000}, 400), ({"input": [999999]}, 400), ({"input": "a", "dimensions": 0}, 400),
                             ({"input": "a", "encoding_format": "hex"}, 400), ({"input": "a", "model": NAME}, 400), ({"input": "a", "model": "nobody"}, 404)):  # fmt: skip
            self.assertEqual(self.server.post("/v1/embeddings", body)[0], status, body)
        self.assertEqual({model.id for model in self.client.models.list()}, {NAME, "minilm"})


if __name__ == "__main__":
    unittest.main()
