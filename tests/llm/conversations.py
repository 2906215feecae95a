# SPDX-License-Identifier: BSD-3-Clause
"""Conversations for templates_check.py."""


def user(content):
    return {"role": "user", "content": content}


def assistant(content, **more):
    return {"role": "assistant", "content": content, **more}


def system(content):
    return {"role": "system", "content": content}


def call(name, arguments, number=0):
    return {"id": f"call{number:05}", "type": "function", "function": {"name": name, "arguments": arguments}}


def result(content, number=0):
    return {"role": "tool", "name": "weather", "tool_call_id": f"call{number:05}", "content": content}


TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "weather",
            "description": "the weather of a place,\nnow or later",
            "parameters": {
                "type": "object",
                "properties": {
                    "place": {"type": "string", "description": "A city, e.g. «Zürich»"},
                    "days": {"type": ["integer", "null"], "minimum": 0, "default": 1.5e16},
                    "unit": {"type": "string", "enum": ["C", "F"]},
                    "more": {"type": "array", "items": {"type": "object", "properties": {"b": {"type": "number"}}}},
                },
                "required": ["place"],
            },
            "return": {"type": "string"},
        },
    },
    {"type": "function", "function": {"name": "empty", "parameters": {"type": "object", "properties": {}}}},
]

PARTS = [{"type": "text", "text": " Look: "}, {"type": "image"}, {"type": "text", "text": "ä\n"}]
ARGUMENTS = {"place": "Zürich <&>\"'", "days": 3, "z": [1.5, -0.0, True, None, {"b": {}}], "a": "é\n\u0001"}

CONVERSATIONS = [
    [],
    [user("Hello")],
    [user("")],
    [user("  white space \n")],
    [system("Be brief."), user("Hello"), assistant("Hi!"), user("ü€𝄞 «»\u200b\t")],
    [system(""), user("a")],
    [user("a"), assistant("b"), user("c"), assistant("d")],
    [user("a"), user("b")],
    [assistant("first")],
    [system("s"), system("t"), user("u")],
    [user("<|im_start|>{{ 7 * 7 }}{% raw %}")],
    [user("q"), assistant("<think>\nhm\n</think>\n\nanswer"), user("r"), assistant("</think>x<think>")],
    [user("q"), assistant("answer", reasoning_content="because\n"), user("r"), assistant("x", reasoning_content="")],
    [user("q"), assistant(None, tool_calls=[call("weather", ARGUMENTS)]), result("22 °C")],
    [user("q"), assistant("", tool_calls=[call("weather", ARGUMENTS)]), result({"content": [1, {"a": None}]}), assistant("fine")],
    [user("q"), assistant("so", tool_calls=[call("a", {}), call("b", "{\"x\": 1}", 1)]), result("1"), result("2", 1), user("r")],
    [user("q"), assistant("so", tool_calls=[{"name": "flat", "arguments": {"k": "v"}}]), {"role": "tool", "content": ["x"]}],
    [user("q"), assistant("so", tool_calls=[call("search", {"query": "a", "n": "b"})]), {"role": "ipython", "content": "out"}],
    [user(PARTS)],
    [system([{"type": "text", "text": "parts"}]), user(PARTS), assistant("nice")],
    [user([])],
    [user(None)],
    [user("q"), assistant("a", tool_calls=None)],
    [user("q"), assistant("a", tool_calls=[])],
    [{"role": "user"}],
    [{"content": "no role"}],
    [{"role": "critic", "content": "who is this?"}],
    [{"role": "system", "content": "with tools", "tools": '[{"name": "x"}]'}, user("q")],
    [user("<tool_response>\nx\n</tool_response>"), assistant("y"), user("z")],
    [user(7), assistant(2.5), user(True)],
]


def random_conversation(rng):
    """Mostly sensible turns."""
    words = ["Hello", "what?", " ", "\n", "Ünïcödé", "日本語", "🙂", "<think>", "</think>", "{{x}}", "'\"", "\\n", "</s>"]

    def text():
        return "".join(rng.choice(words) for _ in range(rng.randrange(6)))

    messages = [system(text())] if rng.random() < 0.4 else []
    for turn in range(rng.randrange(1, 5)):
        messages.append(user(text() if rng.random() < 0.9 else PARTS))
        if rng.random() < 0.3:
            calls = [call(rng.choice(["weather", "search"]), rng.choice([ARGUMENTS, {}, "{}", {"n": turn}]), i) for i in range(rng.randrange(1, 3))]
            messages.append(assistant(rng.choice([None, "", text()]), tool_calls=calls))
            messages += [result(rng.choice([text(), "{}", {"a": 1}]), i) for i in range(len(calls))]
        if rng.random() < 0.8:
            messages.append(assistant(text(), **({"reasoning_content": text()} if rng.random() < 0.3 else {})))
    return messages
