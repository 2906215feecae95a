# SPDX-License-Identifier: BSD-3-Clause
"""Conversions between floating-point numbers and integers with a scale and a zero point, and the choice of those. The
ops themselves are the first oracle; the second one is the formula in float64."""
import torch
import torchao  # noqa: F401  its ops
from torch import nn

from cases.case import case, dim, f32, i8, i32, u8

s, t = dim("s", 1, 9), dim("t", 1, 5)
LIVE = [{"s": 4, "t": 3}, {"s": 1, "t": 1}, {"s": 1, "t": 5}]

Q = torch.ops.quantized_decomposed
RANGES = {torch.int8: (-128, 127), torch.uint8: (0, 255), torch.int32: (-(2**31), 2**31 - 1)}


def to_integers(x, scale, zero, low, high, dtype):
    return (torch.round(x.double() / scale) + zero).clamp(low, high).to(dtype)


def of_integers(x, scale, zero):
    return (x.double() - zero) * scale


def quantized_by_numbers(name, x, scale, zero, dtype=torch.int8, limits=None, **rest):
    low, high = limits or RANGES[dtype]
    return case(f"quantize_per_tensor/{name}", lambda x: Q.quantize_per_tensor(x, scale, zero, low, high, dtype), x,
                reference=lambda x: to_integers(x, scale, zero, low, high, dtype),
                expect_ops="quantized_decomposed.quantize_per_tensor.default", **rest)


def dequantized_by_numbers(name, x, scale, zero, **rest):
    low, high = RANGES[x.dtype]
    return case(f"dequantize_per_tensor/{name}", lambda x: Q.dequantize_per_tensor(x, scale, zero, low, high, x.dtype), x,
                reference=lambda x: of_integers(x, scale, zero),
                expect_ops="quantized_decomposed.dequantize_per_tensor.default", **rest)


WIDE = {"low": -9, "high": 9}
BY_NUMBERS = [
    quantized_by_numbers("odd", f32(3, 5, 7), 0.03, -7),
    quantized_by_numbers("saturates", f32(3, 7, low=-99, high=99), 0.1, 3),
    quantized_by_numbers("halves", f32(of=[0.25, 0.75, 1.25, -0.25, -0.75, -1.25, 0.0, -0.0]), 0.5, 1),
    quantized_by_numbers("scale_of_one", f32(3, 5, **WIDE), 1.0, 0),
    quantized_by_numbers("uint8", f32(3, 7), 0.03, 128, torch.uint8),
    quantized_by_numbers("int32", f32(3, 5), 0.001, 5, torch.int32, beyond=True),
    quantized_by_numbers("narrow", f32(3, 5), 0.1, 0, limits=(-8, 7)),
    quantized_by_numbers("rank0", f32(of=1.7), 0.05, 2),
    quantized_by_numbers("no_elements", f32(0, 5), 0.05, 2),
    quantized_by_numbers("rank5", f32(2, 1, 3, 2, 3), 0.02, 4),
    quantized_by_numbers("force_fp16", f32(3, 7), 0.03125, -7, compile={"force_fp16": True}),
    quantized_by_numbers("dynamic", f32(s, t), 0.03, -7, live=LIVE, beyond=True),
    dequantized_by_numbers("odd", i8(3, 5, 7), 0.03, -7),
    dequantized_by_numbers("scale_of_one", i8(7), 1.0, 0),
    dequantized_by_numbers("uint8", u8(3, 7), 0.03, 128),
    dequantized_by_numbers("int32", i32(3, 5, low=-99999, high=99999), 0.001, 5, beyond=True),
    dequantized_by_numbers("rank0", i8(of=-100), 0.05, 2),
    dequantized_by_numbers("no_elements", i8(0, 5), 0.05, 2),
    dequantized_by_numbers("force_fp16", i8(3, 7), 0.03125, -7, compile={"force_fp16": True}),
    dequantized_by_numbers("dynamic", i8(s, t), 0.03, -7, live=LIVE, beyond=True),
]  # fmt: skip


def zeros(count, dtype):
    low, high = RANGES[dtype]
    return torch.randint(max(low, -9), min(high, 9), (count,))


class Converted(nn.Module):
    """`op(x, scale, zero)` with constants: scales and zero points."""

    def __init__(self, op, count, dtype):
        super().__init__()
        self.register_buffer("scale", torch.rand(count) * 0.1 + 0.02)
        self.register_buffer("zero", zeros(count, dtype))
        self.op = op

    def forward(self, x):
        return self.op(x, self.scale, self.zero)


def converted(name, op, count, dtype, function, reference, x, **rest):
    return case(name, lambda: Converted(function, count, dtype), x,
                reference=lambda: Converted(reference, count, dtype), expect_ops=op, beyond=True, **rest)


def by_tensors(name, x, dtype=torch.int8, **rest):
    low, high = RANGES[dtype]
    return converted(
        f"quantize_by_tensors/{name}", "quantized_decomposed.quantize_per_tensor.tensor", 1, dtype,
        lambda x, scale, zero: Q.quantize_per_tensor.tensor(x, scale, zero, low, high, dtype),
        lambda x, scale, zero: to_integers(x, scale, zero, low, high, dtype).reshape(x.shape), x, **rest)  # fmt: skip


def of_tensors(name, x, **rest):
    low, high = RANGES[x.dtype]
    return converted(
        f"dequantize_by_tensors/{name}", "quantized_decomposed.dequantize_per_tensor.tensor", 1, x.dtype,
        lambda x, scale, zero: Q.dequantize_per_tensor.tensor(x, scale, zero, low, high, x.dtype),
        lambda x, scale, zero: of_integers(x, scale, zero).reshape(x.shape), x, **rest)  # fmt: skip


def along(values, axis, rank):
    return values.reshape([-1 if i == axis % rank else 1 for i in range(rank)])


def per_channel(name, x, count, axis, dtype=torch.int8, **rest):
    (low, high), rank = RANGES[dtype], len(x.shape)
    return converted(
        f"quantize_per_channel/{name}", "quantized_decomposed.quantize_per_channel.default", count, dtype,
        lambda x, scale, zero: Q.quantize_per_channel(x, scale, zero, axis, low, high, dtype),
        lambda x, scale, zero: to_integers(x, along(scale, axis, rank), along(zero, axis, rank), low, high, dtype),
        x, **rest)  # fmt: skip


def of_channels(name, x, count, axis, **rest):
    (low, high), rank = RANGES[x.dtype], len(x.shape)
    return converted(
        f"dequantize_per_channel/{name}", "quantized_decomposed.dequantize_per_channel.default", count, x.dtype,
        lambda x, scale, zero: Q.dequantize_per_channel(x, scale, zero, axis, low, high, x.dtype),
        lambda x, scale, zero: of_integers(x, along(scale, axis, rank), along(zero, axis, rank)), x, **rest)  # fmt: skip


BY_TENSORS = [
    by_tensors("odd", f32(3, 5, 7)),
    by_tensors("uint8", f32(3, 7), torch.uint8),
    by_tensors("rank0", f32(of=-1.7)),
    by_tensors("dynamic", f32(s, t), live=LIVE),
    of_tensors("odd", i8(3, 5, 7)),
    of_tensors("uint8", u8(3, 7)),
    of_tensors("rank0", i8(of=77)),
    of_tensors("dynamic", i8(s, t), live=LIVE),
    per_channel("first_axis", f32(5, 7), 5, 0),
    per_channel("last_axis", f32(3, 7), 7, 1),
    per_channel("middle_axis", f32(2, 3, 5), 3, 1),
    per_channel("uint8", f32(3, 3), 3, 0, torch.uint8),
    per_channel("dynamic", f32(s, 3, t), 3, 1, live=LIVE),
    of_channels("first_axis", i8(5, 7), 5, 0),
    of_channels("last_axis", i8(3, 7), 7, 1),
    of_channels("middle_axis", i8(2, 3, 5), 3, 1),
    of_channels("uint8", u8(3, 3), 3, 0),
    of_channels("dynamic", i8(s, 3, t), 3, 1, live=LIVE),
]


def steps(shape):
    return 0.02 + 0.1 * torch.rand(shape, generator=torch.Generator().manual_seed(1))


def per_token(name, x, scale, zero, **rest):
    return case(f"quantize_per_token/{name}", lambda x, y, z: Q.quantize_per_token(x, y, z, -128, 127, torch.int8),
                x, scale, zero, reference=lambda x, y, z: (torch.round(x / y + z)).clamp(-128, 127).to(torch.int8),
                expect_ops="quantized_decomposed.quantize_per_token.default", beyond=True, **rest)  # fmt: skip


def of_tokens(name, x, scale, zero, **rest):
    return case(f"dequantize_per_token/{name}",
                lambda x, y, z: Q.dequantize_per_token(x, y, z, -128, 127, torch.int8, torch.float32),
                x, scale, zero, reference=lambda x, y, z: of_integers(x, y, z),
                expect_ops="quantized_decomposed.dequantize_per_token.default", beyond=True, **rest)  # fmt: skip


TOKENS = [
    per_token("odd", f32(5, 7), f32(5, 1, fill=steps), i32(5, 1)),
    per_token("one_row", f32(1, 37), f32(1, 1, fill=steps), i32(1, 1)),
    per_token("rank3", f32(2, 3, 5), f32(2, 3, 1, fill=steps), i32(2, 3, 1)),
    per_token("dynamic", f32(s, 12), f32(s, 1, fill=steps), i32(s, 1), live=[4, 1]),
    of_tokens("odd", i8(5, 7), f32(5, 1, fill=steps), i32(5, 1)),
    of_tokens("one_row", i8(1, 37), f32(1, 1, fill=steps), i32(1, 1)),
    of_tokens("rank3", i8(2, 3, 5), f32(2, 3, 1, fill=steps), i32(2, 3, 1)),
    of_tokens("dynamic", i8(s, 12), f32(s, 1, fill=steps), i32(s, 1), live=[4, 1]),
]


def spread(scale, blocks, shape):
    """One value for each block, repeated over it."""
    for axis, block in enumerate(blocks):
        scale = scale.reshape([n // b for n, b in zip(shape, blocks)]) if axis == 0 else scale
        scale = scale.repeat_interleave(block, axis)
    return scale


def blocks_of(shape, blocks):
    count = 1
    for size, block in zip(shape, blocks):
        count *= size // block
    return count


def affine(name, x, blocks, low=-128, high=127, **rest):
    return converted(
        f"quantize_affine/{name}", "torchao.quantize_affine.default", blocks_of(x.shape, blocks), torch.int8,
        lambda x, scale, zero: torch.ops.torchao.quantize_affine(x, blocks, scale, zero, torch.int8, low, high),
        lambda x, scale, zero: to_integers(x, spread(scale, blocks, x.shape), spread(zero, blocks, x.shape), low, high,
                                           torch.int8), x, **rest)  # fmt: skip


def of_affine(name, x, blocks, low=-128, high=127, **rest):
    return converted(
        f"dequantize_affine/{name}", "torchao.dequantize_affine.default", blocks_of(x.shape, blocks), torch.int8,
        lambda x, scale, zero: torch.ops.torchao.dequantize_affine(x, blocks, scale, zero, torch.int8, low, high),
        lambda x, scale, zero: of_integers(x, spread(scale, blocks, x.shape), spread(zero, blocks, x.shape)),
        x, **rest)  # fmt: skip


AFFINE = [
    affine("rows", f32(5, 7), [1, 7]),
    affine("groups", f32(3, 12), [1, 4]),
    affine("tiles", f32(4, 6), [2, 3]),
    affine("whole", f32(3, 5), [3, 5]),
    affine("narrow", f32(3, 8), [1, 8], low=-8, high=7),
    of_affine("rows", i8(5, 7), [1, 7]),
    of_affine("groups", i8(3, 12), [1, 4]),
    of_affine("tiles", i8(4, 6), [2, 3]),
    of_affine("whole", i8(3, 5), [3, 5]),
    of_affine("narrow", i8(3, 8, low=-8, high=8), [1, 8], low=-8, high=7),
]

CHOOSE, CHOOSE_TOKEN = "quantized_decomposed.choose_qparams.tensor", "quantized_decomposed.choose_qparams_per_token_asymmetric.default"
CHOOSE_AFFINE = "torchao.choose_qparams_affine.default"


def chosen(name, x, low=-128, high=127, eps=1e-5, **rest):
    def reference(x):
        least, most = x.min().clamp(max=0), x.max().clamp(min=0)
        scale = ((most - least) / (high - low)).clamp(min=eps)
        return scale.reshape(1), (low - torch.round(least / scale)).clamp(low, high).long().reshape(1)

    return case(f"choose_qparams/{name}", lambda x: Q.choose_qparams.tensor(x, low, high, eps, torch.int8), x,
                reference=reference, expect_ops=CHOOSE, beyond=True, atol=1e-6, rtol=1e-5, **rest)


def chosen_per_token(name, x, **rest):
    def reference(x):
        least, most = x.amin(-1, keepdim=True).clamp(max=0), x.amax(-1, keepdim=True).clamp(min=0)
        scale = ((most - least) / 255).clamp(min=torch.finfo(torch.float32).eps)
        a, b = least / scale, most / scale
        zero = torch.where(-128 + a + 127 + b > 0, -128 - a, 127 - b).clamp(-128, 127).round()
        return scale, zero.to(torch.int8)

    return case(f"choose_qparams_per_token/{name}", lambda x: Q.choose_qparams_per_token_asymmetric(x, torch.int8), x,
                reference=reference, expect_ops=CHOOSE_TOKEN, beyond=True, atol=1e-6, rtol=1e-5, **rest)


def chosen_affine(name, x, blocks, mapping="ASYMMETRIC", low=-128, high=127, **rest):
    def choose(x):
        return torch.ops.torchao.choose_qparams_affine(
            x, mapping, blocks, torch.int8, low, high, 1e-5, torch.float32, torch.int8)  # fmt: skip

    def reference(x):
        inner = [axis for axis, block in enumerate(blocks) if block > 1]
        least, most = x.amin(inner).clamp(max=0), x.amax(inner).clamp(min=0)
        if mapping == "SYMMETRIC":
            scale = (torch.maximum(-least, most) / ((high - low) / 2)).clamp(min=1e-5)
            return scale, torch.full(scale.shape, (high + low + 1) // 2, dtype=torch.int8)
        scale = ((most - least) / (high - low)).clamp(min=1e-5)
        return scale, (low - torch.round(least / scale)).clamp(low, high).to(torch.int8)

    return case(f"choose_qparams_affine/{name}", choose, x, reference=reference, expect_ops=CHOOSE_AFFINE,
                atol=1e-6, rtol=1e-5, **rest)


CHOICES = [
    chosen("odd", f32(3, 5, 7)),
    chosen("positive", f32(67, low=1, high=9)),
    chosen("negative", f32(5, 5, low=-9, high=-1)),
    chosen("zeros", f32(3, 5, fill=torch.zeros)),
    chosen("narrow", f32(3, 7), low=0, high=15),
    chosen("dynamic", f32(s, t), live=LIVE),
    chosen_per_token("odd", f32(5, 7)),
    chosen_per_token("one_row", f32(1, 1031)),
    chosen_per_token("positive", f32(3, 5, low=1, high=9)),
    chosen_per_token("rank3", f32(2, 3, 8)),
    chosen_per_token("dynamic", f32(s, 12), live=[4, 1]),
    chosen_affine("rows", f32(5, 7), [1, 7]),
    chosen_affine("one_row", f32(1, 67), [1, 67]),
    chosen_affine("four_rows", f32(4, 12), [1, 12]),
    chosen_affine("positive", f32(3, 5, low=1, high=9), [1, 5]),
    chosen_affine("symmetric", f32(3, 8), [1, 8], mapping="SYMMETRIC", low=-127, high=127, beyond=True),
    chosen_affine("rank3", f32(2, 3, 8), [1, 1, 8], beyond=True),
    chosen_affine("dynamic", f32(s, 12), [1, 12], live=[4, 1], beyond=True),
]

CASES = BY_NUMBERS + BY_TENSORS + TOKENS + AFFINE + CHOICES
