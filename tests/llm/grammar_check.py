#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares grammars with Python's `re` and with `jsonschema`: what the mask lets through is valid, and what is valid is
let through.

usage: grammar_check.py CHAT_DRIVER
"""
import datetime
import itertools
import json
import random
import re
import statistics
import sys
import unicodedata

import jsonschema
from driver import Checks, Driver
from patterns import BROKEN, PATTERNS, UNSUPPORTED
from schemas import REFUSED, SCHEMAS, random_instance, random_schema

FORMATS = jsonschema.FormatChecker(["date", "email", "ipv4", "uuid"])
FORMATS.checks("time", ValueError)(lambda text: bool(datetime.time.fromisoformat(text)) or True)
FORMATS.checks("date-time", ValueError)(lambda text: bool(datetime.datetime.fromisoformat(text)))


def vocabulary(rng):
    """Every byte alone, the characters that JSON is made of in longer pieces, and pieces of characters."""
    tokens = [bytes([b]) for b in range(256)]
    for _ in range(1500):
        alphabet = rng.choice(["ab", "0123456789.-eE", '{}[]":, \n', "abcdefghijklmnopqrstuvwxyz", "aé€𝄞 ", 'a"\\un0', '"name": [{}]'])
        word = "".join(rng.choice(alphabet) for _ in range(rng.randrange(1, 9))).encode()
        cut = rng.randrange(len(word)) if rng.random() < 0.2 else 0
        tokens.append(word[cut:])
    tokens += [b"true", b"false", b"null", b'":', b'", "', b"2024-", b""]
    end = len(tokens)
    tokens.append(b"")
    closing = [tokens.index(t) for t in (b'"', b"}", b"]", b"0", b"@", b".", b"c", b"o", b"m", b"b", b"x", b"/")] + [end] * 5
    return tokens, end, closing


def check_patterns(driver, checks):
    for alphabet, patterns in PATTERNS:
        texts = ["".join(p) for n in range(6) for p in itertools.product(alphabet, repeat=n)]
        for pattern in patterns:
            driver.must("grammar", regex=pattern)
            answers = driver.must("match", texts=texts)["answers"]
            matching = {t for t in texts if re.fullmatch(pattern, t)}
            begun = {t[:i] for t in matching for i in range(len(t) + 1)}
            for text, answer in zip(texts, answers):
                if text in matching:
                    checks.equal(answer, "matches", f"{pattern!r} on {text!r}")
                else:
                    checks.true(answer != "matches", f"{pattern!r} must not match {text!r}")
                    checks.true(answer == "begins" or text not in begun, f"{pattern!r} must go on behind {text!r}")


def check_properties(driver, checks):
    """\\p, which Python's re does not have: by the categories that Python knows."""
    characters = "aAéÉßǅ1²½Ⅷ_-$€ \u0301中"
    for pattern, holds in ((r"\p{L}", "L"), (r"\p{Lu}", "Lu"), (r"[\p{N}\p{Sc}]", ("N", "Sc")), (r"\p{M}", "M")):
        driver.must("grammar", regex=pattern)
        for character, answer in zip(characters, driver.must("match", texts=list(characters))["answers"]):
            checks.equal(answer == "matches", unicodedata.category(character).startswith(holds), f"{pattern} on {character!r}")


def check_pattern_walks(driver, checks, closing):
    patterns = [r"\w+@\w+\.(com|org)", r"(\d{1,3}\.){3}\d{1,3}", r"[^\"]{3,9}", r".*", r"(ab|a(b|é)){2,30}", r"\s\S{1,40}", r"-?\d+(,\d{3})*"]
    for pattern in patterns + [p for _, group in PATTERNS for p in group]:
        driver.must("grammar", regex=pattern)
        for text in driver.must("walk", seed=1, count=10, length=12, closing=closing)["texts"]:
            if any(unicodedata.category(c) == "Cn" for c in text):  # younger than this Python
                continue
            checks.true(re.fullmatch(pattern, text), f"a walk through {pattern!r} gave {text!r}")


def valid(schema, text):
    try:
        value = json.loads(text)
    except ValueError:
        return False
    if value is None and isinstance(schema, dict) and schema.get("nullable"):  # OpenAPI's word, unknown to jsonschema
        return True
    return jsonschema.Draft202012Validator(schema, format_checker=FORMATS).is_valid(value)


def check_schema_walks(driver, checks, closing, rng):
    schemas = SCHEMAS + [random_schema(rng, 3) for _ in range(60)]
    for schema in schemas:
        driver.must("grammar", schema=json.dumps(schema), max_whitespace=rng.choice([0, 1, 24]))
        for text in driver.must("walk", seed=rng.getrandbits(60), count=8, length=25, closing=closing)["texts"]:
            checks.true(valid(schema, text), f"a walk through {json.dumps(schema)} gave {text!r}")


def spaced(value, rng):
    """JSON with white space wherever it may stand."""
    def gap():
        return "".join(rng.choice(" \n\t\r") for _ in range(rng.choice([0, 0, 1, 3])))
    if isinstance(value, dict):
        members = (gap() + "," + gap()).join(f"{json.dumps(k, ensure_ascii=False)}{gap()}:{gap()}{spaced(v, rng)}" for k, v in value.items())
        return "{" + gap() + members + gap() + "}"
    if isinstance(value, list):
        return "[" + gap() + (gap() + "," + gap()).join(spaced(v, rng) for v in value) + gap() + "]"
    return json.dumps(value, ensure_ascii=False)


def check_instances(driver, checks, rng):
    """Instances made for a schema are let through; those made for another one only if they are valid."""
    strangers = []
    for _ in range(120):
        schema = random_schema(rng, 3)
        driver.must("grammar", schema=json.dumps(schema))
        own = [random_instance(schema, rng) for _ in range(6)]
        texts = [spaced(v, rng) for v in own]
        for text, answer in zip(texts, driver.must("match", texts=texts)["answers"]):
            checks.true(valid(schema, text), f"the test's instance {text} of {json.dumps(schema)}")
            checks.equal(answer, "matches", f"{json.dumps(schema)} on {text!r}")
        for text, answer in zip(strangers, driver.must("match", texts=strangers)["answers"] if strangers else []):
            if answer == "matches":
                checks.true(valid(schema, text), f"{json.dumps(schema)} must not match {text!r}")
        strangers = (strangers + [json.dumps(v) for v in own])[-60:]


def check_json(driver, checks, closing, rng):
    driver.must("grammar")
    good = ['{"a": [1, -2.5e+10, true, null, "x"]}', "[]", "{}", '""', "0", "-0", "1E5", "[[[[1]]]]", '"\\u00e9\\ud83d\\ude00\\n\\/"', '{"":{}}', '"é€𝄞\x7f"']
    bad = ["01", "1.", ".5", "+1", "[1,]", "{,}", '{"a"}', '"\\x"', '"\n"', "tru", "nul", '"\\ud800"', "'a'", "[1 2]", "{1:2}", "1 ", " 1", "--1", "1e", '"\\u12"', "NaN", "1e1.5"]
    checks.equal(driver.must("match", texts=good)["answers"], ["matches"] * len(good), "JSON")
    for text, answer in zip(bad, driver.must("match", texts=bad)["answers"]):
        checks.true(answer != "matches", f"{text!r} is no JSON")
    for text in driver.must("walk", seed=3, count=60, length=40, closing=closing)["texts"]:
        try:
            json.loads(text)
        except ValueError as error:
            checks.true(False, f"a walk through JSON gave {text!r}: {error}")


def check_integers(driver, checks, rng):
    numbers = list(range(-130, 131)) + [999, 1000, 1001, 12345, -1000, -99999, 10**18]
    for _ in range(120):
        low, high = rng.choice([None, rng.randrange(-120, 120), rng.choice([-1000, 0, 1, 999])]), None
        if rng.random() < 0.7:
            high = (low or 0) + rng.choice([1, 2, 7, 90, 1234])
        schema = {"type": "integer"}
        if low is not None:
            schema[rng.choice(["minimum", "exclusiveMinimum"])] = rng.choice([low, low - 0.5])
        if high is not None:
            schema["maximum"] = high + rng.choice([0, 0.5])
            if rng.random() < 0.3:
                schema["exclusiveMaximum"] = high + 1
        texts = [str(n) for n in numbers]
        driver.must("grammar", schema=json.dumps(schema))
        for text, answer in zip(texts, driver.must("match", texts=texts)["answers"]):
            checks.equal(answer == "matches", valid(schema, text), f"{json.dumps(schema)} on {text}")


def check_refusals(driver, checks):
    for schema, keyword in REFUSED:
        answer = driver.ask("grammar", schema=schema if isinstance(schema, str) else json.dumps(schema))
        checks.true(keyword in answer.get("error", ""), f"{schema} must be refused with {keyword!r}: {answer}")
    for kind, patterns in (("invalid", BROKEN), ("unsupported", UNSUPPORTED)):
        for pattern in patterns:
            answer = driver.ask("grammar", regex=pattern)
            checks.equal(answer.get("kind"), kind, f"the regular expression {pattern!r}: {answer}")


def report_speed(driver, checks, rng):
    """A vocabulary of 49,152 tokens as a tokenizer makes it: all bytes, then words with and without a space."""
    words = {bytes([b]) for b in range(256)}
    syllables = ["an", "be", "con", "de", "er", "in", "ing", "ion", "ly", "ment", "o", "pre", "re", "s", "st", "te", "th", "un", "y"]
    while len(words) < 49150:
        word = "".join(rng.choice(syllables) for _ in range(rng.randrange(1, 4)))
        words.add(rng.choice(["", " ", " "]).encode() + rng.choice([word, word.title(), str(rng.randrange(1000)), "".join(rng.choice('{}[]":,. \n()<>=;/') for _ in range(3)), word + rng.choice(syllables)]).encode())
    tokens = sorted(words) + [b"", b""]
    driver.must("vocabulary", tokens=[list(t) for t in tokens], end_tokens=[len(tokens) - 1])
    text = '{"name": "Ada Lovelace", "age": 36, "tags": ["mathematics", "poetry"]}'
    schema = {"type": "object", "properties": {"name": {"type": "string"}, "age": {"type": "integer"}, "tags": {"type": "array", "items": {"type": "string"}}}, "required": ["name", "age", "tags"]}
    for title, grammar in (("schema", {"schema": json.dumps(schema)}), ("any JSON", {}), (".*", {"regex": ".*"})):
        driver.must("grammar", **grammar)
        first, known = driver.must("masks", text=text)["milliseconds"]
        print(f"masks of {len(tokens)} tokens, {title}: first {statistics.mean(first) * 1e3:.0f} µs (at most {max(first) * 1e3:.0f}), known {statistics.mean(known) * 1e3:.2f} µs")
        checks.true(statistics.mean(first) < 30, "a mask takes too long")


def main():
    driver, checks, rng = Driver(sys.argv[1]), Checks(), random.Random(11)
    tokens, end, closing = vocabulary(rng)
    driver.must("vocabulary", tokens=[list(t) for t in tokens], end_tokens=[end])
    check_patterns(driver, checks)
    check_pattern_walks(driver, checks, closing)
    check_json(driver, checks, closing, rng)
    check_integers(driver, checks, rng)
    check_schema_walks(driver, checks, closing, rng)
    check_instances(driver, checks, rng)
    check_properties(driver, checks)
    check_refusals(driver, checks)
    report_speed(driver, checks, rng)
    checks.finish()


if __name__ == "__main__":
    main()
