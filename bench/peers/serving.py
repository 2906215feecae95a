# SPDX-License-Identifier: BSD-3-Clause
"""How peers that run in Python are asked: a line of JSON per request on standard input, a line per answer.

{"prompt": [ids]}              forgets everything and reads a prompt; the answer tells the most likely next token
{"tokens": N}                  decodes N tokens behind that
{"kernel": NAME, "runs": N}    runs a single op of kernels.py
"""
import json
import resource
import sys
import time


def measure(work):
    cpu = lambda: sum(resource.getrusage(resource.RUSAGE_SELF)[:2])
    before, start = cpu(), time.perf_counter()
    result = work()
    return {"wall_ms": (time.perf_counter() - start) * 1e3, "cpu_ms": (cpu() - before) * 1e3}, result


def answer(data):
    print(json.dumps(data), flush=True)


def serve(device, load, kernel):
    """`load` gives a model with clear() and step(tokens) -> next token, `kernel` a function for a kernel's name."""
    start = time.perf_counter()
    model = load()
    answer({"load_ms": (time.perf_counter() - start) * 1e3, "device": device})
    next_token, ready = 0, {}
    for line in sys.stdin:
        request = json.loads(line)
        if "prompt" in request:
            model.clear()
            cost, next_token = measure(lambda: model.step(request["prompt"]))
            answer({"costs": [cost], "next": next_token})
        elif "tokens" in request:
            costs = []
            for _ in range(request["tokens"]):
                cost, next_token = measure(lambda: model.step([next_token]))
                costs.append(cost)
            answer({"costs": costs})
        else:
            name = request["kernel"]
            if name not in ready:
                ready[name] = kernel(name)
                ready[name]()  # compiles
            answer({"costs": [measure(ready[name])[0] for _ in range(request["runs"])]})
