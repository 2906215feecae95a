# SPDX-License-Identifier: BSD-3-Clause
"""The packages `litellm` and `langchain-openai`, unchanged, against the server. usage: test_clients.py PTERON DATA_FOLDER"""
import json
import os
import pathlib
import tempfile
import unittest

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # no network
os.environ["LANGSMITH_TRACING"] = "false"

import litellm
from langchain_core.messages import HumanMessage, SystemMessage
from langchain_openai import ChatOpenAI, OpenAIEmbeddings
from serving import DATA, LLAMA, NAME, Server
from test_openai import TEMPLATE

ENCODER = DATA / "encoder_tiny" / "dynamic.pte"
CLOCK = {"type": "function", "function": {"name": "clock", "description": "The time", "parameters": {"type": "object", "properties": {"zone": {"const": "utc"}}, "required": ["zone"]}}}
ENDLESS = {"ignore_eos": True}


class WithServer(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        template = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory())) / "template.jinja"
        template.write_text(TEMPLATE)
        options = ("-q", "--api-key", "secret", "--chat-template", template)
        cls.server = cls.enterClassContext(Server(*options, models=(LLAMA / "model.pte", ENCODER)))
        cls.url = cls.server.url + "/v1"


class LiteLLM(WithServer):
    def ask(self, **more):
        asked = {"model": f"openai/{NAME}", "api_key": "secret", "messages": [{"role": "user", "content": "Hi"}], "max_tokens": 8, "temperature": 0}
        return litellm.completion(api_base=self.url, max_retries=0, **{**asked, "extra_body": ENDLESS, **more})

    def test_an_answer_and_a_stream_of_it(self):
        whole = self.ask()
        self.assertEqual((whole.usage.completion_tokens, whole.choices[0].finish_reason), (8, "length"))
        chunks = list(self.ask(stream=True, stream_options={"include_usage": True}))
        self.assertEqual("".join(c.choices[0].delta.content or "" for c in chunks if c.choices), whole.choices[0].message.content)
        self.assertEqual([c.usage.completion_tokens for c in chunks if getattr(c, "usage", None)], [8])

    def test_tools(self):
        answer = self.ask(tools=[CLOCK], tool_choice="required", parallel_tool_calls=False, max_tokens=60)
        (call,) = answer.choices[0].message.tool_calls
        self.assertEqual((call.function.name, json.loads(call.function.arguments)), ("clock", {"zone": "utc"}))

    def test_embeddings(self):
        answer = litellm.embedding(model="openai/dynamic", api_base=self.url, api_key="secret", input=[[1, 2], [3, 4, 5]])
        self.assertEqual([len(item["embedding"]) for item in answer.data], [16, 16])

    def test_errors_keep_their_kind(self):
        with self.assertRaises(litellm.AuthenticationError):
            self.ask(api_key="wrong")
        with self.assertRaises(litellm.BadRequestError):
            self.ask(max_tokens=-1)
        with self.assertRaises(litellm.NotFoundError):
            self.ask(model="openai/nobody")


class LangChain(WithServer):
    def model(self, **more):
        return ChatOpenAI(base_url=self.url, api_key="secret", model=NAME, max_retries=0, **{"max_tokens": 8, "temperature": 0, "extra_body": ENDLESS, **more})

    def test_an_answer_and_a_stream_of_it(self):
        messages = [SystemMessage("Be brief."), HumanMessage("Hi")]
        whole = self.model().invoke(messages)
        self.assertEqual(whole.usage_metadata["output_tokens"], 8)
        self.assertEqual("".join(chunk.content for chunk in self.model().stream(messages)), whole.content)
        self.assertEqual([answer.content for answer in self.model().batch([messages] * 3)], [whole.content] * 3)

    def test_tools_and_schemas(self):
        answer = self.model(max_tokens=60).bind_tools([CLOCK], tool_choice="clock").invoke("Hi")
        self.assertEqual([(call["name"], call["args"]) for call in answer.tool_calls], [("clock", {"zone": "utc"})])
        schema = {"title": "answer", "type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"], "additionalProperties": False}
        self.assertIn(self.model(max_tokens=60).with_structured_output(schema, method="json_schema").invoke("Hi")["ok"], (True, False))

    def test_the_responses_api(self):
        answer = self.model(use_responses_api=True).invoke("Hi")
        self.assertEqual(answer.usage_metadata["output_tokens"], 8)

    def test_embeddings(self):
        embeddings = OpenAIEmbeddings(base_url=self.url, api_key="secret", model="dynamic", check_embedding_ctx_length=False, max_retries=0)
        with self.assertRaisesRegex(Exception, "no tokenizer"):
            embeddings.embed_query("Hi")
        self.assertEqual(len(embeddings.client.create(model="dynamic", input=[1, 2]).data[0].embedding), 16)


if __name__ == "__main__":
    unittest.main()
