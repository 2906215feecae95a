#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Two builds of Pteron in turns on the software adapters: what a token and a prompt cost, each with a program of its own converter.

usage: before.py OLD/pteron [--rounds 10] [--adapters lavapipe,SwiftShader] [--programs MODEL.pte …] [--write docs/gpu.md]
  --programs  of these also a run on lavapipe; both builds must be able to read them
  --write     puts the tables into this file, between its marks <!-- software --> and <!-- /software -->

Medians of CPU time; each round asks one build and then the other, in an order that changes."""
import argparse
import datetime
import pathlib
import re
import statistics
import subprocess
import sys

from contestants import ADAPTERS, PTERON, ROOT, WORK, gguf_model, pteron_bench, run

QUALITIES = {"4 bits": ("--quant", "q4"), "lossless": ()}
# What is asked, of which program, where, and of which number the median is taken.
TOKEN = ("--prefill", "0", "--decode", "6", "--context", "32")
PROMPT = ("--prefill", "32", "--prompts", "1", "--decode", "1")
LONG = ("--prefill", "0", "--decode", "40", "--context", "32")  # most tokens are foreseen, as in an answer
LATE = ("--prefill", "0", "--decode", "6", "--context", "1000")


def questions(adapters):
    out = {}
    for adapter in adapters:
        for quality in QUALITIES:
            out[f"{adapter}, {quality}: a token, CPU-ms"] = (quality, adapter, TOKEN, "decode_cpu_ms")
            out[f"{adapter}, {quality}: a token of a prompt of 32, CPU-ms"] = (quality, adapter, PROMPT, "prefill_cpu_ms")
    if "lavapipe" in adapters:
        out["lavapipe, 4 bits: a token at context 1,000, CPU-ms"] = ("4 bits", "lavapipe", LATE, "decode_cpu_ms")
        out["lavapipe, 4 bits: the host outside of the wait, µs a token of 40"] = ("4 bits", "lavapipe", LONG, "host_us_per_token")
    return out


def programs(builds):
    out = {}
    for name, build in builds.items():
        for quality, options in QUALITIES.items():
            target = WORK / "before" / f"{name}-{quality.replace(' ', '-')}.pte"
            target.parent.mkdir(parents=True, exist_ok=True)
            if not target.exists() or target.stat().st_mtime < build.stat().st_mtime:
                run(build, "convert", gguf_model(), "-o", target, "-q", *options)
            out[name, quality] = target
    return out


def measure(builds, asked, rounds):
    """Of each question the numbers of each build, in the order of the rounds."""
    found = {question: {name: [] for name in builds} for question in asked}
    made = programs(builds)
    steps = {(quality, adapter, flags) for quality, adapter, flags, _ in asked.values()}
    for turn in range(rounds):
        for number, (quality, adapter, flags) in enumerate(sorted(steps)):
            print(f"round {turn + 1} of {rounds}: {number + 1} of {len(steps)} {adapter}, {quality}", file=sys.stderr)
            for name in sorted(builds, reverse=turn % 2 == 1):
                report = pteron_bench(made[name, quality], adapter, *flags, by=builds[name])
                for question, (*step, key) in asked.items():
                    if tuple(step) == (quality, adapter, flags):
                        found[question][name].append(report[key])
    return found


def measure_programs(builds, paths, rounds):
    """The same of programs that are there."""
    found = {f"lavapipe, {path.stem}: a run, CPU-ms": {name: [] for name in builds} for path in paths}
    for turn in range(rounds):
        for path, of in zip(paths, found.values()):
            print(f"round {turn + 1} of {rounds}: {path.stem}", file=sys.stderr)
            for name in sorted(builds, reverse=turn % 2 == 1):
                of[name].append(pteron_bench(path, "lavapipe", by=builds[name])["run_cpu_ms"])
    return found


def table(found):
    middles = {question: {name: statistics.median(numbers) for name, numbers in of.items()} for question, of in found.items()}
    lines = ["| | before | now | now ÷ before |", "|---|---|---|---|"]
    for question, of in middles.items():
        lines.append(f"| {question} | {of['before']:.4g} | {of['now']:.4g} | {of['now'] / of['before']:.2f} |")
    late = middles.get("lavapipe, 4 bits: a token at context 1,000, CPU-ms")
    if late:
        early = middles["lavapipe, 4 bits: a token, CPU-ms"]
        before, now = (late[name] / early[name] for name in ("before", "now"))
        lines.append(f"| lavapipe, 4 bits: a token at context 1,000 ÷ at 32 | {before:.2f} | {now:.2f} | {now / before:.2f} |")
    return "\n".join(lines)


def commit_of(build):
    return re.search(r"\b[0-9a-f]{8,}\b", run(build, "--version"))[0][:8]


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1].split("\n\n")[0])
    parser.add_argument("old", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--adapters", default=",".join(ADAPTERS))
    parser.add_argument("--programs", type=pathlib.Path, nargs="*", default=[])
    parser.add_argument("--write", type=pathlib.Path)
    given = parser.parse_args()
    subprocess.run([ROOT / "tools" / "setup", "model", "chromium"], check=True)
    builds = {"before": given.old, "now": PTERON}
    found = measure(builds, questions(given.adapters.split(",")), given.rounds)
    found |= measure_programs(builds, given.programs, given.rounds)
    text = (f"Medians of {given.rounds} rounds in turns on {datetime.date.today()}; before is commit {commit_of(given.old)}, now is "
            f"{commit_of(PTERON)}.\n\n{table(found)}\n")
    print(text)
    if given.write:
        page = given.write.read_text()
        given.write.write_text(re.sub(r"(<!-- software -->\n).*(<!-- /software -->)", lambda m: m[1] + text + m[2], page, flags=re.S))


if __name__ == "__main__":
    main()
