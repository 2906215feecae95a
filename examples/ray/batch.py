# SPDX-License-Identifier: BSD-3-Clause
"""Answers or embeds every line of a file, with several workers of Ray Data.

usage: batch.py MODEL.pte PROMPTS.txt OUT_FOLDER [--tokenizer FILE] [--workers N] [--max-tokens N]

A language model adds a column `answer`, an encoder a column `embedding`. Each worker loads the model once; on a cluster they spread
over its machines. Needs the packages pteron and ray[data].
"""
import argparse
import os

import pteron
import ray


class Worker:
    def __init__(self, model: str, tokenizer: str | None, max_tokens: int) -> None:
        self.llm = pteron.LLM(model, tokenizer=tokenizer)
        self.max_tokens = max_tokens

    def __call__(self, batch: dict) -> dict:
        texts = [str(text) for text in batch["text"]]
        if self.llm.width:
            batch["embedding"] = self.llm.embed(texts)
        else:
            batch["answer"] = [answer.text for answer in self.llm.generate(texts, max_tokens=self.max_tokens)]
        return batch


def main() -> None:
    parser = argparse.ArgumentParser(description="Answers or embeds every line of a file.")
    parser.add_argument("model")
    parser.add_argument("prompts")
    parser.add_argument("out")
    parser.add_argument("--tokenizer")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--max-tokens", type=int, default=64)
    given = parser.parse_args()
    lines = ray.data.read_text(given.prompts)
    done = lines.map_batches(
        Worker,
        fn_constructor_args=(os.path.abspath(given.model), given.tokenizer and os.path.abspath(given.tokenizer), given.max_tokens),
        batch_size=16,
        compute=ray.data.ActorPoolStrategy(size=given.workers),
        num_cpus=0.25,  # the GPU works; reading and writing need processors as well
    )
    done.write_json(given.out)


if __name__ == "__main__":
    main()
