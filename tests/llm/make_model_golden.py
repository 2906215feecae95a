# SPDX-License-Identifier: BSD-3-Clause
"""Writes tests/data/smollm2: what SmolLM2-135M-Instruct, dequantised, says in torch.

usage: make_model_golden.py MODEL.gguf OUTPUT_FOLDER      (needs the groups test, export and llm of pins.txt)

logits      of some calls: every 61st logit of the last position, and the tokens with the ten highest logits
questions   greedy answers: tokens up to the first one that torch decides by a gap of 0.05 or less, at most 24
"""
import json
import pathlib
import sys

import numpy as np

from gguf_model import Model, field
from gguf_tokenizer import conversation, tokenizer_of

STRIDE = 61
# "The capital of France is" in one call, then " Paris. It" token by token, then a chunk: " is a city of light"
CALLS = [[504, 3575, 282, 4649, 314], [7042], [30], [657], [314, 253, 2240, 282, 1420]]
LONGEST = 24
GAP = 0.05
QUESTIONS = [
    "What is the capital of France?",
    "How many days are in a week?",
    "What is the opposite of hot?",
    "Name three primary colors.",
    "What do bees make?",
    "Who wrote Romeo and Juliet?",
    "What is 2 + 2?",
    "Which planet is closest to the sun?",
    "What is the largest ocean on Earth?",
    "What gas do plants take in from the air?",
    "What is photosynthesis?",
    "What is the chemical symbol for water?",
    "How many legs does a spider have?",
    "What is the capital of Italy?",
    "Why is the sky blue?",
    "What is gravity?",
    "What is a computer?",
    "What is the freezing point of water in degrees Celsius?",
    "Give me a synonym for 'happy'.",
    "What does a Python list hold? ¿Y en español?",
]


def write_logits(model, output):
    logits = model.logits(sum(CALLS, []))[np.cumsum([len(call) for call in CALLS]) - 1]
    logits[:, ::STRIDE].contiguous().numpy().astype("<f4").tofile(output / "logits.bin")
    manifest = {"calls": CALLS, "stride": STRIDE, "top": logits.topk(10).indices.tolist()}
    (output / "logits.json").write_text(json.dumps(manifest, indent=1) + "\n")


def greedy(model, prompt, end):
    """The tokens, and why there are no more: "end", "unsure" or "length"."""
    answer = []
    while len(answer) < LONGEST:
        best = model.logits(prompt + answer)[-1].topk(2)
        if best.values[0] - best.values[1] <= GAP:
            return answer, "unsure"
        if int(best.indices[0]) == end:
            return answer, "end"
        answer.append(int(best.indices[0]))
    return answer, "length"


def write_questions(model, output):
    tokenizer = tokenizer_of(model.reader)
    end = field(model.reader, "tokenizer.ggml.eos_token_id")
    rows = []
    for question in QUESTIONS:
        prompt = tokenizer.encode(conversation(model.reader, [{"role": "user", "content": question}])).ids
        answer, stopped = greedy(model, prompt, end)
        print(question, "->", tokenizer.decode(answer), f"({len(answer)} tokens, {stopped})", flush=True)
        rows.append(json.dumps({"question": question, "prompt": prompt, "answer": answer, "stopped": stopped}))
    (output / "questions.json").write_text("[\n" + ",\n".join(rows) + "\n]\n")


if __name__ == "__main__":
    model, output = Model(sys.argv[1]), pathlib.Path(sys.argv[2])
    output.mkdir(parents=True, exist_ok=True)
    write_logits(model, output)
    write_questions(model, output)
