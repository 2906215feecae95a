# SPDX-License-Identifier: BSD-3-Clause
"""ONNX Runtime, asked as serving.py describes.

usage: ort.py MODEL.onnx WebGpuExecutionProvider|CPUExecutionProvider
"""
import os
import sys

import numpy as np
import onnx_kernels
import onnxruntime
from serving import serve


class Llama:
    def __init__(self, session):
        self.session = session
        self.inputs = {i.name: i for i in session.get_inputs()}
        self.names = [o.name.replace("present", "past") for o in session.get_outputs()]
        self.clear()

    def clear(self):
        caches = [i for name, i in self.inputs.items() if name.startswith("past")]
        self.past = {i.name: np.zeros((1, i.shape[1], 0, i.shape[3]), np.float32) for i in caches}
        self.length = 0

    def step(self, tokens):
        self.length += len(tokens)
        feed = {
            "tokens": np.array([tokens], np.int64),
            "seqlens_k": np.array([self.length - 1], np.int32),
            "total_length": np.array(self.length, np.int32),
        }
        self.past = dict(zip(self.names, self.session.run(None, {**feed, **self.past})))
        return int(self.past.pop("logits")[0, 0].argmax())


def main():
    path, provider = sys.argv[1:]
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.intra_op_num_threads = os.cpu_count()

    def open_session(source):
        session = onnxruntime.InferenceSession(source, options, providers=[provider])
        if session.get_providers()[0] != provider:
            sys.exit(f"ONNX Runtime has no {provider} here")
        return session

    def kernel(name):
        source, feed = onnx_kernels.build(name)
        session = open_session(source)
        return lambda: session.run(None, feed)

    serve(provider, lambda: Llama(open_session(path)), kernel)


main()
