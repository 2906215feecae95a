# SPDX-License-Identifier: BSD-3-Clause
"""Measures Pteron beside other runtimes on this machine, in turns, and writes docs/benchmarks.md with its plots.

usage: compare.py [--minutes 6] [--rounds 3] [--without NAME ...] [--report-only]

Sets up what it needs under build/ (groups build, model, export and bench of pins.txt). Results: build/bench/results.json.
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

ROOT = pathlib.Path(__file__).resolve().parent.parent
WORK = ROOT / "build" / "bench"
MODELS = ROOT / "build" / "models"
PEERS = ROOT / "bench" / "peers"
PTERON = ROOT / "build" / "release" / "pteron"
PYTHON = WORK / "venv" / "bin" / "python"
LAVAPIPE = "/usr/share/vulkan/icd.d/lvp_icd.x86_64.json"
SWIFTSHADER = "/usr/lib/chromium/vk_swiftshader_icd.json"
PROMPT = 32
CONTEXTS = (64, 256, 512, 1024, 2048)
LAYERS = (1, 8, 30, 60)


def say(*words):
    print(time.strftime("%H:%M:%S"), *words, file=sys.stderr, flush=True)


def run(*command, **options):
    return subprocess.run([*map(str, command)], check=True, stdout=subprocess.PIPE, text=True, **options).stdout


def environment(icd):
    return {**os.environ, "VK_ICD_FILENAMES": icd, "NODEVICE_SELECT": "1", "GGML_VK_VISIBLE_DEVICES": "0"}


def pteron_bench(program, icd, *options):
    return json.loads(run(PTERON, "bench", program, "--json", "-q", *options, env=environment(icd)))


def gguf_model():
    return next(MODELS.glob("SmolLM2-*.gguf"))


def convert(source, target, *options):
    if not target.exists():
        say("converting", target.name)
        run(PTERON, "convert", source, "-o", target, "-q", *options)
    return target


class Pteron:
    """A process for each turn: loading is quick."""

    def __init__(self, program, icd):
        self.program, self.icd = program, icd

    def turn(self, tokens, prompt):
        report = pteron_bench(self.program, self.icd, "--decode", 4 * tokens, "--prefill", PROMPT if prompt else 0, "--prompts", 1)
        out = {"load_ms": report["load_ms"], "device": report["adapter"], "peak_rss_mb": report["peak_rss_mb"], "dispatches": report["dispatches_per_token"]}
        out["decode"] = {"wall_ms": 1e3 / report["decode_tok_s"], "cpu_ms": report["decode_cpu_ms"]}
        if prompt:
            out["prefill"] = {"wall_ms": 1e3 / report["prefill_tok_s"], "cpu_ms": report["prefill_cpu_ms"]}
        return out

    def kernel(self, name, runs):
        report = pteron_bench(WORK / "kernels" / f"{name}.pte", self.icd, "--decode", runs)
        return {"wall_ms": report["run_ms"], "cpu_ms": report["run_cpu_ms"]}

    def close(self):
        pass


class Peer:
    """A process that answers requests, one line of JSON each."""

    def __init__(self, *command, icd=LAVAPIPE):
        log = open(WORK / "peers.log", "a")
        self.process = subprocess.Popen([*map(str, command)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True, env=environment(icd))
        self.about = self.read()

    def read(self):
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"{self.process.args[0]} ended; see {WORK / 'peers.log'}")
        return json.loads(line)

    def ask(self, **request):
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        answers = self.read()
        return {key: statistics.median(a[key] for a in answers) for key in ("wall_ms", "cpu_ms")}

    def turn(self, tokens, prompt):
        out = {"load_ms": self.about["load_ms"], "device": self.about["device"]}
        if prompt:
            out["prefill"] = {key: value / PROMPT for key, value in self.ask(prompt=PROMPT).items()}
        out["decode"] = self.ask(tokens=tokens)
        return out

    def kernel(self, name, runs):
        return self.ask(kernel=name, runs=runs)

    def close(self):
        self.process.stdin.close()
        self.process.wait(timeout=60)


def contestants():
    """Name → a function that starts it."""
    node, onnx = ROOT / "build" / "deps" / "node" / "bin" / "node", WORK / "smollm2.onnx"
    q4 = convert(gguf_model(), MODELS / "smollm2-q4.pte", "--quant", "q4")
    lossless = convert(gguf_model(), MODELS / "smollm2.pte")
    if not onnx.exists():
        say("building", onnx.name)
        run(PYTHON, PEERS / "onnx_llama.py", gguf_model(), onnx)
    ort = (PYTHON, PEERS / "ort.py", onnx)
    llama = (node, PEERS / "llama_cpp.mjs", WORK / "node", gguf_model())
    return {
        "Pteron, q4, lavapipe": lambda: Pteron(q4, LAVAPIPE),
        "Pteron, lossless, lavapipe": lambda: Pteron(lossless, LAVAPIPE),
        "llama.cpp Vulkan, Q4_1, lavapipe": lambda: Peer(*llama, "vulkan"),
        "Pteron, q4, SwiftShader": lambda: Pteron(q4, SWIFTSHADER),
        "ONNX Runtime WebGPU, q4, SwiftShader": lambda: Peer(*ort, "WebGpuExecutionProvider", icd=SWIFTSHADER),
        "llama.cpp on the CPU, Q4_1": lambda: Peer(*llama, "cpu"),
        "ONNX Runtime on the CPU, q4": lambda: Peer(*ort, "CPUExecutionProvider"),
    }


def gather(turns, *path):
    """The median, lowest and highest of a number over turns."""
    values = []
    for turn in turns:
        for key in path:
            turn = turn.get(key, {})
        if isinstance(turn, (int, float)):
            values.append(turn)
    return {"median": statistics.median(values), "low": min(values), "high": max(values)} if values else None


def compare(options, deadline):
    """Everyone takes a turn, then the next round starts: what disturbs the machine disturbs all."""
    running, turns, failed = {}, {}, {}
    for number in range(options.rounds):
        for name, start in contestants().items():
            if any(word in name for word in options.without) or name in failed:
                continue
            if number > 0 and time.monotonic() > deadline:
                say("out of time: no further turns")
                break
            say(f"round {number + 1}:", name)
            try:
                running.setdefault(name, None)
                running[name] = running[name] or start()
                turns.setdefault(name, []).append(running[name].turn(tokens=3, prompt=number == 0))
            except (RuntimeError, OSError, subprocess.SubprocessError) as error:
                failed[name] = str(error)
                say(name, "failed:", error)
    kernels = compare_kernels({name: running[name] for name in turns if name not in failed}, options.rounds)
    for contestant in running.values():
        if contestant:
            contestant.close()
    rows = {}
    for name, own in turns.items():
        rows[name] = {key: own[0].get(key) for key in ("device", "load_ms", "peak_rss_mb", "dispatches")}
        for phase in ("decode", "prefill"):
            rows[name][phase] = {key: gather(own, phase, key) for key in ("wall_ms", "cpu_ms")}
    return {"contestants": rows, "failed": failed, "kernels": kernels}


def compare_kernels(running, rounds):
    taking_part = [n for n in running if "ONNX" in n or n.startswith("Pteron, q4")]
    results = {}
    for path in sorted((WORK / "kernels").glob("*.pte")):
        for _ in range(rounds):
            for name in taking_part:
                say("kernel", path.stem, "on", name)
                results.setdefault(path.stem, {}).setdefault(name, []).append(running[name].kernel(path.stem, 3))
    return {k: {n: {m: gather(turns, m) for m in ("wall_ms", "cpu_ms")} for n, turns in row.items()} for k, row in results.items()}


def growth_with_context():
    """The whole context in use, in a program that was made for just that."""
    out = []
    for context in CONTEXTS:
        program = convert(gguf_model(), WORK / f"context-{context}.pte", "--quant", "q4", "--max-context", context)
        say("context", context)
        report = pteron_bench(program, LAVAPIPE, "--prefill", 0, "--decode", 6, "--context", context - 8)
        keys = ("decode_cpu_ms", "decode_tok_s", "gpu_buffer_mb", "peak_rss_mb", "bytes_ratio", "dispatches_per_token")
        out.append({"context": context, **{key: report[key] for key in keys}})
        program.unlink()
    return out


def growth_with_size():
    out = []
    for layers in LAYERS:
        source, program = WORK / f"layers-{layers}.gguf", WORK / f"layers-{layers}.pte"
        run(PYTHON, PEERS / "stack_layers.py", gguf_model(), source, layers)
        convert(source, program, "--quant", "q4")
        say(layers, "layers")
        loads = [pteron_bench(program, LAVAPIPE, "--prefill", 0, "--decode", 1) for _ in range(3)]
        report = min(loads, key=lambda r: r["load_ms"])
        out.append({"layers": layers, **{key: report[key] for key in ("file_bytes", "load_ms", "peak_rss_mb")}})
        source.unlink(), program.unlink()
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=6, help="start no further turns after this time")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--without", nargs="*", default=[], help="leave out whose name contains this")
    parser.add_argument("--report-only", action="store_true", help="write the report from the last results")
    options = parser.parse_args()
    results = WORK / "results.json"
    if not options.report_only:
        run(ROOT / "tools" / "setup", "build", "model", "export", "bench")
        run(ROOT / "tools" / "build", "release", "pteron_cli")
        run(ROOT / "build" / "venv" / "bin" / "python", "-W", "ignore", PEERS / "kernel_programs.py", WORK / "kernels")
        contestants()
        start = time.monotonic()
        own = {name: pteron_bench(MODELS / f"{name}.pte", LAVAPIPE, "--decode", 16) for name in ("smollm2-q4", "smollm2")}
        far = pteron_bench(MODELS / "smollm2-q4.pte", LAVAPIPE, "--decode", 16, "--prefill", 0, "--context", 1000)
        growth = {"context": growth_with_context(), "size": growth_with_size()}
        answers = compare(options, start + 60 * options.minutes)
        machine = {"date": datetime.date.today().isoformat(), "cores": os.cpu_count(), "system": platform.platform(), "load": os.getloadavg()[1], "seconds": time.monotonic() - start}
        results.write_text(json.dumps({"machine": machine, "own": own, "context_1000": far, "growth": growth, **answers}, indent=1, ensure_ascii=False))
    run(PYTHON, ROOT / "bench" / "report.py", results, ROOT / "docs")


main()
