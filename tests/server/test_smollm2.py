# SPDX-License-Identifier: BSD-3-Clause
"""A real model behind the server. usage: test_smollm2.py PTERON DATA_FOLDER MODEL.pte"""
import json
import pathlib
import sys
import unittest

MODEL = pathlib.Path(sys.argv.pop(3))

import openai
from serving import Server, in_threads

QUESTIONS = ("What is the capital of France?", "Name a colour.", "What is two plus two?", "Say hello in Spanish.")
WEATHER = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "The weather in a city",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"], "additionalProperties": False},
    },
}


class SmolLM2(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = cls.enterClassContext(Server("-q", models=(MODEL,), tokenizer=None))
        cls.client = openai.OpenAI(base_url=cls.server.url + "/v1", api_key="none", max_retries=0, timeout=300)

    def ask(self, question, **more):
        messages = question if isinstance(question, list) else [{"role": "user", "content": question}]
        options = {"temperature": 0, "max_tokens": 12, **more}
        return self.client.chat.completions.create(model=MODEL.stem, messages=messages, **options).choices[0]

    def test_answers_together_are_those_alone(self):
        def tokens(question):
            return self.ask(question, logprobs=True, top_logprobs=2).logprobs.content

        alone = [tokens(question) for question in QUESTIONS]
        self.assertIn("Paris", "".join(token.token for token in alone[0]))
        for calm, busy in zip(alone, in_threads([lambda q=q: tokens(q) for q in QUESTIONS])):
            for a, b in zip(calm, busy):
                best, second = a.top_logprobs
                if best.logprob - second.logprob < 0.05:
                    break
                self.assertEqual(a.token, b.token)

    def test_tools_work_without_a_template_for_them(self):
        answer = self.ask("What is the weather in Oslo?", tools=[WEATHER], tool_choice="required", max_tokens=60)
        (call,) = answer.message.tool_calls
        self.assertEqual(call.function.name, "get_weather")
        self.assertIsInstance(json.loads(call.function.arguments)["city"], str)
        history = [
            {"role": "user", "content": "What is the weather in Oslo?"},
            answer.message.model_dump(exclude_none=True),
            {"role": "tool", "tool_call_id": call.id, "content": "Snow, -5 degrees"},
        ]
        self.assertIn(self.ask(history, tools=[WEATHER]).finish_reason, ("stop", "length", "tool_calls"))


if __name__ == "__main__":
    unittest.main()
