#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""How a server behaves under load: a mixed load whose answers are checked, then speed against the number of clients, beside llama.cpp, and
what a token costs where several conversations share a submit.

usage: bench/serve_load.py [--part mixed|speed|batch] [--before PTERON] [--requests N] [--each N] [--quick] [--without-llama] [--keep]

Starts the servers itself, on lavapipe. Needs `./run` to have been there for the program and the model, and `tools/setup bench` for
llama.cpp. --keep writes the numbers into docs/benchmarks/serving.json and docs/serving.md and the plot beside them. Of one part only, the
others' stay as they are: the mixed load is about right answers, so it needs no quiet machine. --before names an earlier build, whose only
conversation is what several are compared with.
"""
import argparse
import json
import os
import re
import statistics
import subprocess
import threading
import time
from pathlib import Path

import svg
from contestants import MODELS, NODE, PEERS, PTERON, ROOT, WORK, convert, environment, gguf_model, pteron_bench
from serve import Load, Outcome, summary

CLIENTS = (1, 2, 4, 8, 16)
BESIDE = (1, 4)  # clients of both
TOGETHER = (2, 4, 8, 16)  # conversations in one submit
TOKENS = 16
OBJECTS = (("resident_mib", "MiB"), ("gpu_mib", "MiB in GPU buffers"), ("gpu_buffers", "buffers"), ("gpu_bind_groups", "bind groups"),
           ("files", "open files"), ("threads", "threads"))  # fmt: skip
KEPT = ROOT / "docs" / "benchmarks" / "serving.json"


def commit():
    return subprocess.run([PTERON, "--version"], capture_output=True, text=True, check=True).stdout.partition("commit ")[2].split()[0]


class Process:
    """A server, and what the system says about it."""

    def __init__(self, *command):
        self._process = subprocess.Popen([*map(str, command)], stdout=subprocess.PIPE, env=environment("lavapipe"), text=True)
        self.url = json.loads(self._process.stdout.readline())["url"]

    def cpu_seconds(self):
        fields = Path(f"/proc/{self._process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def objects(self):
        """Resident MiB, open files, threads."""
        folder = Path(f"/proc/{self._process.pid}")
        status = (folder / "status").read_text()
        resident = int(re.search(r"VmRSS:\s+(\d+)", status)[1]) / 1024
        return {"resident_mib": round(resident, 1), "files": len(list((folder / "fd").iterdir())), "threads": int(re.search(r"Threads:\s+(\d+)", status)[1])}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._process.terminate()
        self._process.wait(60)


def model():
    return convert(gguf_model(), MODELS / "smollm2-q4.pte", "--quant", "q4")


def pteron(*options):
    return Process(PTERON, "serve", model(), "--port", 0, "--json", "-q", *options)


def llama(conversations):
    return Process(NODE, PEERS / "llama_server.mjs", WORK / "node", gguf_model(), "vulkan", conversations)


def steady(server, clients, each, first):
    """Every client sends `each` requests, one after the other; no two are the same, so no prompt was read before."""
    load, outcomes, lock = Load(server.url, TOKENS), [], threading.Lock()

    def client(number):
        for turn in range(each):
            outcome = Outcome("good")
            load._stream(first + number * each + turn, outcome)
            with lock:
                outcomes.append(outcome)

    cpu, start = server.cpu_seconds(), time.monotonic()
    threads = [threading.Thread(target=client, args=(number,), daemon=True) for number in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(3600)
    row = {"clients": clients, **summary(outcomes, time.monotonic() - start)}
    row["cpu_ms_per_token"] = 1000 * (server.cpu_seconds() - cpu) / max(sum(o.tokens for o in outcomes), 1)
    return row


def say(name, row):
    print(f"{name}, {row['clients']:2} clients: {row['tokens_per_second']:6.1f} tok/s, {row['cpu_ms_per_token']:6.1f} CPU-ms per token; "
          f"first token {row['first_token_p50'] * 1000:6.0f} ms (p99 {row['first_token_p99'] * 1000:6.0f}), "
          f"next {row['between_tokens_p50'] * 1000:5.0f} ms (p99 {row['between_tokens_p99'] * 1000:5.0f})", flush=True)  # fmt: skip


def settled(server, load):
    """Objects once nothing is under way."""
    for _ in range(600):
        connection, answer = load.get("/metrics")
        metrics = dict(re.findall(r"^pteron_(\w+) (\d+)$", answer.read().decode(), re.M))
        connection.close()
        if metrics["active"] == metrics["queued"] == "0":
            break
        time.sleep(0.05)
    counted = {name: int(metrics[name]) for name in ("gpu_buffers", "gpu_bind_groups", "gpu_pipelines", "idle_sessions")}
    return {**server.objects(), "gpu_mib": round(int(metrics["gpu_bytes"]) / 2**20, 1), **counted}


def mixed(requests):
    """Bad requests, cut streams and good ones at once; every answer is compared with that of a calm run. The memory for states is full
    before it begins, so that what there is then must be all that there is behind it."""
    with pteron("--kv-memory", 256) as server:
        load = Load(server.url, TOKENS)
        load.run(max(requests // 4, 40), 16)
        before = settled(server, load)
        outcomes, seconds = load.run(requests, 16)
        after = settled(server, load)
    kinds = {kind: sum(o.kind == kind for o in outcomes) for kind in ("good", "cut", "bad")}
    report = {**kinds, **summary(outcomes, seconds), "before": before, "after": after}
    print(f"mixed load: {kinds}, {len(report['problems'])} problems, before {before}, after {after}", flush=True)
    for problem in report["problems"][:5]:
        print(f"  {problem}")
    return report


def speed(given):
    out = {"tokens": TOKENS, "pteron": [], "llama.cpp": []}
    with pteron("--parallel", 16) as server:
        steady(server, 1, 1, 5000)
        for clients in CLIENTS[:: 2 if given.quick else 1]:
            out["pteron"].append(steady(server, clients, given.each, 10000 * clients))
            say("Pteron", out["pteron"][-1])
    for clients in () if given.without_llama else BESIDE:
        with llama(clients) as server:
            steady(server, 1, 1, 5000)
            out["llama.cpp"].append(steady(server, clients, given.each, 10000 * clients))
            say("llama.cpp", out["llama.cpp"][-1])
    return out


def batch(given):
    """Medians of rounds in which all take turns."""
    alone, together = [], {conversations: [] for conversations in TOGETHER}
    bench = lambda *options, by=PTERON: pteron_bench(model(), "lavapipe", "--prompts", 1, "--decode", 24, *options, by=by)
    for _ in range(2 if given.quick else 5):
        alone.append(bench(by=given.before or PTERON))
        for conversations, reports in together.items():
            reports.append(bench("--conversations", conversations))
    middle = lambda reports, key: statistics.median(report[key] for report in reports)
    rows = [{"conversations": 1, "cpu_ms": middle(alone, "decode_cpu_ms"), "ms": 1000 / middle(alone, "decode_tok_s"),
             "bytes": middle(together[TOGETHER[0]], "bytes_touched")}]  # fmt: skip
    for conversations, reports in together.items():
        rows.append({"conversations": conversations, "cpu_ms": middle(reports, "batch_cpu_ms"), "ms": middle(reports, "batch_ms"),
                     "bytes": middle(reports, "batch_bytes_touched"), "bytes_of_caches": middle(reports, "batch_bytes_of_caches")})  # fmt: skip
    return {"rows": rows, "alone": alone[0]["commit"], "commit": commit()}


def batch_table(measured):
    first = measured["rows"][0]
    head = (f"| conversations | CPU-ms for a token | | ms for a token | | bytes for a token | |\n|---|---|---|---|---|---|---|\n"
            f"| 1 (commit {measured['alone']}) | {first['cpu_ms']:.0f} | | {first['ms']:.0f} | | {first['bytes'] / 1e6:.0f} MB | |\n")  # fmt: skip
    cells = lambda row: " | ".join(f"{row[key] / scale:.0f}{unit} | {row[key] / first[key]:.2f} ×" for key, scale, unit in (("cpu_ms", 1, ""), ("ms", 1, ""), ("bytes", 1e6, " MB")))
    return head + "".join(f"| {row['conversations']} | {cells(row)} |\n" for row in measured["rows"][1:])


def table(measured):
    head = "| server | clients | tokens/s | CPU-ms per token | first token, p50 / p99 | between tokens, p50 / p99 |\n|---|---|---|---|---|---|\n"
    lines = [
        f"| {name} | {row['clients']} | {row['tokens_per_second']:.1f} | {row['cpu_ms_per_token']:.0f} | "
        f"{row['first_token_p50']:.2f} / {row['first_token_p99']:.2f} s | {row['between_tokens_p50'] * 1000:.0f} / {row['between_tokens_p99'] * 1000:.0f} ms |\n"
        for name, rows in (("Pteron, q4", measured["pteron"]), ("llama.cpp, Q4_1", measured["llama.cpp"]))
        for row in rows
    ]
    load = measured["mixed"]
    checked = (
        f"\nThe mixed load: {load['good']} answers, {load['cut']} streams cut half-way and {load['bad']} bad requests of 16 clients, "
        f"{len(load['problems'])} of them not as in a calm run. Before and after it the server had "
        + ", ".join(f"{load['before'][key]:.0f} and {load['after'][key]:.0f} {noun}" for key, noun in OBJECTS) + ".\n"
    )
    return head + "".join(lines) + checked


def plot(measured):
    def series(key, scale=1):
        return [(name, kind, [(row["clients"], row[key] * scale) for row in measured[server]])
                for name, kind, server in (("Pteron", "first", "pteron"), ("llama.cpp", "second", "llama.cpp")) if measured[server]]  # fmt: skip

    return svg.panels("Speed against the number of clients", [
        ("tokens per second, all clients", "clients", series("tokens_per_second")),
        ("CPU-ms per token", "clients", series("cpu_ms_per_token")),
        ("p99 between tokens, ms", "clients", series("between_tokens_p99", 1000)),
    ])  # fmt: skip


def put(page, name, text):
    """Between the marks of these numbers."""
    begin, end = f"<!-- numbers of {name} -->\n", f"<!-- end of numbers of {name} -->"
    before, _, rest = page.read_text().partition(begin)
    page.write_text(f"{before}{begin}{text}{end}{rest.partition(end)[2]}")


def keep(measured):
    page = ROOT / "docs" / "serving.md"
    KEPT.write_text(json.dumps(measured, indent=1) + "\n")
    if "batch" in measured:
        put(page, "conversations", batch_table(measured["batch"]))
    if "pteron" in measured and "mixed" in measured:
        KEPT.with_suffix(".svg").write_text(plot(measured))
        put(page, "clients", f"{table(measured)}\n![Speed against the number of clients](benchmarks/serving.svg)\n")


def main():
    parser = argparse.ArgumentParser(description="How a server behaves under load.")
    parser.add_argument("--part", choices=("mixed", "speed", "batch"))
    parser.add_argument("--before", type=Path, help="an earlier build's pteron")
    parser.add_argument("--requests", type=int, default=400)
    parser.add_argument("--each", type=int, default=4, help="requests of each client where speed is measured")
    parser.add_argument("--quick", action="store_true", help="few numbers of clients")
    parser.add_argument("--without-llama", action="store_true")
    parser.add_argument("--keep", action="store_true")
    given = parser.parse_args()
    measured = json.loads(KEPT.read_text()) if given.part and KEPT.exists() else {}
    if given.part in (None, "mixed"):
        measured["mixed"] = mixed(given.requests) | {"commit": commit()}
    if given.part in (None, "speed"):
        measured |= speed(given) | {"commit": commit()}
    if given.part in (None, "batch"):
        measured["batch"] = batch(given)
        print(batch_table(measured["batch"]))
    if given.keep:
        keep(measured)
    if "pteron" in measured and "mixed" in measured:
        print(table(measured))


if __name__ == "__main__":
    main()
