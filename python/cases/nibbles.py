# SPDX-License-Identifier: BSD-3-Clause
"""Linears and tables of integers with scales that are read by floating-point numbers. The op itself is the first
oracle, the dequantised layer in float64 the second one."""
import functools

import torch
import torchao  # noqa: F401  its ops
from torch import nn
from torch.nn import functional as F
from torchao.quantization.granularity import PerGroup
from torchao.quantization.quant_api import Int8DynamicActivationIntxWeightConfig, quantize_

from cases.case import case, dim, f32, i32, i64
from cases.graph import Graph, Value

s = dim("s", 1, 9)
Q = torch.ops.quantized_decomposed

INT4, INT8 = "et_vk.linear_qcs4w.default", "aten._weight_int8pack_mm.default"
DYNAMIC = "et_vk.linear_dq8ca_q4gsw.default"


class ScaledRows(nn.Module):
    """A linear whose integer weights have a scale for each row."""

    def __init__(self, depth, columns, bits, exact=False):
        super().__init__()
        limit = 2 ** (bits - 1)
        self.register_buffer("weight", torch.randint(-limit, limit, (columns, depth), dtype=torch.int8))
        self.register_buffer("scales", (torch.rand(columns) + 0.1) / limit)
        self.register_buffer("zeros", torch.zeros(columns, dtype=torch.int64))
        self.exact, self.limit = exact, limit

    def forward(self, x):
        if self.exact:
            return F.linear(x, self.weight.double() * self.scales.double()[:, None])
        if self.limit == 128:
            return torch.ops.aten._weight_int8pack_mm(x, self.weight, self.scales)
        weight = Q.dequantize_per_channel(self.weight, self.scales, self.zeros, 0, -8, 7, torch.int8)
        return F.linear(x, weight)


def scaled_rows(name, op, depth, columns, bits, x, **rest):
    edge = {"_core_aten_ops_exception_list": [torch.ops.aten._weight_int8pack_mm.default]}
    return case(name, lambda: ScaledRows(depth, columns, bits), x, edge=edge, expect_ops=op,
                reference=lambda: ScaledRows(depth, columns, bits, exact=True), **rest)


int4 = functools.partial(scaled_rows, op=INT4, bits=4)
int8 = functools.partial(scaled_rows, op=INT8, bits=8, beyond=True)

ROWS = [
    int4("linear_qcs4w/fours", depth=32, columns=12, x=f32(5, 32)),
    int4("linear_qcs4w/one_row", depth=64, columns=8, x=f32(1, 64)),
    int4("linear_qcs4w/odd", depth=38, columns=7, x=f32(3, 38)),
    int4("linear_qcs4w/rank3", depth=16, columns=4, x=f32(2, 3, 16)),
    int4("linear_qcs4w/dynamic", depth=32, columns=12, x=f32(s, 32), live=[4, 1]),
    int8("weight_int8pack_mm/fours", depth=16, columns=12, x=f32(8, 16)),
    int8("weight_int8pack_mm/odd", depth=13, columns=7, x=f32(5, 13)),
    int8("weight_int8pack_mm/one_row", depth=67, columns=29, x=f32(1, 67)),
    int8("weight_int8pack_mm/tiles", depth=36, columns=68, x=f32(67, 36)),
    int8("weight_int8pack_mm/dynamic", depth=32, columns=12, x=f32(s, 32), live=[4, 1]),
]


def dynamically_quantized(make, group):
    module = make()
    config = Int8DynamicActivationIntxWeightConfig(weight_dtype=torch.int4, weight_granularity=PerGroup(group))
    return quantize_(module, config) or module


class DynamicLinear(nn.Module):
    """Rows of the input become 8-bit integers before they meet the dequantised weights."""

    def __init__(self, make, group):
        super().__init__()
        layer = dynamically_quantized(lambda: nn.Sequential(make()), group)[0]
        self.register_buffer("weight", layer.weight.dequantize())
        self.register_buffer("bias", layer.bias)

    def forward(self, x):
        least, most = x.amin(-1, keepdim=True).clamp(max=0), x.amax(-1, keepdim=True).clamp(min=0)
        scale = (most - least) / 255
        zero = (-128 - torch.round(least / scale)).clamp(-128, 127)
        rounded = (torch.round(x / scale) + zero).clamp(-128, 127)
        return F.linear((rounded - zero) * scale, self.weight, self.bias)


def dynamic(name, depth, columns, group, x, bias=False, **rest):
    make = functools.partial(nn.Linear, depth, columns, bias)
    return case(f"linear_dq8ca_q4gsw/{name}", lambda: dynamically_quantized(lambda: nn.Sequential(make()), group), x,
                reference=lambda: DynamicLinear(make, group), expect_ops=[DYNAMIC, CHOOSE], **rest)


CHOOSE = "torchao.choose_qparams_affine.default"
DYNAMICS = [
    dynamic("fours", 64, 12, 32, f32(4, 64)),
    dynamic("one_row", 64, 8, 32, f32(1, 64)),
    dynamic("three_rows", 32, 8, 16, f32(3, 32)),
    dynamic("seven_rows", 32, 8, 16, f32(7, 32), beyond=True),
    dynamic("bias", 32, 8, 32, f32(4, 32), bias=True),
    dynamic("dynamic", 64, 12, 32, f32(s, 64), live=[4, 1], beyond=True),
]  # fmt: skip

EMBEDDING = "quantized_decomposed.embedding_4bit.dtype"


class Table(nn.Module):
    """Rows of 4-bit values, two in a byte: the even one in the high half."""

    def __init__(self, vocabulary, width, groups, zeros=False, exact=False):
        super().__init__()
        self.register_buffer("weight", torch.randint(0, 256, (vocabulary, width // 2), dtype=torch.uint8))
        shape = (vocabulary, groups) if groups > 1 else (vocabulary,)
        self.register_buffer("scales", torch.rand(shape) + 0.1)
        self.register_buffer("zeros", torch.randint(-3, 4, shape).float() if zeros else None)
        self.exact = exact

    def forward(self, tokens):
        if not self.exact:
            return Q.embedding_4bit.dtype(self.weight, self.scales, self.zeros, -8, 7, tokens, dtype=torch.float32)
        values = torch.stack([self.weight >> 4, self.weight & 15], -1).flatten(1).double() - 8
        scales = self.scales.double().reshape(len(self.scales), -1)
        zeros = torch.zeros_like(scales) if self.zeros is None else self.zeros.double().reshape(scales.shape)
        size = values.shape[1] // scales.shape[1]
        return ((values - zeros.repeat_interleave(size, 1)) * scales.repeat_interleave(size, 1))[tokens]


def drawn_table(g: Graph, tokens: Value):
    m = g.module
    zeros = None if m.zeros is None else g.constant(m.zeros)
    out = g.tensor(torch.float32, *g.shape(tokens), 2 * m.weight.shape[1])
    return g.call(EMBEDDING, g.constant(m.weight), g.constant(m.scales), zeros, -8, 7, tokens, None, out=out)


def table(name, vocabulary, width, groups, tokens, zeros=False, **rest):
    """The exporter fuses these tables into others; the op itself is written by hand."""
    return case(f"embedding_4bit/{name}", lambda: Table(vocabulary, width, groups, zeros), tokens, graph=drawn_table,
                reference=lambda: Table(vocabulary, width, groups, zeros, exact=True), expect_ops=EMBEDDING, **rest)


TABLES = [
    table("one_scale", 11, 6, 1, i64(5, low=0, high=11)),
    table("groups", 7, 32, 4, i32(2, 3, low=0, high=7)),
    table("odd_bytes", 5, 10, 1, i64(3, low=0, high=5)),
    table("zero_points", 7, 16, 2, i64(5, low=0, high=7), zeros=True),
    table("dynamic", 13, 32, 2, i64(1, s, low=0, high=13), live=[4, 1]),
]

CASES = ROWS + DYNAMICS + TABLES
