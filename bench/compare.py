#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Measures Pteron beside other runtimes on this machine, in turns, and writes docs/benchmarks.md with its plots.

usage: compare.py [--quick] [--rounds 3] [--prompt 64] [--minutes 18] [--without NAME ...] [--parts NAME ...]
                  [--report-only] [--docs FOLDER]

Sets up what it needs under build/ (GROUPS of pins.txt); that time does not count.
The numbers go to docs/benchmarks/results.json after each step, from which --report-only writes the page again. What was not
measured is left out of the page.
"""
import argparse
import datetime
import json
import os
import pathlib
import platform
import statistics
import subprocess
import sys
import time

import growth
import report
from contestants import MODELS, ROOT, WORK, contestants, has_kernels, middle, prepare, pteron_bench, run
from peers.kernels import KERNELS

GROUPS = ["build", "chromium", "model", "export", "gguf", "bench"]
PROMPT = json.loads((ROOT / "bench" / "data" / "prompt.json").read_text())


class Progress:
    """Steps that are known in advance, one after the other, with a bar. What fails is noted and left out from then on."""

    def __init__(self, minutes):
        self.steps, self.failed, self.running = [], {}, {}
        self.start, self.minutes = time.monotonic(), minutes

    def add(self, what, work, who=None, optional=False):
        self.steps.append((what, work, who, optional))

    def run(self, after_step):
        for number, (what, work, who, optional) in enumerate(self.steps):
            seconds = time.monotonic() - self.start
            if who in self.failed or (optional and seconds > 60 * self.minutes):
                continue
            self.show(number, seconds, what)
            try:
                work()
            except (RuntimeError, OSError, KeyError, ValueError, subprocess.SubprocessError) as error:
                self.failed[who or what] = str(error).replace(f"{ROOT}/", "")
                print(f"\n{who or what} failed: {error}", file=sys.stderr)
            after_step()
        self.show(len(self.steps), time.monotonic() - self.start, "done")
        print(file=sys.stderr)

    def show(self, number, seconds, what):
        filled = 24 * number // max(len(self.steps), 1)
        line = f"[{'█' * filled}{'·' * (24 - filled)}] {seconds // 60:2.0f}:{seconds % 60:02.0f} {what}"
        ending = "\r\033[K" if sys.stderr.isatty() else ""
        print(ending + line, end="" if ending else "\n", file=sys.stderr, flush=True)


def spread(costs):
    """The median, lowest and highest of what repeated turns cost."""
    out = {}
    for key in ("wall_ms", "cpu_ms"):
        values = [cost[key] for cost in costs]
        out[key] = {"median": statistics.median(values), "low": min(values), "high": max(values)}
    return out


def add_own(progress, options):
    """Pteron alone: what its targets are about. In turns, because some are ratios."""
    own = {}
    decode = 4 if options.quick else 24

    def measure(name, program, adapter, *flags, **variables):
        flags = ("--decode", decode, *flags)
        work = lambda: own.setdefault(name, []).append(pteron_bench(MODELS / program, adapter, *flags, **variables))
        progress.add(f"Pteron alone: {name}", work)

    def measure_both(adapter):
        flags = ("--prompts", 1, "--prefill", 8 if options.quick else 64)
        measure(f"q4, {adapter}", "smollm2-q4.pte", adapter, *flags)
        measure(f"lossless, {adapter}", "smollm2.pte", adapter, *flags)

    cache = {"MESA_SHADER_CACHE_DIR": str(WORK / f"shader-cache-{os.getpid()}")}
    measure("first load", "smollm2-q4.pte", "lavapipe", "--prefill", 0, **cache)
    measure("second load", "smollm2-q4.pte", "lavapipe", "--prefill", 0, **cache)
    for _ in range(options.rounds):
        measure_both("lavapipe")
        for context in (32, 1000):
            for kv in ("f32", "f16"):
                flags = ("--prefill", 0, "--context", context, "--kv", kv)
                measure(f"q4, context {context}, {kv}", "smollm2-q4.pte", "lavapipe", *flags)
    measure_both("SwiftShader")
    return own


def settle_own(measured):
    return {name: middle(reports) for name, reports in measured.items()}


def add_rounds(progress, options):
    """Everyone takes a turn, then the next round starts: what disturbs the machine disturbs all."""
    rows = {}
    prompt = PROMPT["tokens"][-options.prompt :]
    taking_part = {n: s for n, s in contestants().items() if not any(word in n for word in options.without)}

    def begin(name, start):
        progress.running[name] = start()
        rows[name] = {"turns": [], **progress.running[name].prompt(prompt)}

    def decode(name):
        rows[name]["turns"].append(progress.running[name].tokens(1 if options.quick else 3))

    for name, start in taking_part.items():
        progress.add(f"prompt: {name}", lambda name=name, start=start: begin(name, start), name)
    for number in range(options.rounds):
        for name in taking_part:
            progress.add(f"round {number + 1}: {name}", lambda name=name: decode(name), name, number > 0)
    return rows


def settle_rounds(measured):
    out = {}
    for name, row in measured.items():
        rest = {key: value for key, value in row.items() if key != "turns"}
        out[name] = {**rest, "decode": spread(row["turns"]) if row["turns"] else None}
    return out


def add_kernels(progress, options):
    table = {}
    starts = {n: s for n, s in contestants().items() if has_kernels(n) and not any(w in n for w in options.without)}

    def measure(kernel, name, runs):
        if name not in progress.running:
            progress.running[name] = starts[name]()
        row = table.setdefault(kernel, {}).setdefault(name, [])
        row.append(progress.running[name].kernel(kernel, runs))

    for kernel, (title, _, _, runs) in KERNELS.items():
        for number in range(options.rounds):
            for name in starts:
                work = lambda kernel=kernel, name=name, runs=1 if options.quick else runs: measure(kernel, name, runs)
                progress.add(f"{title}: {name}", work, name, True)
    return table


def settle_kernels(measured):
    return {kernel: {name: spread(turns) for name, turns in row.items()} for kernel, row in measured.items()}


# By name: where its results are, what plans its steps and gives what they fill, what makes results of that at any time.
PARTS = {
    "own": ("own", add_own, settle_own),
    "peers": ("contestants", add_rounds, settle_rounds),
    "kernels": ("kernels", add_kernels, settle_kernels),
    "growth": ("growth", growth.add, growth.settle),
}


def machine(options, seconds):
    return {
        "date": datetime.date.today().isoformat(),
        "cores": os.cpu_count(),
        "system": f"{platform.freedesktop_os_release()['PRETTY_NAME']}, {platform.machine()}",
        "load": os.getloadavg()[2],
        "seconds": seconds,
        "quick": options.quick,
        "prompt": options.prompt,
        "rounds": options.rounds,
    }


def save(path, results):
    """All or nothing: whoever interrupts keeps what was written before."""
    part = path.with_suffix(".part")
    part.write_text(json.dumps(report.shortened(results), indent=1, ensure_ascii=False) + "\n")
    part.replace(path)


def measure(options, path, results):
    """Replaces the wanted parts of the results, and writes them after each step."""
    prepare(options.without)
    progress = Progress(options.minutes)
    measured = {part: PARTS[part][1](progress, options) for part in options.parts}

    def write():
        for part, raw in measured.items():
            key, _, settle = PARTS[part]
            if settled := settle(raw):
                results[key] = settled
        results["failed"] = progress.failed
        results["machine"] = machine(options, time.monotonic() - progress.start)
        save(path, results)

    try:
        progress.run(write)
    finally:
        for contestant in progress.running.values():
            contestant.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="few tokens and runs: does everything work?")
    parser.add_argument("--rounds", type=int, help="turns of everyone, and of what is compared with itself (3)")
    parser.add_argument("--prompt", type=int, help=f"tokens of the prompt that everyone reads ({len(PROMPT['tokens'])})")
    parser.add_argument("--minutes", type=float, default=18, help="start only the necessary after this time (18)")
    parser.add_argument("--without", nargs="*", default=[], help="leave out whose name contains this")
    parser.add_argument("--parts", nargs="*", choices=PARTS, default=list(PARTS), help="measure only this, keep the rest")
    parser.add_argument("--report-only", action="store_true", help="write the page from the numbers that are there")
    parser.add_argument("--docs", type=pathlib.Path, help="where to write (docs; build/bench/docs with --quick)")
    options = parser.parse_args()
    options.rounds = options.rounds or (1 if options.quick else 3)
    options.prompt = min(options.prompt or (8 if options.quick else 64), len(PROMPT["tokens"]))
    options.docs = options.docs or (WORK / "docs" if options.quick else ROOT / "docs")
    folder = options.docs / "benchmarks"
    if not options.report_only:
        run(ROOT / "tools" / "setup", *GROUPS)
        run(ROOT / "tools" / "build", "release", "pteron_cli")
        folder.mkdir(parents=True, exist_ok=True)
        numbers = folder / "results.json"
        results = json.loads(numbers.read_text()) if set(options.parts) != set(PARTS) and numbers.exists() else {}
        measure(options, numbers, results)
    report.write(folder, options.docs / "benchmarks.md")


if __name__ == "__main__":
    main()
