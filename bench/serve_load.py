#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""How a server behaves under load: a mixed load whose answers are checked, then speed against the number of clients, beside llama.cpp.

usage: bench/serve_load.py [--part mixed|speed] [--requests N] [--each N] [--quick] [--without-llama] [--keep]

Starts the servers itself, on lavapipe. Needs `./run` to have been there for the program and the model, and `tools/setup bench` for
llama.cpp. --keep writes the numbers into docs/benchmarks/serving.json and docs/serving.md and the plot beside them. Of one part only, the
other's stay as they are: the mixed load is about right answers, so it needs no quiet machine.
"""
import argparse
import json
import os
import re
import subprocess
import threading
import time
from pathlib import Path

import svg
from contestants import MODELS, NODE, PEERS, PTERON, ROOT, WORK, convert, environment, gguf_model
from serve import Load, Outcome, summary

CLIENTS = (1, 2, 4, 8, 16)
BESIDE = (1, 4)  # clients of both
TOKENS = 16
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


def pteron(*options):
    model = convert(gguf_model(), MODELS / "smollm2-q4.pte", "--quant", "q4")
    return Process(PTERON, "serve", model, "--port", 0, "--json", "-q", *options)


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
        text = answer.read().decode()
        connection.close()
        if re.search(r"^pteron_active 0$", text, re.M) and re.search(r"^pteron_queued 0$", text, re.M):
            break
        time.sleep(0.05)
    return server.objects()


def mixed(requests):
    """Bad requests, cut streams and good ones at once; every answer is compared with that of a calm run."""
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
        f"{len(load['problems'])} of them not as in a calm run. Before and after it the server had {load['before']['resident_mib']:.0f} and "
        f"{load['after']['resident_mib']:.0f} MiB, {load['before']['files']} and {load['after']['files']} open files, "
        f"{load['before']['threads']} and {load['after']['threads']} threads.\n"
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


def keep(measured):
    page = ROOT / "docs" / "serving.md"
    KEPT.write_text(json.dumps(measured, indent=1) + "\n")
    if "pteron" not in measured or "mixed" not in measured:
        return
    KEPT.with_suffix(".svg").write_text(plot(measured))
    begin, end = "<!-- numbers of bench/serve_load.py -->\n", "<!-- end of numbers -->"
    before, _, rest = page.read_text().partition(begin)
    behind = rest.partition(end)[2]
    page.write_text(f"{before}{begin}{table(measured)}\n![Speed against the number of clients](benchmarks/serving.svg)\n{end}{behind}")


def main():
    parser = argparse.ArgumentParser(description="How a server behaves under load.")
    parser.add_argument("--part", choices=("mixed", "speed"))
    parser.add_argument("--requests", type=int, default=400)
    parser.add_argument("--each", type=int, default=4, help="requests of each client where speed is measured")
    parser.add_argument("--quick", action="store_true", help="few numbers of clients")
    parser.add_argument("--without-llama", action="store_true")
    parser.add_argument("--keep", action="store_true")
    given = parser.parse_args()
    measured = json.loads(KEPT.read_text()) if given.part and KEPT.exists() else {}
    if given.part != "speed":
        measured["mixed"] = mixed(given.requests) | {"commit": commit()}
    if given.part != "mixed":
        measured |= speed(given) | {"commit": commit()}
    if given.keep:
        keep(measured)
    if "pteron" in measured and "mixed" in measured:
        print(table(measured))


if __name__ == "__main__":
    main()
