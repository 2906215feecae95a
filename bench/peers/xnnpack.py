# SPDX-License-Identifier: BSD-3-Clause
"""XNNPACK through ExecuTorch's own runtime, asked as serving.py describes.

usage: xnnpack.py MODEL.pte FOLDER_OF_KERNELS
"""
import pathlib
import sys

import torch
from executorch.extension.llm.custom_ops import custom_ops  # noqa: F401 (registers attention over caches)
from executorch.runtime import Runtime
from serving import serve


class Llama:
    def __init__(self, path):
        self.method = Runtime.get().load_program(path).load_method("forward")
        self.clear()

    def clear(self):
        self.position = 0

    def step(self, tokens):
        logits = self.method.execute([torch.tensor([tokens]), torch.tensor([self.position])])[0]
        self.position += len(tokens)
        return int(logits.flatten().argmax())


def kernel(path):
    method = Runtime.get().load_program(path).load_method("forward")
    shapes = [method.metadata.input_tensor_meta(i).sizes() for i in range(method.metadata.num_inputs())]
    torch.manual_seed(0)
    inputs = [torch.randn(shape) for shape in shapes]
    return lambda: method.execute(inputs)


def main():
    model, kernels = map(pathlib.Path, sys.argv[1:])
    serve("XNNPACK", lambda: Llama(model), lambda name: kernel(kernels / f"{name}.pte"))


main()
