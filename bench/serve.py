#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Mixed load on a server that runs: short and long prompts, streams that are cut, bad requests, answers compared with a calm run.

usage: bench/serve.py URL [--requests N] [--clients N] [--tokens N] [--json FILE]

Needs nothing but Python. Times are those that a client sees; with several clients they contain the time that others are served.
"""
import argparse
import http.client
import json
import random
import threading
import time
import urllib.parse
from dataclasses import dataclass, field

WORDS = "the sea and a small boat under grey clouds near old stones by quiet water with warm light".split()
BAD = (
    ({"messages": []}, 400),
    ({"messages": [{"role": "user", "content": "x"}], "temperature": 99}, 400),
    ({"messages": [{"role": "user", "content": "x"}], "model": "nobody"}, 404),
    ({"messages": [{"role": "user", "content": "x"}], "n": 10**9}, 400),
    ("{", 400),
)


@dataclass
class Outcome:
    kind: str  # good, cut or bad
    problem: str = ""
    first: float = 0  # seconds to the first token
    gaps: list[float] = field(default_factory=list)  # between tokens
    tokens: int = 0


class Load:
    """Requests by number: the same number is always the same request."""

    def __init__(self, url: str, tokens: int = 16, longest: int = 40) -> None:
        self._port = urllib.parse.urlsplit(url).port
        self._tokens, self._longest = tokens, longest
        self._calm: dict[int, list] = {}

    def _post(self, body) -> tuple[http.client.HTTPConnection, http.client.HTTPResponse]:
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=600)
        text = body if isinstance(body, str) else json.dumps(body)
        connection.request("POST", "/v1/chat/completions", text, {"Content-Type": "application/json"})
        return connection, connection.getresponse()

    def get(self, path: str) -> tuple[http.client.HTTPConnection, http.client.HTTPResponse]:
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=600)
        connection.request("GET", path)
        return connection, connection.getresponse()

    def _question(self, number: int) -> dict:
        rng = random.Random(number)
        length = rng.choice((2, 4, self._longest // 4, self._longest))
        text = " ".join(rng.choice(WORDS) for _ in range(length))
        return {"messages": [{"role": "user", "content": text}], "temperature": 0, "max_tokens": self._tokens, "ignore_eos": True,
                "logprobs": True, "top_logprobs": 2}  # fmt: skip

    def _stream(self, number: int, outcome: Outcome, stop_after: int | None = None) -> list:
        """The tokens with their two best log-probabilities."""
        start = last = time.monotonic()
        connection, answer = self._post({**self._question(number), "stream": True})
        tokens = []
        if answer.status != 200:
            outcome.problem = f"status {answer.status}: {answer.read().decode(errors='replace')}"
        for line in answer:
            if not line.startswith(b"data: {"):
                continue
            event = json.loads(line[6:])
            if "error" in event:
                outcome.problem = event["error"]["message"]
                break
            now = time.monotonic()
            said = (event["choices"][0]["logprobs"] or {}).get("content", [])
            if said and not tokens:
                outcome.first = now - start
            elif said:
                outcome.gaps.append(now - last)
            last = now
            tokens += [(t["bytes"], *(top["logprob"] for top in t["top_logprobs"])) for t in said]
            if stop_after is not None and len(tokens) >= stop_after:
                break
        connection.close()
        outcome.tokens = len(tokens)
        return tokens

    def calm(self, number: int) -> list:
        if number not in self._calm:
            self._calm[number] = self._stream(number, Outcome("good"))
        return self._calm[number]

    def one(self, number: int) -> Outcome:
        """One in ten is bad, one in five is cut half-way."""
        if number % 10 == 9:
            body, wanted = BAD[number // 10 % len(BAD)]
            connection, answer = self._post(body)
            answer.read()
            connection.close()
            return Outcome("bad", "" if answer.status == wanted else f"status {answer.status} instead of {wanted}")
        outcome = Outcome("cut" if number % 5 == 3 else "good")
        number %= 40  # so that calm answers are few
        tokens = self._stream(number, outcome, self._tokens // 2 if outcome.kind == "cut" else None)
        for at, (calm, busy) in enumerate(zip(self.calm(number), tokens)):
            if calm[1] - calm[2] < 0.05:
                break
            if calm[0] != busy[0]:
                outcome.problem = outcome.problem or f"request {number}, token {at}: {busy[0]} instead of {calm[0]}"
                break
        if outcome.kind == "good" and outcome.tokens != self._tokens:
            outcome.problem = outcome.problem or f"{outcome.tokens} tokens instead of {self._tokens}"
        return outcome

    def run(self, requests: int, clients: int) -> tuple[list[Outcome], float]:
        """All outcomes, and the seconds that it took. Calm answers are made before."""
        for number in range(min(requests, 40)):
            if number % 10 != 9:
                self.calm(number)
        outcomes: list[Outcome] = []
        numbers, lock = iter(range(requests)), threading.Lock()

        def client() -> None:
            while True:
                with lock:
                    number = next(numbers, None)
                if number is None:
                    return
                try:
                    outcome = self.one(number)
                except OSError as error:
                    outcome = Outcome("good", f"request {number}: {error!r}")
                with lock:
                    outcomes.append(outcome)

        start = time.monotonic()
        threads = [threading.Thread(target=client, daemon=True) for _ in range(clients)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(3600)
        return outcomes, time.monotonic() - start


def percentile(values: list[float], part: float) -> float:
    ordered = sorted(values)
    return ordered[min(int(len(ordered) * part), len(ordered) - 1)] if ordered else 0


def summary(outcomes: list[Outcome], seconds: float) -> dict:
    served = [o for o in outcomes if o.kind != "bad" and not o.problem]
    gaps = [gap for o in served for gap in o.gaps]
    return {
        "requests": len(outcomes), "problems": [o.problem for o in outcomes if o.problem], "seconds": seconds,
        "tokens_per_second": sum(o.tokens for o in served) / seconds,
        "first_token_p50": percentile([o.first for o in served], 0.5), "first_token_p99": percentile([o.first for o in served], 0.99),
        "between_tokens_p50": percentile(gaps, 0.5), "between_tokens_p99": percentile(gaps, 0.99),
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description="Mixed load on a server that runs.")
    parser.add_argument("url")
    parser.add_argument("--requests", type=int, default=400)
    parser.add_argument("--clients", type=int, nargs="*", default=[1, 2, 4, 8, 16])
    parser.add_argument("--tokens", type=int, default=16)
    parser.add_argument("--json")
    given = parser.parse_args()
    load, rows = Load(given.url, given.tokens), []
    for clients in given.clients:
        row = {"clients": clients, **summary(*load.run(given.requests, clients))}
        rows.append(row)
        print(f"{clients:3} clients: {row['tokens_per_second']:7.1f} tok/s; first token {row['first_token_p50'] * 1000:6.0f} ms (p99 {row['first_token_p99'] * 1000:6.0f}), "
              f"next {row['between_tokens_p50'] * 1000:5.0f} ms (p99 {row['between_tokens_p99'] * 1000:5.0f}); {len(row['problems'])} problems", flush=True)  # fmt: skip
    if given.json:
        with open(given.json, "w") as file:
            json.dump(rows, file, indent=1)


if __name__ == "__main__":
    main()
