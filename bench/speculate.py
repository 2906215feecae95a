#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What drafts gain where a text repeats itself, and what they cost where it does not: the same greedy answers with and without.

usage: bench/speculate.py [--tokens N] [--turns N] [--keep]

On lavapipe, with SmolLM2 in 4 bits. The two take turns; the median of their CPU time for a token counts. Needs `./run` to have been
there for the program and the model. --keep writes the table into docs/serving.md.
"""
import argparse
import json
import statistics

from contestants import MODELS, PTERON, ROOT, convert, environment, gguf_model, run

CODE = "def area(width, height):\n    return width * height\n\n\ndef volume(width, height, depth):\n    return width * height * depth\n"
TEXTS = {
    "a pattern that goes on": "red, green, blue, red, green, blue, red, green, blue, red,",
    "code to be copied": f"Here is a file:\n```\n{CODE}```\nHere is the same file again:\n```\n",
    "a letter": "Dear Anna,\n\nthank you for your letter. Last week we went to the sea, and",
    "an explanation": "Gravity is the force by which a planet draws objects toward its centre. It",
}


def answer(model, text, tokens, *more):
    options = ("--raw", "--prompt", text, "--max-tokens", tokens, "--ignore-eos", "--json", "-q", "--no-tuning", *more)
    return json.loads(run(PTERON, "generate", model, *options, env=environment("lavapipe")))


def compare(model, text, tokens, turns):
    plain, drafted = [], []
    for _ in range(turns):
        plain.append(answer(model, text, tokens))
        drafted.append(answer(model, text, tokens, "--speculate"))
    cost = {name: statistics.median(one["decode_cpu_ms"] for one in some) for name, some in (("plain", plain), ("drafted", drafted))}
    last = drafted[-1]
    return {**cost, "same": last["token_ids"] == plain[-1]["token_ids"], "tokens_per_run": tokens / last["runs"],
            "held": last["held_tokens"], "tried": last["drafted_tokens"]}  # fmt: skip


def table(rows):
    head = "| text | CPU-ms for a token | with drafts | | tokens per run | drafts that held |\n|---|---|---|---|---|---|\n"
    return head + "".join(
        f"| {name} | {row['plain']:.0f} | {row['drafted']:.0f} | {row['drafted'] / row['plain']:.2f} × | {row['tokens_per_run']:.2f} | "
        f"{row['held']} of {row['tried']} |\n"
        for name, row in rows.items()
    )


def keep(text):
    page = ROOT / "docs" / "serving.md"
    begin, end = "<!-- numbers of bench/speculate.py -->\n", "<!-- end of numbers of drafts -->"
    before, _, rest = page.read_text().partition(begin)
    page.write_text(before + begin + text + end + rest.partition(end)[2])


def main():
    parser = argparse.ArgumentParser(description="What drafts gain and cost.")
    parser.add_argument("--tokens", type=int, default=64)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--keep", action="store_true")
    given = parser.parse_args()
    model = convert(gguf_model(), MODELS / "smollm2-q4-all-logits.pte", "--quant", "q4", "--all-logits")
    rows = {}
    for name, text in TEXTS.items():
        rows[name] = compare(model, text, given.tokens, given.turns)
        print(f"{name}: {json.dumps(rows[name])}", flush=True)
    print(table(rows))
    if given.keep:
        keep(table(rows))


if __name__ == "__main__":
    main()
