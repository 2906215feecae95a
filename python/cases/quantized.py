# SPDX-License-Identifier: BSD-3-Clause
"""Layers on 8-bit integers. The exporter finds them between quantize and dequantize ops, which are their first oracle;
the second one is the same layer on the numbers that the integers stand for, in float64."""
import dataclasses

import torch
from torch import nn
from torch.nn import functional as F

from cases.case import case, dim, i8
from cases.graph import Graph, Value

s = dim("s", 1, 9)
h, w = dim("h", 4, 11), dim("w", 4, 13)
LIVE = [{"h": 4, "w": 4}, {"h": 8, "w": 5}, {"h": 5, "w": 13}]

Q = torch.ops.quantized_decomposed


@dataclasses.dataclass(frozen=True)
class Scale:
    """Of the 8-bit numbers of a tensor."""

    step: float
    zero: int

    def of_integers(self, x):  # the exporter's way
        return Q.dequantize_per_tensor(x, self.step, self.zero, -128, 127, torch.int8)

    def to_integers(self, x):
        return Q.quantize_per_tensor(x, self.step, self.zero, -128, 127, torch.int8)

    def numbers(self, x):  # the plain way
        return (x.double() - self.zero) * self.step

    def integers(self, x):
        return (torch.round(x / self.step) + self.zero).clamp(-128, 127).to(torch.int8)


X, B, Y = Scale(0.043, -5), Scale(0.027, 11), Scale(0.11, 3)


class Layer(nn.Module):
    """`apply(x, weight, bias)` on dequantised numbers. Weights have one scale for each channel along `axis`."""

    def __init__(self, apply, shape, channels, axis=0, bias=True, y=Y, exact=False):
        super().__init__()
        self.register_buffer("weight", torch.randint(-127, 128, shape, dtype=torch.int8))
        self.register_buffer("scales", torch.rand(channels) * 0.005 + 0.0005)
        self.register_buffer("zeros", torch.zeros(channels, dtype=torch.int64))
        self.register_buffer("bias", torch.randn(channels) if bias else None)
        self.apply_layer, self.axis, self.y, self.exact = apply, axis, y, exact

    def weights(self):
        if self.exact:
            shape = [-1 if axis == self.axis else 1 for axis in range(self.weight.dim())]
            return self.weight.double() * self.scales.double().reshape(shape)
        return Q.dequantize_per_channel(self.weight, self.scales, self.zeros, self.axis, -127, 127, torch.int8)

    def forward(self, x):
        y = self.apply_layer(X.numbers(x) if self.exact else X.of_integers(x), self.weights(), self.bias)
        if self.y is None:
            return y
        return self.y.integers(y) if self.exact else self.y.to_integers(y)


def layer(name, op, apply, shape, channels, *inputs, **rest):
    """A case with both oracles. 8-bit results may be one off where a number is halfway between two."""
    own = {key: rest.pop(key) for key in ("axis", "bias", "y") if key in rest}
    return case(name, lambda: Layer(apply, shape, channels, **own), *inputs, int8_slack=1, expect_ops=op,
                reference=lambda: Layer(apply, shape, channels, exact=True, **own), **rest)  # fmt: skip


CONV, POINTWISE, DEPTHWISE = "et_vk.q8ta_conv2d.default", "et_vk.q8ta_conv2d_pw.default", "et_vk.q8ta_conv2d_dw.default"
TRANSPOSED = "et_vk.q8ta_conv2d_transposed.default"


def conv(name, op, shape, x, relu=False, groups=1, **rest):
    own = {key: rest.pop(key) for key in ("stride", "padding", "dilation") if key in rest}
    if rest.pop("by_hand", False):
        rest["graph"] = drawn_conv(op, groups, relu, **own)

    def apply(x, weight, bias):
        y = F.conv2d(x, weight, bias, groups=groups, **own)
        return F.relu(y) if relu else y

    return layer(name, op, apply, shape, shape[0], x, **rest)


def transposed(name, shape, x, relu=False, **rest):
    own = {key: rest.pop(key) for key in ("stride", "padding", "output_padding") if key in rest}

    def apply(x, weight, bias):
        y = F.conv_transpose2d(x, weight, bias, **own)
        return F.relu(y) if relu else y

    return layer(f"q8ta_conv2d_transposed/{name}", TRANSPOSED, apply, shape, shape[1], x, axis=1, **rest)


def sums(g, weight):
    """Of each channel's weights; padded as the exporter does."""
    values = weight.flatten(1).sum(1, dtype=torch.int32)
    return g.constant(F.pad(values, (0, -len(values) % 4)))


def after(g):
    """What follows the weights in the arguments of every layer."""
    m = g.module
    scales, bias = (None if v is None else g.constant(F.pad(v, (0, -len(v) % 4))) for v in (m.scales, m.bias))
    return [scales, m.y.step, m.y.zero, bias] if m.y else [scales, bias]


def drawn_conv(op, groups, relu, stride=1, padding=0, dilation=1):
    """Layers that the exporter does not find, with weights as it packs them."""

    def draw(g: Graph, x: Value):
        weight = g.module.weight
        taps = list(weight.shape[2:])
        packed = weight.permute(2, 3, 1, 0).reshape(*taps, -1) if op == DEPTHWISE else weight.permute(0, 2, 3, 1).flatten(1)
        if op != DEPTHWISE:
            packed = F.pad(packed, (0, -packed.shape[1] % 4))
        shape = F.conv2d(torch.zeros(g.shape(x)), weight.float(), None, stride, padding, dilation, groups).shape
        pairs = [[n, n] if isinstance(n, int) else list(n) for n in (stride, padding, dilation)]
        return g.call(op, x, X.step, X.zero, g.constant(packed), sums(g, weight), *after(g), taps, *pairs, groups,
                      "relu" if relu else "none", out=g.tensor(torch.int8, *shape))

    return draw


def drawn_linear(op, relu):
    def draw(g: Graph, x: Value):
        m = g.module
        activation = [] if m.y is None else ["relu" if relu else "none"]
        out = g.tensor(torch.int8 if m.y else torch.float32, *g.shape(x)[:-1], m.weight.shape[0])
        return g.call(op, x, X.step, X.zero, g.constant(m.weight), sums(g, m.weight), *after(g), *activation, out=out)

    return draw


CONVS = [
    conv("q8ta_conv2d/odd", CONV, (5, 3, 3, 3), i8(1, 3, 7, 9)),
    conv("q8ta_conv2d/fours", CONV, (8, 4, 3, 3), i8(1, 4, 8, 8), padding=1),
    conv("q8ta_conv2d/stride_and_padding", CONV, (4, 3, 3, 5), i8(1, 3, 9, 14), stride=(2, 3), padding=(1, 2)),
    conv("q8ta_conv2d/dilation", CONV, (6, 5, 3, 3), i8(1, 5, 9, 8), dilation=2),
    conv("q8ta_conv2d/no_bias", CONV, (4, 4, 2, 2), i8(1, 4, 5, 6), bias=False),
    conv("q8ta_conv2d/relu", CONV, (4, 3, 3, 3), i8(1, 3, 6, 6), relu=True),
    conv("q8ta_conv2d/grouped", CONV, (6, 4, 3, 3), i8(1, 8, 6, 8), groups=2, by_hand=True),
    conv("q8ta_conv2d/grouped_odd", CONV, (6, 3, 2, 2), i8(1, 9, 5, 7), groups=3, relu=True, by_hand=True),
    conv("q8ta_conv2d/dynamic", CONV, (5, 3, 3, 3), i8(1, 3, h, w), padding=1, live=LIVE, beyond=True),
    conv("q8ta_conv2d_pw/odd", POINTWISE, (5, 7, 1, 1), i8(1, 7, 3, 5)),
    conv("q8ta_conv2d_pw/fours", POINTWISE, (12, 8, 1, 1), i8(1, 8, 4, 4)),
    conv("q8ta_conv2d_pw/relu", POINTWISE, (4, 9, 1, 1), i8(1, 9, 5, 3), relu=True),
    conv("q8ta_conv2d_pw/no_bias", POINTWISE, (3, 16, 1, 1), i8(1, 16, 1, 7), bias=False),
    conv("q8ta_conv2d_pw/dynamic", POINTWISE, (6, 8, 1, 1), i8(1, 8, h, w), live=LIVE, beyond=True),
    conv("q8ta_conv2d_dw/odd", DEPTHWISE, (5, 1, 3, 3), i8(1, 5, 7, 6), groups=5, padding=1, by_hand=True),
    conv("q8ta_conv2d_dw/fours", DEPTHWISE, (8, 1, 3, 3), i8(1, 8, 8, 8), groups=8, padding=1),
    conv("q8ta_conv2d_dw/strided", DEPTHWISE, (4, 1, 5, 5), i8(1, 4, 9, 11), groups=4, stride=2, padding=2),
    conv("q8ta_conv2d_dw/relu", DEPTHWISE, (6, 1, 3, 3), i8(1, 6, 6, 7), groups=6, relu=True, by_hand=True),
    conv("q8ta_conv2d_dw/no_bias", DEPTHWISE, (4, 1, 2, 3), i8(1, 4, 5, 6), groups=4, bias=False, dilation=(1, 2)),
    conv("q8ta_conv2d_dw/dynamic", DEPTHWISE, (4, 1, 3, 3), i8(1, 4, h, w), groups=4, live=LIVE, beyond=True),
    transposed("odd", (3, 5, 3, 3), i8(1, 3, 5, 6)),
    transposed("strided", (4, 6, 2, 2), i8(1, 4, 4, 5), stride=2),
    transposed("padded", (5, 3, 3, 4), i8(1, 5, 4, 5), stride=(2, 3), padding=(1, 2)),
    transposed("output_padding", (4, 4, 3, 3), i8(1, 4, 4, 5), stride=2, padding=1, output_padding=1),
    transposed("relu_no_bias", (2, 8, 3, 3), i8(1, 2, 3, 4), bias=False, relu=True),
    transposed("dynamic", (3, 4, 2, 2), i8(1, 3, h, w), stride=2, live=LIVE, beyond=True),
]  # fmt: skip

LINEAR, GEMV = "et_vk.q8ta_linear.default", "et_vk.q8ta_linear_gemv.default"
TO_FLOATS = "et_vk.linear_q8ta_q8csw.default"


def linear(name, op, depth, columns, x, relu=False, by_hand=False, **rest):
    if by_hand:
        rest["graph"] = drawn_linear(op, relu)

    def apply(x, weight, bias):
        y = F.linear(x, weight, bias)
        return F.relu(y) if relu else y

    return layer(name, op, apply, (columns, depth), columns, x, **rest)


LINEARS = [
    linear("q8ta_linear/fours", LINEAR, 16, 12, i8(8, 16)),
    linear("q8ta_linear/odd_depth", LINEAR, 7, 8, i8(3, 7), by_hand=True),
    linear("q8ta_linear/odd_columns", LINEAR, 12, 5, i8(6, 12)),
    linear("q8ta_linear/tiles", LINEAR, 36, 68, i8(67, 36)),
    linear("q8ta_linear/relu", LINEAR, 20, 8, i8(5, 20), relu=True),
    linear("q8ta_linear/no_bias", LINEAR, 32, 4, i8(9, 32), bias=False),
    linear("q8ta_linear/dynamic", LINEAR, 12, 8, i8(s, 12), live=[4, 1], beyond=True),
    linear("q8ta_linear_gemv/fours", GEMV, 64, 32, i8(1, 64)),
    linear("q8ta_linear_gemv/odd", GEMV, 67, 29, i8(1, 67), by_hand=True),
    linear("q8ta_linear_gemv/relu", GEMV, 33, 8, i8(1, 33), relu=True, by_hand=True),
    linear("q8ta_linear_gemv/no_bias", GEMV, 12, 7, i8(1, 12), bias=False),
    linear("linear_q8ta_q8csw/fours", TO_FLOATS, 16, 12, i8(8, 16), y=None),
    linear("linear_q8ta_q8csw/odd", TO_FLOATS, 13, 7, i8(5, 13), y=None, by_hand=True),
    linear("linear_q8ta_q8csw/one_row", TO_FLOATS, 67, 29, i8(1, 67), y=None, by_hand=True),
    linear("linear_q8ta_q8csw/no_bias", TO_FLOATS, 12, 9, i8(3, 12), y=None, bias=False, by_hand=True),
    linear("linear_q8ta_q8csw/dynamic", TO_FLOATS, 12, 8, i8(s, 12), y=None, live=[4, 1]),
]  # fmt: skip

ADD, RELU, SHUFFLE = "et_vk.q8ta_add.default", "et_vk.q8ta_relu.default", "et_vk.q8ta_pixel_shuffle.default"


def unary(name, op, function, x, **rest):
    return case(name, lambda x: Y.to_integers(function(X.of_integers(x))), x, expect_ops=op, int8_slack=1,
                reference=lambda x: Y.integers(function(X.numbers(x))), **rest)


def addition(name, a, b, alpha=1.0, **rest):
    def add(x, y):
        return Y.to_integers(torch.add(X.of_integers(x), B.of_integers(y), alpha=alpha))

    def reference(x, y):
        return Y.integers(X.numbers(x) + alpha * B.numbers(y))

    return case(f"q8ta_add/{name}", add, a, b, expect_ops=ADD, int8_slack=1, reference=reference, **rest)


def drawn_sum(g: Graph, x: Value, y: Value):
    return g.call(ADD, x, y, X.step, X.zero, B.step, B.zero, Y.step, Y.zero, 2.0, out=g.tensor(torch.int8, *g.shape(x)))


def shuffled(x):
    return F.pixel_shuffle(x, 2)


ELEMENTWISE = [
    addition("fours", i8(1, 4, 4, 8), i8(1, 4, 4, 8)),
    addition("odd", i8(1, 3, 5, 7), i8(1, 3, 5, 7)),
    addition("rank2", i8(3, 5), i8(3, 5)),
    # The exporter forgets alpha.
    addition("alpha", i8(1, 3, 3, 5), i8(1, 3, 3, 5), alpha=2.0, graph=drawn_sum),
    addition("broadcast", i8(1, 3, 5, 7), i8(7), beyond=True),
    addition("dynamic", i8(1, 3, h, w), i8(1, 3, h, w), live=LIVE, beyond=True),
    unary("q8ta_relu/fours", RELU, F.relu, i8(1, 4, 4, 8)),
    unary("q8ta_relu/odd", RELU, F.relu, i8(1, 3, 5, 7)),
    unary("q8ta_relu/rank2", RELU, F.relu, i8(3, 5)),
    unary("q8ta_relu/dynamic", RELU, F.relu, i8(1, 3, h, w), live=LIVE, beyond=True),
    unary("q8ta_pixel_shuffle/fours", SHUFFLE, shuffled, i8(1, 8, 4, 4)),
    unary("q8ta_pixel_shuffle/odd", SHUFFLE, shuffled, i8(1, 12, 3, 5)),
    unary("q8ta_pixel_shuffle/by_three", SHUFFLE, lambda x: F.pixel_shuffle(x, 3), i8(1, 9, 3, 1)),
    unary("q8ta_pixel_shuffle/dynamic", SHUFFLE, shuffled, i8(1, 4, h, w), live=LIVE, beyond=True),
]  # fmt: skip

CASES = CONVS + LINEARS + ELEMENTWISE
