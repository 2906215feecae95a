# SPDX-License-Identifier: BSD-3-Clause
"""Perplexity of a GGUF model in torch (dequantised) and of programs that were converted from it, on the same windows of
the same text: 20 kB of Lewis Carroll's "Alice's Adventures in Wonderland" (1865).

usage: perplexity.py MODEL.gguf --pteron PATH [--quant lossless q4] [--kv f32 f16] [--fast-math none int8] [--window 256] [--windows N] [--json | --markdown FILE]

Programs are converted with --all-logits, so that one call gives the logits of a whole window. --markdown writes the table
between the lines <!-- perplexity --> and <!-- /perplexity --> of a file. Needs the groups test, export and llm of pins.txt.
"""
import argparse
import functools
import itertools
import json
import pathlib
import subprocess
import sys
import tempfile
import time

import gguf
import numpy as np

root = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(root / "tests" / "llm"))
from gguf_model import Model  # noqa: E402
from gguf_tokenizer import tokenizer_of  # noqa: E402


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

    def logits(self, tokens, kv, fast_math):
        np.save(self.folder / "tokens.npy", np.array([tokens], dtype=np.int64))
        np.save(self.folder / "position.npy", np.array([0], dtype=np.int64))
        inputs = ["-i", self.folder / "tokens.npy", "-i", self.folder / "position.npy"]
        self.run("run", self.path, *inputs, "-o", self.folder, "-q", *([] if kv == "f32" else ["--kv", kv]),
                 *([] if fast_math == "none" else ["--fast-math", fast_math]))
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


def write_markdown(path, mark, rows, tokens, window):
    lines = [f"{tokens} tokens, read in windows of {window}; the first token of a window is not predicted.", "",
             "| | perplexity | against torch | largest difference of a logit |", "|---|---|---|---|"]
    for row in rows:
        lines.append("| {name} | {perplexity:.3f} | {relative:+.3%} | {largest_logit_difference:.1e} |".format(**row))
    before, begin, rest = path.read_text().partition(f"<!-- {mark} -->\n")
    _, end, behind = rest.partition(f"<!-- /{mark} -->")
    if not end:
        sys.exit(f"{path} has no lines <!-- {mark} --> and <!-- /{mark} -->")
    path.write_text(before + begin + "\n".join(lines) + "\n" + end + behind)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("--pteron", required=True, help="the command line program")
    parser.add_argument("--quant", nargs="*", default=["lossless", "q4"])
    parser.add_argument("--kv", nargs="*", default=["f32"], help="types of the KV caches")
    parser.add_argument("--fast-math", nargs="*", default=["none"], help="what 4-bit weights multiply: exact, or in 8 bits")
    parser.add_argument("--window", type=int, default=256)
    parser.add_argument("--windows", type=int, help="only so many, from the start")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--markdown", type=pathlib.Path, metavar="FILE")
    parser.add_argument("--mark", default="perplexity", help="where in FILE: between <!-- MARK --> and <!-- /MARK -->")
    options = parser.parse_args()

    text = (root / "bench" / "data" / "alice.txt").read_text()
    tokens = tokenizer_of(gguf.GGUFReader(options.model)).encode(text).ids
    windows = [tokens[i : i + options.window] for i in range(0, len(tokens) - 1, options.window)][: options.windows]
    model = Model(options.model)
    with tempfile.TemporaryDirectory() as folder:
        runners = {"torch, dequantised": lambda window: model.logits(window).numpy()}
        for quant in options.quant:
            program = Program(options.pteron, options.model, quant, options.window, pathlib.Path(folder))
            for kv, fast_math in itertools.product(options.kv, options.fast_math):
                name = f"pteron, {quant}" + (f", {kv} caches" if len(options.kv) > 1 else "")
                name += "" if fast_math == "none" else f", --fast-math {fast_math}"
                runners[name] = functools.partial(program.logits, kv=kv, fast_math=fast_math)
        results = measure(runners, windows)
    first = perplexity(next(iter(results.values())))
    rows = [
        {"name": name, "perplexity": perplexity(r), "relative": perplexity(r) / first - 1,
         "largest_logit_difference": r["largest_difference"], "seconds": r["seconds"]}
        for name, r in results.items()
    ]
    count = sum(map(len, windows))
    if options.markdown:
        write_markdown(options.markdown, options.mark, rows, count, options.window)
    if options.json:
        print(json.dumps({"tokens": count, "window": options.window, "results": rows}, indent=1))
        return
    print(f"{count} tokens in windows of {options.window}")
    for row in rows:
        print("{name:32} {perplexity:8.4f} ({relative:+.3%})  largest logit difference {largest_logit_difference:.2e}"
              "  {seconds:.0f} s".format(**row))


if __name__ == "__main__":
    main()
