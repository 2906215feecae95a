# SPDX-License-Identifier: BSD-3-Clause
"""Programs around which ExecuTorch puts something, exported once and kept."""
import hashlib
from importlib.metadata import version
from pathlib import Path

import torch
from torch import nn
from torch.export import Dim


class Split(nn.Module):
    """Two delegates: cumulative sums stay on the CPU."""

    def forward(self, x):
        return torch.cumsum(x * 2.0 + 1.0, dim=-1) * 3.0 - x


class Rows(nn.Module):
    """A delegate gets a size as an integer, since the sum lies between it and the tensor that the size is of."""

    def forward(self, x):
        rows = x.shape[0]
        y = torch.cumsum(x.reshape(rows * 5), dim=-1)
        return (y * 2.0).view(rows, 5) + x


class Counter(nn.Module):
    """The delegate has an output for the updated buffer that the call has none for."""

    def __init__(self):
        super().__init__()
        self.register_buffer("total", torch.zeros(4))

    def forward(self, x):
        self.total.add_(x)
        return self.total * 2.0


class Twice(nn.Module):
    def forward(self, x):
        return x + x


class Product(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(1)
        self.linear = nn.Linear(4, 3)

    def forward(self, x):
        return self.linear(x)


def export(modules: dict[str, tuple], **options) -> bytes:
    """Methods by name: a module, its example inputs and its dynamic shapes."""
    from cases.lowering import prepare_process
    from executorch.backends.vulkan.partitioner.vulkan_partitioner import VulkanPartitioner
    from executorch.exir import to_edge_transform_and_lower

    prepare_process()
    exported = {
        name: torch.export.export(module.eval(), inputs, dynamic_shapes=shapes)
        for name, (module, inputs, shapes) in modules.items()
    }
    partitioners = {name: [VulkanPartitioner(options)] for name in modules}
    return to_edge_transform_and_lower(exported, partitioner=partitioners).to_executorch().buffer


def definitions() -> dict[str, dict[str, tuple]]:
    rows = Dim("rows", min=1, max=6)
    return {
        "split": {"forward": (Split(), (torch.randn(3, 5),), None)},
        "rows": {"forward": (Rows(), (torch.randn(6, 5),), ({0: rows},))},
        "counter": {"forward": (Counter(), (torch.randn(4),), None)},
        "methods": {"twice": (Twice(), (torch.randn(4),), None), "product": (Product(), (torch.randn(2, 4),), None)},
    }


def make(folder: Path) -> dict[str, Path]:
    """The programs' files; exported anew only if this file or the wheel has changed."""
    state = hashlib.sha256(Path(__file__).read_bytes() + version("executorch").encode()).hexdigest()
    folder.mkdir(parents=True, exist_ok=True)
    key = folder / ".key"
    paths = {name: folder / f"{name}.pte" for name in definitions()}
    if not key.exists() or key.read_text() != state:
        for name, modules in definitions().items():
            paths[name].write_bytes(export(modules))
        key.write_text(state)
    return paths
