# SPDX-License-Identifier: BSD-3-Clause
"""Perplexity of a GGUF model in torch (dequantised) and of programs that were converted from it, on the same windows of
the same text: 20 kB of Lewis Carroll's "Alice's Adventures in Wonderland" (1865).

usage: perplexity.py MODEL.gguf --pteron PATH [--quant lossless q4] [--kv f32 f16] [--window 256] [--windows N] [--json]

Programs are converted with --all-logits, so that one call gives the logits of a whole window. Needs the groups export
and llm of pins.txt.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import time

import gguf
import numpy as np
import tokenizers
from tokenizers import decoders, models, pre_tokenizers

root = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(root / "tests" / "llm"))
from gguf_model import Model, field  # noqa: E402


def tokenizer_of(reader):
    """Byte-level BPE as in the file's metadata; digits stand alone, as SmolLM's do."""
    kind, pre = field(reader, "tokenizer.ggml.model"), field(reader, "tokenizer.ggml.pre")
    if (kind, pre) != ("gpt2", "smollm"):
        sys.exit(f"perplexity.py knows the tokenizer gpt2/smollm, not {kind}/{pre}")
    vocabulary = {token: i for i, token in enumerate(field(reader, "tokenizer.ggml.tokens"))}
    merges = [tuple(merge.split(" ")) for merge in field(reader, "tokenizer.ggml.merges")]
    tokenizer = tokenizers.Tokenizer(models.BPE(vocabulary, merges))
    byte_level = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Digits(individual_digits=True), byte_level])
    tokenizer.decoder = decoders.ByteLevel()
    return tokenizer


def negative_log_likelihoods(logits, tokens):
    """Of tokens 1… given what precedes them."""
    logits = logits[:-1].astype(np.float64)
    highest = logits.max(-1, keepdims=True)
    log_sum = np.log(np.exp(logits - highest).sum(-1)) + highest[:, 0]
    return log_sum - logits[np.arange(len(logits)), tokens[1:]]


class Program:
    """A converted model that `pteron run` executes."""

    def __init__(self, pteron, model, quant, window, folder):
        self.pteron, self.folder = pteron, folder
        self.path = folder / f"{quant}.pte"
        arguments = ["--quant", quant, "--all-logits", "--max-context", window, "--max-seq-len", window]
        self.run("convert", model, "-o", self.path, *arguments)

    def run(self, *arguments):
        subprocess.run([self.pteron, *map(str, arguments)], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)

    def logits(self, tokens, kv):
        np.save(self.folder / "tokens.npy", np.array([tokens], dtype=np.int64))
        np.save(self.folder / "position.npy", np.array([0], dtype=np.int64))
        inputs = ["-i", self.folder / "tokens.npy", "-i", self.folder / "position.npy"]
        self.run("run", self.path, *inputs, "-o", self.folder, "--kv", kv, "-q")
        return np.load(self.folder / "output_0.npy")[0]


def measure(runners, windows):
    results = {name: {"nll": [], "largest_difference": 0.0, "seconds": 0.0} for name in runners}
    for number, tokens in enumerate(windows):
        reference = None
        for name, run in runners.items():
            start = time.monotonic()
            logits = np.asarray(run(tokens))
            result = results[name]
            result["seconds"] += time.monotonic() - start
            result["nll"].append(negative_log_likelihoods(logits, tokens))
            reference = logits if reference is None else reference
            result["largest_difference"] = max(result["largest_difference"], float(np.abs(logits - reference).max()))
        so_far = ", ".join(f"{name} {perplexity(result):.3f}" for name, result in results.items())
        print(f"window {number + 1} of {len(windows)}: {so_far}", file=sys.stderr, flush=True)
    return results


def perplexity(result):
    return float(np.exp(np.concatenate(result["nll"]).mean()))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("--pteron", required=True, help="the command line program")
    parser.add_argument("--quant", nargs="*", default=["lossless", "q4"])
    parser.add_argument("--kv", nargs="*", default=["f32"], help="types of the KV caches: f32, f16")
    parser.add_argument("--window", type=int, default=256)
    parser.add_argument("--windows", type=int, help="only so many, from the start")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()

    text = (root / "bench" / "data" / "alice.txt").read_text()
    tokens = tokenizer_of(gguf.GGUFReader(options.model)).encode(text).ids
    windows = [tokens[i : i + options.window] for i in range(0, len(tokens) - 1, options.window)][: options.windows]
    model = Model(options.model)
    with tempfile.TemporaryDirectory() as folder:
        runners = {"torch, dequantised": lambda window: model.logits(window).numpy()}
        for quant in options.quant:
            program = Program(options.pteron, options.model, quant, options.window, pathlib.Path(folder))
            for kv in options.kv:
                runners[f"pteron, {quant}, {kv} caches"] = lambda window, program=program, kv=kv: program.logits(window, kv)
        results = measure(runners, windows)
    first = perplexity(next(iter(results.values())))
    rows = [
        {"name": name, "perplexity": perplexity(r), "relative": perplexity(r) / first - 1,
         "largest_logit_difference": r["largest_difference"], "seconds": r["seconds"]}
        for name, r in results.items()
    ]
    if options.json:
        print(json.dumps({"tokens": sum(map(len, windows)), "window": options.window, "results": rows}, indent=1))
        return
    print(f"{sum(map(len, windows))} tokens in windows of {options.window}")
    for row in rows:
        print("{name:32} {perplexity:8.4f} ({relative:+.3%})  largest logit difference {largest_logit_difference:.2e}"
              "  {seconds:.0f} s".format(**row))


if __name__ == "__main__":
    main()
