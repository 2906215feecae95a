# SPDX-License-Identifier: BSD-3-Clause
"""The unchanged `openai` package against the server. usage: test_openai.py PTERON DATA_FOLDER"""
import json
import math
import pathlib
import tempfile
import unittest

import openai
from serving import LLAMA, NAME, RUNS, Server, in_threads

# Short, because the tiny model's context is; it writes calls as Hermes and Qwen do.
TEMPLATE = (
    "{% if tools %}{% for t in tools %}{{ t.function.name }} {% endfor %}<tool_call>{% endif %}"
    "{% for m in messages %}{{ m.role }}:{{ m.content }}{% for c in m.tool_calls or [] %}{{ c.function.arguments | tojson }}{% endfor %}\n{% endfor %}"
)
WEATHER = {
    "type": "function",
    "function": {
        "name": "weather",
        "parameters": {
            "type": "object",
            "properties": {"city": {"enum": ["Oslo", "Rome"]}, "cold": {"type": "boolean"}},
            "required": ["city", "cold"],
            "additionalProperties": False,
        },
    },
}
CLOCK = {"type": "function", "function": {"name": "clock", "parameters": {"type": "object", "properties": {"zone": {"const": "utc"}}, "required": ["zone"]}}}
ENDLESS = {"ignore_eos": True}
HELLO = [{"role": "user", "content": "Hello"}]


def flat(tool):
    """As the Responses API has it."""
    return {"type": "function", **tool["function"]}


class WithClient(unittest.TestCase):
    OPTIONS = ("-q",)

    @classmethod
    def setUpClass(cls):
        folder = cls.enterClassContext(tempfile.TemporaryDirectory())
        template = pathlib.Path(folder) / "template.jinja"
        template.write_text(TEMPLATE)
        cls.server = cls.enterClassContext(Server(*cls.OPTIONS, "--chat-template", template))
        cls.client = openai.OpenAI(base_url=cls.server.url + "/v1", api_key="none", max_retries=0, timeout=120)

    def chat(self, messages=HELLO, **more):
        return self.client.chat.completions.create(model=NAME, messages=messages, **{"max_tokens": 8, "temperature": 0, "extra_body": ENDLESS, **more})


class Chat(WithClient):
    def test_models(self):
        (model,) = self.client.models.list().data
        self.assertEqual((model.id, model.object), (NAME, "model"))
        self.assertEqual(self.client.models.retrieve(NAME).id, NAME)

    def test_completions_go_on_as_torch_does(self):
        for run in RUNS[:2]:
            wanted = self.server.post("/detokenize", {"tokens": run["generated_ids"]})[2]["content"]
            answer = self.client.completions.create(model=NAME, prompt=run["prompt_ids"], max_tokens=len(run["generated_ids"]), temperature=0, extra_body=ENDLESS)
            # A character may be cut off at the end.
            self.assertEqual(answer.choices[0].text.rstrip("\ufffd"), wanted.rstrip("\ufffd"))
            self.assertEqual(answer.usage.completion_tokens, len(run["generated_ids"]))
            self.assertEqual(answer.usage.prompt_tokens, len(run["prompt_ids"]))

    def test_a_stream_says_the_same_as_the_whole_answer(self):
        whole = self.chat(max_tokens=30)
        chunks = list(self.chat(max_tokens=30, stream=True))
        self.assertEqual("".join(c.choices[0].delta.content or "" for c in chunks), whole.choices[0].message.content)
        self.assertEqual([c.choices[0].delta.role for c in chunks], ["assistant"] + [None] * (len(chunks) - 1))
        self.assertEqual(len({(c.id, c.created, c.model, c.object) for c in chunks}), 1)
        self.assertEqual([c.choices[0].finish_reason for c in chunks], [None] * (len(chunks) - 1) + ["length"])
        self.assertTrue(all(c.choices[0].delta.content for c in chunks[:-1]), "there are empty chunks")
        self.assertEqual((chunks[0].object, whole.object), ("chat.completion.chunk", "chat.completion"))

    def test_the_last_chunk_has_the_usage_if_asked(self):
        data, _ = self.server.events("/v1/chat/completions", {"messages": HELLO, "max_tokens": 5, "temperature": 0, "ignore_eos": True, "stream": True, "stream_options": {"include_usage": True}})
        self.assertEqual(data[-1], "[DONE]")
        chunks = [json.loads(line) for line in data[:-1]]
        self.assertEqual(chunks[-1]["choices"], [])
        self.assertEqual(chunks[-1]["usage"]["completion_tokens"], 5)
        self.assertTrue(all(chunk["usage"] is None and chunk["choices"] for chunk in chunks[:-1]))
        self.assertEqual(chunks[-1]["usage"], self.chat(max_tokens=5).usage.model_dump(exclude_none=True) | {"prompt_tokens_details": chunks[-1]["usage"]["prompt_tokens_details"]})

    def test_characters_are_never_split(self):
        text = "日本語 👩‍👩‍👧 é"  # in tokens of single bytes
        format = {"type": "json_schema", "json_schema": {"name": "text", "schema": {"const": text}}}
        chunks = list(self.chat(max_tokens=90, stream=True, response_format=format))
        pieces = [c.choices[0].delta.content or "" for c in chunks]
        self.assertEqual(json.loads("".join(pieces)), text)
        self.assertGreater(len(pieces), 10)

    def test_the_same_seed_gives_the_same_answer(self):
        def say(seed):
            return self.chat(temperature=1.5, seed=seed, max_tokens=12).choices[0].message.content

        self.assertEqual(say(5), say(5))
        self.assertGreater(len({say(seed) for seed in range(4)}), 1)

    def test_several_choices(self):
        answer = self.chat(n=3, temperature=1.5, seed=1, max_tokens=10)
        self.assertEqual([c.index for c in answer.choices], [0, 1, 2])
        self.assertEqual(len({c.message.content for c in answer.choices}), 3)
        self.assertEqual(answer.usage.completion_tokens, 30)
        texts = {0: "", 1: "", 2: ""}
        for chunk in self.chat(n=3, temperature=1.5, seed=1, max_tokens=10, stream=True):
            for choice in chunk.choices:
                texts[choice.index] += choice.delta.content or ""
        self.assertEqual(list(texts.values()), [c.message.content for c in answer.choices])

    def test_stop_strings_end_an_answer_and_are_not_shown(self):
        whole = self.chat(max_tokens=30).choices[0].message.content
        stop = whole[4:7]
        answer = self.chat(max_tokens=30, stop=stop).choices[0]
        self.assertEqual((answer.message.content, answer.finish_reason), (whole[: whole.index(stop)], "stop"))
        streamed = "".join(c.choices[0].delta.content or "" for c in self.chat(max_tokens=30, stop=[stop, "@@"], stream=True))
        self.assertEqual(streamed, answer.message.content)

    def test_bias_and_penalties_change_what_is_said(self):
        token = self.server.post("/tokenize", {"content": "a"})[2]["tokens"][0]
        self.assertEqual(self.chat(logit_bias={str(token): 100}, max_tokens=4).choices[0].message.content, "aaaa")
        penalised = self.chat(logit_bias={str(token): 100}, frequency_penalty=2, presence_penalty=2, max_tokens=60).choices[0].message.content
        self.assertEqual(penalised[:20], "a" * 20)  # 100 outweighs twenty of them
        self.assertNotEqual(self.chat(max_tokens=20, presence_penalty=2, frequency_penalty=2).choices[0].message.content, self.chat(max_tokens=20).choices[0].message.content)

    def test_logprobs_are_the_models(self):
        answer = self.chat(logprobs=True, top_logprobs=5, max_tokens=6).choices[0]
        self.assertEqual(len(answer.logprobs.content), 6)
        for token in answer.logprobs.content:
            self.assertEqual(token.logprob, token.top_logprobs[0].logprob)  # greedy
            self.assertEqual(len(token.top_logprobs), 5)
            self.assertEqual([t.logprob for t in token.top_logprobs], sorted((t.logprob for t in token.top_logprobs), reverse=True))
            self.assertLess(sum(math.exp(t.logprob) for t in token.top_logprobs), 1 + 1e-6)
        said = b"".join(bytes(t.bytes) for t in answer.logprobs.content)
        self.assertEqual(said.decode(errors="replace"), answer.message.content)
        chunks = list(self.chat(logprobs=True, top_logprobs=0, max_tokens=6, stream=True))
        self.assertEqual(sum(len(c.choices[0].logprobs.content) for c in chunks if c.choices[0].logprobs), 6)

    def test_logprobs_of_completions_agree_with_torch(self):
        run = RUNS[0]
        rows, width = run["logits_shape"]
        raw = memoryview((LLAMA / run["logits_file"]).read_bytes()).cast("f")
        answer = self.client.completions.create(model=NAME, prompt=run["prompt_ids"], max_tokens=rows, temperature=0, logprobs=3, extra_body=ENDLESS).choices[0]
        for i, token in enumerate(run["generated_ids"]):
            row = raw[i * width : (i + 1) * width].tolist()
            top = max(row)
            wanted = row[token] - top - math.log(sum(math.exp(x - top) for x in row))
            self.assertAlmostEqual(answer.logprobs.token_logprobs[i], wanted, delta=2e-3)

    def test_roles_and_parts(self):
        said = [self.chat([{"role": role, "content": content}, *HELLO]).choices[0].message.content
                for role, content in (("system", "Be brief"), ("developer", "Be brief"), ("developer", [{"type": "text", "text": "Be "}, {"type": "text", "text": "brief"}]))]
        self.assertEqual(len(set(said)), 1)
        history = [*HELLO, {"role": "assistant", "content": "Hi", "reasoning_content": "They greet."}, *HELLO]
        self.assertEqual(self.chat(history).choices[0].finish_reason, "length")

    def test_completions_of_several_prompts_with_echo(self):
        answer = self.client.completions.create(model=NAME, prompt=["Hello", "World"], max_tokens=3, temperature=0, echo=True, n=2)
        self.assertEqual([c.text[:5] for c in answer.choices], ["Hello", "Hello", "World", "World"])
        streamed = list(self.client.completions.create(model=NAME, prompt="Hello", max_tokens=3, temperature=0, stream=True))
        self.assertEqual("Hello" + "".join(c.choices[0].text for c in streamed), answer.choices[0].text)

    def test_errors_are_those_of_the_package(self):
        with self.assertRaises(openai.NotFoundError) as missing:
            self.client.chat.completions.create(model="nobody", messages=HELLO)
        self.assertEqual((missing.exception.code, missing.exception.param), ("model_not_found", "model"))
        with self.assertRaises(openai.BadRequestError) as bad:
            self.chat(temperature=9)
        self.assertIn("temperature", bad.exception.message)


class Structured(WithClient):
    def test_json_of_a_schema(self):
        schema = {"type": "object", "properties": {"zeta": {"type": "boolean"}, "alpha": {"enum": ["x", "y"]}}, "required": ["zeta", "alpha"], "additionalProperties": False}
        answer = self.chat(response_format={"type": "json_schema", "json_schema": {"name": "thing", "schema": schema, "strict": True}}, max_tokens=100, temperature=1, seed=1)
        value = json.loads(answer.choices[0].message.content)
        self.assertEqual(list(value), ["zeta", "alpha"])  # in the order of the schema
        self.assertEqual(answer.choices[0].finish_reason, "stop")

    def test_json_object(self):
        bias = {str(self.server.post("/tokenize", {"content": "}"})[2]["tokens"][0]): 100}
        answer = self.chat(response_format={"type": "json_object"}, logit_bias=bias, max_tokens=50)
        self.assertEqual(json.loads(answer.choices[0].message.content), {})

    def test_a_tool_that_is_asked_for_is_called(self):
        for choice in ("required", {"type": "function", "function": {"name": "weather"}}):
            tools = [WEATHER, CLOCK] if choice != "required" else [WEATHER]
            answer = self.chat(tools=tools, tool_choice=choice, max_tokens=100, temperature=1, seed=2).choices[0]
            (call,) = answer.message.tool_calls
            self.assertEqual((call.function.name, answer.finish_reason, answer.message.content), ("weather", "tool_calls", None))
            self.assertIn(json.loads(call.function.arguments)["city"], ("Oslo", "Rome"))
            self.assertTrue(call.id.startswith("call_"))

    def test_several_tools_may_be_called_at_once(self):
        more = {str(self.server.post("/tokenize", {"content": "\n"})[2]["tokens"][0]): 100}  # what follows a call, rather than the end
        nothing = {"type": "object", "properties": {}, "additionalProperties": False}  # the tiny model's context holds little
        tools = [{"type": "function", "function": {"name": name, "parameters": nothing}} for name in "ab"]
        asked = {"tools": tools, "tool_choice": "required", "parallel_tool_calls": True, "logit_bias": more, "max_tokens": 95, "temperature": 1, "seed": 2}
        answer = self.chat(**asked).choices[0]
        calls = answer.message.tool_calls
        self.assertGreater(len(calls), 1)
        self.assertEqual(len({call.id for call in calls}), len(calls))
        for call in calls[:-1]:  # the last one may be cut
            self.assertIn(call.function.name, ("a", "b"))
            self.assertEqual(json.loads(call.function.arguments), {})
        deltas = [call for chunk in self.chat(**asked, stream=True) for call in chunk.choices[0].delta.tool_calls or []]
        self.assertEqual([(d.index, d.function.name) for d in deltas if d.id], [(i, call.function.name) for i, call in enumerate(calls)])
        for i, call in enumerate(calls):
            self.assertEqual("".join(d.function.arguments or "" for d in deltas if d.index == i), call.function.arguments)

    def test_calls_stream(self):
        asked = {"tools": [WEATHER, CLOCK], "tool_choice": "required", "parallel_tool_calls": False}
        chunks = [c.choices[0] for c in self.chat(**asked, max_tokens=100, temperature=1, seed=2, stream=True)]
        deltas = [call for chunk in chunks for call in chunk.delta.tool_calls or []]
        self.assertTrue(deltas[0].id and deltas[0].function.name in ("weather", "clock") and deltas[0].index == 0)
        self.assertTrue(all(d.id is None and d.function.name is None and d.index == 0 for d in deltas[1:]))
        self.assertGreater(len(deltas), 3)
        json.loads("".join(d.function.arguments for d in deltas))
        self.assertEqual(chunks[-1].finish_reason, "tool_calls")

    def test_tools_may_be_left_alone(self):
        for choice in ("none", "auto"):
            answer = self.chat(tools=[WEATHER], tool_choice=choice).choices[0]
            self.assertEqual((answer.message.tool_calls, answer.finish_reason), (None, "length"))

    def test_calls_and_results_are_accepted_back(self):
        call = {"id": "call_1", "type": "function", "function": {"name": "weather", "arguments": '{"city": "Oslo"}'}}
        history = [*HELLO, {"role": "assistant", "content": None, "tool_calls": [call]}, {"role": "tool", "tool_call_id": "call_1", "content": "cold"}]
        self.assertEqual(self.chat(history, tools=[WEATHER]).choices[0].finish_reason, "length")


class Responses(WithClient):
    def ask(self, **more):
        return self.client.responses.create(model=NAME, **{"input": "Hello", "temperature": 0, "max_output_tokens": 8, "extra_body": ENDLESS, **more})

    def test_says_what_the_chat_says(self):
        wanted = self.chat().choices[0].message.content
        for given in ("Hello", HELLO, [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Hello"}]}]):
            answer = self.ask(input=given)
            self.assertEqual((answer.output_text, answer.object), (wanted, "response"))
        self.assertEqual((answer.status, answer.incomplete_details.reason), ("incomplete", "max_output_tokens"))
        self.assertEqual(answer.usage.output_tokens, 8)

    def test_events(self):
        events = list(self.ask(stream=True))
        self.assertEqual([e.sequence_number for e in events], list(range(len(events))))
        kinds = [e.type for e in events]
        deltas = [e for e in events if e.type == "response.output_text.delta"]
        self.assertEqual(kinds[:4], ["response.created", "response.in_progress", "response.output_item.added", "response.content_part.added"])
        self.assertEqual(kinds[-4:], ["response.output_text.done", "response.content_part.done", "response.output_item.done", "response.incomplete"])
        self.assertEqual(kinds[4:-4], ["response.output_text.delta"] * len(deltas))
        done = events[-4]
        self.assertEqual("".join(d.delta for d in deltas), done.text)
        self.assertEqual({(d.item_id, d.output_index, d.content_index) for d in [*deltas, done]}, {(events[2].item.id, 0, 0)})
        created, last = events[0].response, events[-1].response
        self.assertEqual((created.status, created.output, created.id), ("in_progress", [], last.id))
        self.assertEqual(last.output_text, done.text)

    def test_calls(self):
        # Tools of other kinds are left out.
        tools = [flat(WEATHER), {"type": "web_search"}]
        answer = self.ask(tools=tools, tool_choice="required", parallel_tool_calls=False, max_output_tokens=100)
        (call,) = answer.output
        self.assertEqual((call.type, call.name, answer.status), ("function_call", "weather", "completed"))
        self.assertTrue(call.id.startswith("fc_") and call.call_id.startswith("call_"))
        events = list(self.ask(tools=tools, tool_choice={"type": "function", "name": "weather"}, max_output_tokens=100, stream=True))
        arguments = "".join(e.delta for e in events if e.type == "response.function_call_arguments.delta")
        (done,) = [e for e in events if e.type == "response.function_call_arguments.done"]
        self.assertEqual((done.arguments, events[-1].type), (arguments, "response.completed"))
        self.assertEqual(json.loads(arguments), json.loads(events[-1].response.output[0].arguments))
        follow_up = [{"role": "user", "content": "Hi"}, call.model_dump(), {"type": "function_call_output", "call_id": call.call_id, "output": "cold"}]
        self.assertEqual(self.ask(input=follow_up, tools=tools).usage.output_tokens, 8)

    def test_json_of_a_schema(self):
        schema = {"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"], "additionalProperties": False}
        answer = self.ask(text={"format": {"type": "json_schema", "name": "x", "schema": schema}}, max_output_tokens=50)
        self.assertIn(json.loads(answer.output_text)["ok"], (True, False))


class Together(WithClient):
    OPTIONS = ("-q", "--parallel", "3", "--chunk", "8", "--ping", "0")

    def test_answers_at_the_same_time_are_those_alone(self):
        questions = [f"{word} and {word}" for word in ("one", "two", "three", "four", "five", "six")]

        def ask(text):
            return self.chat([{"role": "user", "content": text}], max_tokens=16).choices[0].message.content

        alone = [ask(text) for text in questions]
        self.assertEqual(in_threads([lambda text=text: ask(text) for text in questions]), alone)

    def test_a_prompt_that_was_read_is_not_read_again(self):
        text = "a long beginning that several questions share, " * 2
        first = self.chat([{"role": "user", "content": text}]).usage
        again = self.chat([{"role": "user", "content": text}]).usage
        self.assertGreaterEqual(again.prompt_tokens_details.cached_tokens, first.prompt_tokens - 1)

    def test_a_stream_gives_signs_of_life_while_the_prompt_is_read(self):
        body = {"messages": [{"role": "user", "content": "never seen before " * 5}], "max_tokens": 2, "stream": True}
        data, comments = self.server.events("/v1/chat/completions", body)
        self.assertTrue(comments)
        self.assertEqual(data[-1], "[DONE]")


if __name__ == "__main__":
    unittest.main()
