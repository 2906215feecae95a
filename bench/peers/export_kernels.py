# SPDX-License-Identifier: BSD-3-Clause
"""Exports the single ops of kernels.py as ExecuTorch programs, for the GPU and for XNNPACK. Needs the group export of
pins.txt.

usage: export_kernels.py FOLDER: writes FOLDER/{vulkan,xnnpack}/NAME.pte
"""
import pathlib
import sys

import torch
from executorch.backends.vulkan.partitioner.vulkan_partitioner import VulkanPartitioner
from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
from executorch.exir import to_edge_transform_and_lower
from kernels import KERNELS
from torchao.quantization import Int8DynamicActivationIntxWeightConfig, IntxWeightOnlyConfig, quantize_
from torchao.quantization.granularity import PerGroup

# XNNPACK has 4-bit weights only together with activations that are rounded to 8 bits as they come.
BACKENDS = {
    "vulkan": (lambda: VulkanPartitioner({}), IntxWeightOnlyConfig(torch.int4, PerGroup(32))),
    "xnnpack": (XnnpackPartitioner, Int8DynamicActivationIntxWeightConfig(torch.int4, PerGroup(32))),
}


class MatMul(torch.nn.Module):
    def forward(self, a, b):
        return a @ b


def linear_q4(config, rows, depth, columns):
    module = torch.nn.Sequential(torch.nn.Linear(depth, columns, bias=False))
    quantize_(module, config)
    return module, (torch.randn(rows, depth),)


def matmul(config, size):
    return MatMul(), (torch.randn(size, size), torch.randn(size, size))


def conv(config, channels, out_channels, size):
    return torch.nn.Conv2d(channels, out_channels, 3, padding=1, bias=False), (torch.randn(1, channels, size, size),)


def main():
    makers = {"linear_q4": linear_q4, "matmul": matmul, "conv": conv}
    for backend, (partitioner, config) in BACKENDS.items():
        folder = pathlib.Path(sys.argv[1]) / backend
        folder.mkdir(parents=True, exist_ok=True)
        for name, (_, kind, sizes, _) in KERNELS.items():
            path = folder / f"{name}.pte"
            if path.exists():
                continue
            torch.manual_seed(0)
            module, inputs = makers[kind](config, *sizes)
            exported = torch.export.export(module.eval(), inputs)
            program = to_edge_transform_and_lower(exported, partitioner=[partitioner()]).to_executorch()
            path.write_bytes(program.buffer)
            print(path, file=sys.stderr)


main()
