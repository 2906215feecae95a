#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Programs that are not, or not wholly, for Pteron's backend, as they come from ExecuTorch's exporter.

usage: outside_programs.py OUT_FOLDER
"""
import pathlib
import sys

import torch
from torch import nn


class Split(nn.Module):
    """Two delegates: the exporter has no cumulative sum."""

    def forward(self, x):
        return torch.cumsum(x * 2.0 + 1.0, dim=-1) * 3.0 - x


class Forms(nn.Module):
    """Ops that the exporter knows, each in a form that it does not take."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(1)
        self.conv = nn.Conv2d(3, 2, 3)

    def forward(self, image, counts):
        filtered = self.conv(image)  # more than one image
        magnitude = torch.relu(counts)  # whole numbers
        weights = torch.softmax(image.reshape(2, 3, 2, 3, 6), dim=-1)  # five dimensions
        return filtered * 2.0, magnitude, weights


class Product(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(1)
        self.linear = nn.Linear(4, 3)

    def forward(self, x):
        return torch.sigmoid(self.linear(x))


def programs() -> dict[str, tuple]:
    """By name: module, example inputs, partitioners."""
    from executorch.backends.vulkan.partitioner.vulkan_partitioner import VulkanPartitioner
    from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
    from executorch.exir.dialects._ops import ops

    sigmoid_only = VulkanPartitioner(operator_allowlist=[ops.edge.aten.sigmoid.default])
    x = torch.randn(2, 4)
    return {
        "split": (Split(), (torch.randn(3, 5),), [VulkanPartitioner()]),
        "forms": (Forms(), (torch.randn(2, 3, 6, 6), torch.arange(4)), [VulkanPartitioner()]),
        "cpu": (Product(), (x,), []),
        "xnnpack": (Product(), (x,), [XnnpackPartitioner()]),
        "mixed": (Product(), (x,), [sigmoid_only, XnnpackPartitioner()]),
    }


def main() -> None:
    from executorch.exir import to_edge_transform_and_lower

    out = pathlib.Path(sys.argv[1])
    out.mkdir(parents=True, exist_ok=True)
    for name, (module, inputs, partitioners) in programs().items():
        exported = torch.export.export(module.eval(), inputs)
        (out / f"{name}.pte").write_bytes(to_edge_transform_and_lower(exported, partitioner=partitioners).to_executorch().buffer)


if __name__ == "__main__":
    main()
