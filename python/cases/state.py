# SPDX-License-Identifier: BSD-3-Clause
"""Programs that keep state without caches, and constants outside of the program."""
import torch
from torch import nn

from cases.case import case, f32

ADD, MUL, CAT = "aten.add.Tensor", "aten.mul.Tensor", "aten.cat.default"
ALIASED = {"alias_buffer_mutations": True}
THREE = [{}, {}, {}]


class Total(nn.Module):
    """What was added so far: an op whose input is its output."""

    def __init__(self):
        super().__init__()
        self.register_buffer("total", torch.randn(3, 5))

    def forward(self, x):
        self.total.add_(x)
        return self.total * 2.0


class Product(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("product", torch.randn(7))

    def forward(self, x):
        y = x + self.product  # the value before this call
        self.product.mul_(x)
        return y


class Window(nn.Module):
    """The last rows that were given."""

    def __init__(self):
        super().__init__()
        self.register_buffer("rows", torch.zeros(5, 3))

    def forward(self, x):
        rows = torch.cat([self.rows, x])[2:]
        self.rows.copy_(rows)
        return rows + 1.0


class Affine(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale, self.shift = nn.Parameter(torch.randn(3, 7)), nn.Parameter(torch.randn(7))

    def forward(self, x):
        return x * self.scale + self.shift


def external(bytes_per_file: int) -> dict:
    return {"external_constants_max_data_bytes": bytes_per_file}


CASES = [
    case("state/total", Total, f32(3, 5), steps=THREE, compile=ALIASED, expect_ops=ADD),
    case("state/product", Product, f32(7), steps=THREE, compile=ALIASED, expect_ops=MUL),
    case("state/window", Window, f32(2, 3), steps=THREE, compile=ALIASED, expect_ops=CAT),
    case("external_data/one_file", Affine, f32(3, 7), compile=external(4096), expect_ops=MUL),
    case("external_data/two_files", Affine, f32(3, 7), compile=external(90), expect_ops=MUL),
]
