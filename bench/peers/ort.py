# SPDX-License-Identifier: BSD-3-Clause
"""ONNX Runtime with its WebGPU provider. Answers a line of JSON per line on standard input: {"tokens": N} decodes N tokens
at context 32, {"prompt": N} reads a prompt of N tokens, {"kernel": NAME, "runs": N} runs a single op (see kernels.py).

usage: ort.py MODEL.onnx WebGpuExecutionProvider|CPUExecutionProvider
"""
import json
import os
import resource
import sys
import time

import numpy as np
import onnxruntime

import onnx_kernels


def measure(work):
    cpu = lambda: sum(resource.getrusage(resource.RUSAGE_SELF)[:2])
    before, start = cpu(), time.perf_counter()
    result = work()
    return {"wall_ms": (time.perf_counter() - start) * 1e3, "cpu_ms": (cpu() - before) * 1e3}, result


class Llama:
    def __init__(self, session):
        self.session = session
        self.inputs = {i.name: i for i in session.get_inputs()}
        self.names = [o.name.replace("present", "past") for o in session.get_outputs()]
        self.clear()

    def clear(self):
        self.past = {n: np.zeros((1, i.shape[1], 0, i.shape[3]), np.float32) for n, i in self.inputs.items() if n.startswith("past")}

    def step(self, tokens):
        total = next(iter(self.past.values())).shape[2] + len(tokens)
        feed = {"tokens": np.array([tokens], np.int64), "seqlens_k": np.array([total - 1], np.int32), "total_length": np.array(total, np.int32)}
        cost, outputs = measure(lambda: self.session.run(None, {**feed, **self.past}))
        self.past = dict(zip(self.names, outputs))
        self.next = int(self.past.pop("logits")[0, 0].argmax())
        return cost

    def prompt(self, count):
        self.clear()
        return [self.step([300 + 7 * i for i in range(count)])]

    def tokens(self, count):
        if next(iter(self.past.values())).shape[2] < 32:
            self.prompt(32)
        self.step([self.next])  # not counted
        return [self.step([self.next]) for _ in range(count)]


def main():
    model, provider = sys.argv[1:]
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.intra_op_num_threads = os.cpu_count()
    open_session = lambda source: onnxruntime.InferenceSession(source, options, providers=[provider])
    start = time.perf_counter()
    llama = Llama(open_session(model))
    print(json.dumps({"load_ms": (time.perf_counter() - start) * 1e3, "device": provider}), flush=True)
    kernels = {}
    for line in sys.stdin:
        request = json.loads(line)
        if "prompt" in request:
            answer = llama.prompt(request["prompt"])
        elif "tokens" in request:
            answer = llama.tokens(request["tokens"])
        else:
            name = request["kernel"]
            if name not in kernels:
                source, feed = onnx_kernels.build(name)
                kernels[name] = lambda session=open_session(source), feed=feed: session.run(None, feed)
                kernels[name]()  # compiles
            answer = [measure(kernels[name])[0] for _ in range(request["runs"])]
        print(json.dumps(answer), flush=True)


main()
