# SPDX-License-Identifier: BSD-3-Clause
"""Exports single ops as ExecuTorch programs, the same as onnx_kernels.py builds. Needs the group export of pins.txt.

usage: kernel_programs.py FOLDER: writes FOLDER/NAME.pte for each name in KERNELS
"""
import pathlib
import sys

import torch
from executorch.backends.vulkan.partitioner.vulkan_partitioner import VulkanPartitioner
from executorch.exir import to_edge_transform_and_lower
from torchao.quantization import IntxWeightOnlyConfig, quantize_
from torchao.quantization.granularity import PerGroup


def linear_q4(rows, depth, columns):
    module = torch.nn.Sequential(torch.nn.Linear(depth, columns, bias=False))
    quantize_(module, IntxWeightOnlyConfig(weight_dtype=torch.int4, granularity=PerGroup(32)))
    return module, (torch.randn(rows, depth),)


class MatMul(torch.nn.Module):
    def forward(self, a, b):
        return a @ b


KERNELS = {
    "linear_q4 1×576×1536": lambda: linear_q4(1, 576, 1536),
    "linear_q4 64×576×1536": lambda: linear_q4(64, 576, 1536),
    "matmul 1024³": lambda: (MatMul(), (torch.randn(1024, 1024), torch.randn(1024, 1024))),
    "conv 3×3 32→64 at 56²": lambda: (torch.nn.Conv2d(32, 64, 3, padding=1, bias=False), (torch.randn(1, 32, 56, 56),)),
}


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, make in KERNELS.items():
        path = folder / f"{name}.pte"
        if path.exists():
            continue
        torch.manual_seed(0)
        module, inputs = make()
        exported = torch.export.export(module.eval(), inputs)
        lowered = to_edge_transform_and_lower(exported, partitioner=[VulkanPartitioner({})])
        path.write_bytes(lowered.to_executorch().buffer)
        print(path, file=sys.stderr)


main()
