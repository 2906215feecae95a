#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares chat templates with the jinja2 package, set up as `transformers` sets it up.

usage: templates_check.py CHAT_DRIVER TEMPLATE_DIR
"""
import datetime
import functools
import json
import os
import pathlib
import random
import sys

import jinja2
import jinja2.ext
import jinja2.nodes
from conversations import CONVERSATIONS, TOOLS, random_conversation
from driver import Checks, Driver
from jinja2.sandbox import ImmutableSandboxedEnvironment
from snippets import CONTEXT, REFUSED, SNIPPETS, WHITESPACE

NOW = datetime.datetime(2025, 3, 9, 14, 5, 7)
SECONDS = int(NOW.replace(tzinfo=datetime.timezone.utc).timestamp())


class GenerationBlock(jinja2.ext.Extension):
    tags = {"generation"}

    def parse(self, parser):
        line = next(parser.stream).lineno
        body = parser.parse_statements(["name:endgeneration"], drop_needle=True)
        return jinja2.nodes.CallBlock(self.call_method("_render"), [], [], body).set_lineno(line)

    def _render(self, caller):
        return caller()


def environment():
    def raise_exception(message):
        raise jinja2.TemplateError(message)

    def tojson(x, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
        return json.dumps(x, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)

    env = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[GenerationBlock, jinja2.ext.loopcontrols]
    )
    env.filters["tojson"] = tojson
    env.globals["raise_exception"] = raise_exception
    env.globals["strftime_now"] = NOW.strftime
    return env


ENVIRONMENT = environment()
UNKNOWN_NAME = "an unknown filter or test"


@functools.lru_cache(64)
def compiled(template):
    return ENVIRONMENT.from_string(template)


def reference(template, messages, tools=None, variables=None, add_generation_prompt=True, **tokens):
    """The text, or None if jinja2 refuses."""
    try:
        return compiled(template).render(
            messages=messages,
            tools=tools,
            documents=None,
            add_generation_prompt=add_generation_prompt,
            **{**tokens, **(variables or {})},
        )
    except jinja2.TemplateAssertionError:  # an unknown filter, also where it is never reached
        return UNKNOWN_NAME
    except Exception:  # Python's own errors are refusals too
        return None


def ours(driver, template, messages, tools=None, variables=None, **rest):
    request = {"template": template, "messages": json.dumps(messages), **rest}
    if tools is not None:
        request["tools"] = json.dumps(tools)
    if variables:
        request["variables"] = json.dumps(variables)
    return driver.ask("render", local_time=SECONDS, **request)


def printable(text):
    """Whether it is text that a template is meant to give: no address of a Python object, no range."""
    return "object at 0x" not in text.lower() and "range(" not in text.lower()


def check_templates(driver, checks, folder, rng):
    variations = [
        {},
        {"add_generation_prompt": False},
        {"variables": {"enable_thinking": False}},
        {"variables": {"enable_thinking": True, "tools_in_user_message": False}},
        {"tools": TOOLS},
        {"tools": TOOLS, "variables": {"tools_in_user_message": False, "date_string": "1 May"}},
        {"tools": [], "variables": {"builtin_tools": ["code_interpreter", "search", "weather"]}},
    ]
    conversations = CONVERSATIONS + [random_conversation(rng) for _ in range(60)]
    for path in sorted(folder.glob("*.jinja")):
        template = path.read_text()
        rendered = 0
        for number, messages in enumerate(conversations):
            for variation in variations:
                inputs = {"bos_token": "<s>", "eos_token": "</s>", **variation}
                wanted = reference(template, messages, **inputs)
                got = ours(driver, template, messages, **inputs)
                about = f"{path.name}, conversation {number}, {variation} {json.dumps(messages)[:300]} {got.get('error')}"
                checks.equal(got.get("text"), wanted, about)
                rendered += wanted is not None
        checks.true(rendered > 50, f"{path.name} rendered only {rendered} conversations")


def check_goldens(checks, folder):
    """The goldens of the unit tests are jinja2's own output."""
    for golden in json.loads((folder / "golden.json").read_text()):
        inputs = {key: golden[key] for key in ("messages", "tools", "variables")}
        wanted = reference((folder / golden["template"]).read_text(), bos_token="<s>", eos_token="</s>", **inputs)
        checks.equal(golden["text"], wanted, f"the golden of {golden['template']}")
        checks.equal(golden["local_time"], SECONDS, "the time of a golden")


def check_snippets(driver, checks):
    for snippet in SNIPPETS + WHITESPACE:
        wanted = reference(snippet, [], variables=CONTEXT)
        got = ours(driver, snippet, [], variables=CONTEXT)
        if got.get("kind") == "unsupported" and wanted is not None and not printable(wanted):
            continue
        if wanted == UNKNOWN_NAME:
            wanted = None
        checks.equal(got.get("text"), wanted, f"{snippet!r} {got.get('error')}")
        if wanted is None and "error" in got:
            checks.true("line " in got["error"], f"{snippet!r} must name the line: {got['error']}")


def check_refusals(driver, checks):
    """What jinja2 can do and we can't must be an error that says so."""
    for snippet, word in REFUSED:
        got = ours(driver, snippet, [], variables=CONTEXT)
        checks.true(word in got.get("error", ""), f"{snippet!r} must be refused with {word!r}: {got}")
        checks.true("line " in got.get("error", ""), f"{snippet!r} must name the line: {got}")


def check_mutations(driver, checks, rng):
    """Broken snippets: if jinja2 renders one, we give the same text or say that it is not supported."""
    alphabet = ["{{", "}}", "{%", "%}", "|", "~", " ", "'", "(", ")", "[", "]", "-", "in ", "not ", "if ", "else ", "x", "."]
    unsupported = 0
    for _ in range(40000 if os.environ.get("PTERON_FULL") else 1500):
        text = rng.choice(SNIPPETS + WHITESPACE)
        for _ in range(rng.randrange(1, 3)):
            at = rng.randrange(len(text) + 1)
            action = rng.randrange(3)
            if action == 0:
                text = text[:at] + text[at + rng.randrange(1, 4) :]
            elif action == 1:
                text = text[:at] + rng.choice(alphabet) + text[at:]
            else:
                other = rng.choice(SNIPPETS)
                cut = rng.randrange(len(other) + 1)
                text = text[:at] + other[cut : cut + 8] + text[at:]
        if "**" in text or "range" in text:  # Python's integers have no end
            continue
        wanted = reference(text, [], variables=CONTEXT)
        if wanted == UNKNOWN_NAME:
            continue
        got = ours(driver, text, [], variables=CONTEXT)
        if wanted is not None and got.get("kind") == "unsupported":
            unsupported += 1
            continue
        checks.equal(got.get("text"), wanted, f"mutated {text!r} {got.get('error')}")
    print(f"{unsupported} mutations were not supported")


def main():
    driver, checks, rng = Driver(sys.argv[1]), Checks(), random.Random(5)
    check_snippets(driver, checks)
    check_refusals(driver, checks)
    check_goldens(checks, pathlib.Path(sys.argv[2]))
    check_templates(driver, checks, pathlib.Path(sys.argv[2]), rng)
    check_mutations(driver, checks, rng)
    checks.finish()


if __name__ == "__main__":
    main()
