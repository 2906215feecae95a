# SPDX-License-Identifier: BSD-3-Clause
"""A server that is left running under mixed traffic while models are loaded again and the GPU goes away. Every answer is compared with
that of the same server when it was quiet.

usage: test_soak.py PTERON_LOSING DATA_FOLDER [--minutes N] [--record]
  --minutes   else 2
  --record    keeps what came out for docs/reliability.md
"""
import argparse
import http.client
import json
import os
import random
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path

from serving import DATA, LLAMA, NAME, Server

ROOT = DATA.resolve().parents[1]
sys.path.insert(0, str(ROOT / "bench"))
import serve

CLIENTS = 4
PAUSE = 1.0  # seconds between a client's requests, at most: other tests run beside this one
OTHER = "other"
DISTURBED = {signal.SIGUSR1: 11, signal.SIGHUP: 7}  # every so many seconds
LOST = "GPU was lost|device_lost|device was lost"
GROWTH = 16 << 20  # bytes between the second quarter and the last


class Soak:
    def __init__(self, server: Server, seconds: float) -> None:
        self.server, self.counts, self.problems = server, Counter(), []
        self._seconds, self._end, self._lock = seconds, 0.0, threading.Lock()
        self._load = serve.Load(server.url, tokens=8, longest=16)
        self._memory: list[int] = []

    def run(self) -> None:
        self._load.run(40, 1)  # the quiet answers
        self._completions = {number: self._completion(number) for number in range(12)}
        self._end = time.monotonic() + self._seconds
        work = [lambda seed=seed: self._client(seed) for seed in range(CLIENTS)] + [self._disturb, self._watch]
        threads = [threading.Thread(target=job, daemon=True) for job in work]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(self._seconds + 600)
            if thread.is_alive():
                self.problems.append("a request has no end")
        self._load.run(10, 1)
        if self.server.chat()[0] != 200:
            self.problems.append("the server does not answer any more")

    def _client(self, seed: int) -> None:
        rng = random.Random(seed)
        asks = (self._chat, self._chat, self._chat, self._ask_completion, self._structured, self._look)
        while time.monotonic() < self._end:
            try:
                problem = rng.choice(asks)(rng.randrange(10**6))
            except (OSError, http.client.HTTPException) as error:
                problem = repr(error)
            with self._lock:
                self.counts["requests"] += 1
                if re.search(LOST, problem):
                    self.counts["refused"] += 1
                elif problem:
                    self.problems.append(problem)
            time.sleep(rng.uniform(0, PAUSE))

    def _note(self, kind: str) -> None:
        with self._lock:
            self.counts[kind] += 1

    def _chat(self, number: int) -> str:
        outcome = self._load.one(number)
        self._note({"good": "compared", "cut": "cut", "bad": "bad"}[outcome.kind])
        return outcome.problem

    def _post(self, path: str, body: dict) -> tuple[dict, str]:
        status, _, answer = self.server.post(path, body)
        return answer, "" if status == 200 else f"status {status}: {answer}"

    def _completion(self, number: int) -> tuple[list, str]:
        """The other model's tokens with their two best log-probabilities."""
        prompt = " ".join(random.Random(number).choices(serve.WORDS, k=6))
        answer, problem = self._post("/v1/completions", {"model": OTHER, "prompt": prompt, "max_tokens": 8, "temperature": 0, "ignore_eos": True, "logprobs": 2})
        if problem:
            return [], problem
        said = answer["choices"][0]["logprobs"]
        return [(token, sorted(best.values(), reverse=True)) for token, best in zip(said["tokens"], said["top_logprobs"])], ""

    def _ask_completion(self, number: int) -> str:
        calm, _ = self._completions[number % 12]
        tokens, problem = self._completion(number % 12)
        self._note("compared")
        for (wanted, best), (token, _) in zip(calm, tokens):
            if best[0] - best[-1] < 0.05:
                break  # the two are as good as each other
            if token != wanted:
                return f"completion {number % 12}: {token} instead of {wanted}"
        return problem

    def _structured(self, number: int) -> str:
        wanted = serve.WORDS[number % len(serve.WORDS)]
        schema = {"type": "json_schema", "json_schema": {"name": "word", "schema": {"const": wanted}}}
        answer, problem = self._post("/v1/chat/completions", {"model": NAME, "messages": [{"role": "user", "content": "a word"}], "response_format": schema, "max_tokens": 40})
        self._note("compared")
        said = "" if problem else answer["choices"][0]["message"]["content"]
        return problem or ("" if json.loads(said) == wanted else f"{said} instead of {wanted}")

    def _look(self, _: int) -> str:
        statuses = {path: self.server.request("GET", path)[0] for path in ("/health", "/metrics", "/v1/models")}
        return "" if set(statuses.values()) == {200} else str(statuses)

    def _disturb(self) -> None:
        begun = time.monotonic()
        done = Counter()
        while time.monotonic() < self._end:
            time.sleep(0.1)
            for sent, every in DISTURBED.items():
                if time.monotonic() - begun > every * (done[sent] + 1):
                    done[sent] += 1
                    self.server.process.send_signal(sent)
        self.counts["reloads"] = done[signal.SIGHUP]

    def _watch(self) -> None:
        while time.monotonic() < self._end:
            status = Path(f"/proc/{self.server.process.pid}/status").read_text()
            self._memory.append(int(re.search(r"VmRSS:\s*(\d+)", status)[1]) << 10)
            time.sleep(min(2, self._seconds / 60))

    def summary(self) -> dict:
        quarter = len(self._memory) // 4
        early, late = statistics.median(self._memory[quarter : 2 * quarter]), statistics.median(self._memory[-quarter:])
        lost = int(self.server.metric("pteron_devices_lost_total"))
        wrong = [p for p in self.problems if " instead of " in p]
        if late > early + GROWTH:
            self.problems.append(f"memory grew from {early / 2**20:.0f} to {late / 2**20:.0f} MiB")
        if lost == 0:
            self.problems.append("no device was lost")
        if self.counts["refused"] > 8 * lost:
            self.problems.append(f"{self.counts['refused']} requests were refused for {lost} lost devices")
        ended = self.server.stop()
        if ended != 0:
            self.problems.append(f"the server ended with {ended}: {self.server.log()[-2000:]}")
        keys = ("requests", "compared", "cut", "bad", "refused", "reloads")
        return {"minutes": round(self._seconds / 60, 1), **{key: self.counts[key] for key in keys}, "lost": lost, "wrong": len(wrong),
                "crashes": int(ended != 0), "memory": f"{early / 2**20:.0f} → {late / 2**20:.0f} MiB"}  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1])
    parser.add_argument("--minutes", type=float, default=2)
    parser.add_argument("--record", action="store_true")
    given = parser.parse_args()
    reliability = ROOT / "tools" / "reliability"
    commit = subprocess.run([reliability, "--commit"], capture_output=True, text=True).stdout.strip() if given.record else ""
    with tempfile.TemporaryDirectory() as folder:
        other = Path(folder) / f"{OTHER}.pte"
        shutil.copy(LLAMA.parent / "full_logits" / "model.pte", other)
        # What an allocator keeps for each thread that ever compiled a kernel would hide what is leaked.
        os.environ["MALLOC_ARENA_MAX"] = "1"
        with Server("-q", "--parallel", 4, "--chunk", 16, "--kv-memory", 8, models=(LLAMA / "model.pte", other)) as server:
            soak = Soak(server, given.minutes * 60)
            soak.run()
            row = soak.summary()
    print(json.dumps(row))
    for problem, count in Counter(soak.problems).most_common(20):
        print(f"{count} ×: {problem}", file=sys.stderr)
    if given.record:
        subprocess.run([reliability, "--record", "soak", json.dumps({**row, "commit": commit})], check=True)
    return 1 if soak.problems else 0


if __name__ == "__main__":
    sys.exit(main())
