#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares the sampler with a reference that follows the order of operations in sampler.h word by word.

usage: sampler_check.py CHAT_DRIVER
"""
import math
import random
import struct
import sys

from driver import Checks, Driver

MASK64 = (1 << 64) - 1


def f32(x: float) -> float:
    return struct.unpack("f", struct.pack("f", x))[0]


def uniform(seed: int, index: int) -> float:
    z = (seed + (index + 1) * 0x9E3779B97F4A7C15) & MASK64
    z = ((z ^ z >> 30) * 0xBF58476D1CE4E5B9) & MASK64
    z = ((z ^ z >> 27) * 0x94D049BB133111EB) & MASK64
    z ^= z >> 31
    return (z >> 11) * 2.0**-53


class Reference:
    def __init__(self, request):
        get = request.get
        self.temperature, self.top_k = get("temperature", 1), get("top_k", 0)
        self.top_p, self.min_p = get("top_p", 1), get("min_p", 0)
        self.repetition = get("repetition_penalty", 1)
        self.presence, self.frequency = get("presence_penalty", 0), get("frequency_penalty", 0)
        self.bias, self.seed, self.logprobs = get("logit_bias", []), get("seed", 0), get("logprobs")
        self.prompt, self.counts, self.draws = set(get("prompt", [])), {}, 0

    def step(self, row, mask):
        logits = dict(enumerate(row))
        for t in self.prompt | set(self.counts):
            if t not in logits:
                continue
            value = logits[t]
            value = value / self.repetition if value > 0 else value * self.repetition
            if t in self.counts:
                value = value - self.presence - self.counts[t] * self.frequency
            logits[t] = value
        for t, bias in self.bias:
            if t in logits:
                logits[t] += bias
        if mask:
            logits = {t: v for t, v in logits.items() if t // 64 < len(mask) and mask[t // 64] >> t % 64 & 1}
        logits = {t: v for t, v in logits.items() if v > -math.inf}
        token = self.choose(logits)
        self.counts[token] = self.counts.get(token, 0) + 1
        return token

    def choose(self, logits):
        ordered = sorted(logits.items(), key=lambda item: (-item[1], item[0]))
        if self.temperature == 0:
            return ordered[0][0]
        kept = [(t, v / self.temperature) for t, v in ordered]
        if self.top_k:
            kept = kept[: self.top_k]
        best = kept[0][1]
        weights = {t: math.exp(v - best) for t, v in kept}
        # Without top-k or top-p the list stays in the order of tokens, and so do its sums.
        if not self.top_k:
            total = sum(weights[t] for t in sorted(weights))
        else:
            total = sum(weights.values())
        order = list(weights)
        if self.top_p < 1:
            chosen, before = [], 0.0
            for t in order:
                if not before < self.top_p * total:
                    break
                chosen.append(t)
                before += weights[t]
            order = chosen
        elif not self.top_k:
            order = sorted(weights)
        order = [t for t in order if weights[t] >= self.min_p]
        point = uniform(self.seed, self.draws) * sum(weights[t] for t in order)
        self.draws += 1
        reached = 0.0
        for t in order:
            reached += weights[t]
            if point < reached:
                return t
        return order[-1]


def log_probabilities(row):
    best = max(row)
    normaliser = best + math.log(math.fsum(math.exp(v - best) for v in row))
    return [v - normaliser for v in row]


def random_request(rng, vocabulary):
    request = {
        "temperature": f32(rng.choice([0, 0.2, 0.7, 1, 1.5])),
        "top_k": rng.choice([0, 0, 1, 5, 40, vocabulary + 3]),
        "top_p": f32(rng.choice([1, 1, 0.95, 0.5, 0.01])),
        "min_p": f32(rng.choice([0, 0, 0.05, 0.5, 1])),
        "repetition_penalty": f32(rng.choice([1, 1, 1.3, 0.8])),
        "presence_penalty": f32(rng.choice([0, 0, 0.6, -0.5])),
        "frequency_penalty": f32(rng.choice([0, 0, 0.25])),
        "seed": rng.getrandbits(63),
        "prompt": [rng.randrange(vocabulary) for _ in range(rng.choice([0, 4, 30]))],
        "logit_bias": [[rng.randrange(vocabulary), f32(rng.uniform(-100, 5))] for _ in range(rng.choice([0, 0, 3]))],
    }
    if rng.random() < 0.3:
        request["logprobs"] = rng.choice([0, 1, 5, 20])
    return request


def random_row(rng, vocabulary):
    # Few distinct values, so that there are ties.
    row = [f32(rng.choice([rng.gauss(0, 4), round(rng.gauss(0, 3))])) for _ in range(vocabulary)]
    return row


def check_rows(driver, checks, rng):
    for number in range(250):
        vocabulary = rng.choice([3, 17, 100, 700])
        request = random_request(rng, vocabulary)
        steps = []
        for _ in range(8):
            step = {"logits": random_row(rng, vocabulary)}
            if rng.random() < 0.3:
                step["mask"] = [rng.getrandbits(64) | 1 for _ in range((vocabulary + 63) // 64)]
            steps.append(step)
        answer = driver.must("sample", steps=steps, **request)["steps"]
        reference = Reference(request)
        for step, got in zip(steps, answer):
            about = f"row {number} {({k: v for k, v in request.items() if k != 'prompt'})}"
            checks.equal(got["token"], reference.step(step["logits"], step.get("mask")), about)
            if "logprobs" in request:
                wanted = log_probabilities(step["logits"])
                checks.true(abs(got["logprob"] - wanted[got["token"]]) < 1e-5, f"logprob of {about}")
                best = sorted(range(vocabulary), key=lambda t: (-step["logits"][t], t))[: request["logprobs"]]
                checks.equal([t for t, _ in got["top"]], best, f"top tokens of {about}")
                checks.true(all(abs(p - wanted[t]) < 1e-5 for t, p in got["top"]), f"top logprobs of {about}")


def check_candidates(driver, checks, rng):
    """A list of candidates gives the row's answer or none; and it gives one whenever nothing was changed."""
    answered = 0
    for number in range(200):
        vocabulary, k = 300, rng.choice([1, 8, 64])
        request = random_request(rng, vocabulary)
        request.pop("logprobs", None)
        if rng.random() < 0.5:
            request.update(repetition_penalty=1, presence_penalty=0, frequency_penalty=0, logit_bias=[])
        row = random_row(rng, vocabulary)
        best = sorted(range(vocabulary), key=lambda t: (-row[t], t))[:k]
        mask = [rng.getrandbits(64) for _ in range(5)] if rng.random() < 0.3 else []
        steps = [{"logits": [row[t] for t in best], "tokens": best, "mask": mask}]
        from_list = driver.must("sample", steps=steps, **request)["steps"][0]
        plain = request["repetition_penalty"] == 1 and not request["logit_bias"] and not mask
        plain = plain and request["presence_penalty"] == request["frequency_penalty"] == 0
        enough = request["temperature"] == 0 or 0 < request["top_k"] <= k
        if plain:
            checks.equal(from_list is not None, enough, f"candidates {number} are enough")
        if from_list is None:
            continue
        answered += 1
        from_row = driver.must("sample", steps=[{"logits": row, "mask": mask}], **request)["steps"][0]
        checks.equal(from_list["token"], from_row["token"], f"candidates {number} {request}")
    checks.true(answered > 30, f"only {answered} lists of candidates were enough")


def check_frequencies(driver, checks):
    """The draws follow the distribution."""
    row = [f32(v) for v in (2, 1, 0, 0, -1)]
    steps = [{"logits": row}] * 4000
    tokens = [s["token"] for s in driver.must("sample", steps=steps, seed=7)["steps"]]
    for t, log_probability in enumerate(log_probabilities(row)):
        share = tokens.count(t) / len(tokens)
        checks.true(abs(share - math.exp(log_probability)) < 0.03, f"token {t} was drawn {share:.3f} of the time")


def main():
    driver, checks, rng = Driver(sys.argv[1]), Checks(), random.Random(20240607)
    check_rows(driver, checks, rng)
    check_candidates(driver, checks, rng)
    check_frequencies(driver, checks)
    checks.finish()


if __name__ == "__main__":
    main()
