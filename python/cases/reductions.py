# SPDX-License-Identifier: BSD-3-Clause
"""Sums, means, extremes, where they are, and softmax."""
import torch

from cases.case import case, dim, f16, f32, i32

s, t = dim("s", 1, 9), dim("t", 1, 5)

SUM, MEAN = "aten.sum.dim_IntList", "aten.mean.dim"
AMAX, AMIN = "aten.amax.default", "aten.amin.default"
ARGMAX, ARGMIN = "aten.argmax.default", "aten.argmin.default"
SOFTMAX, LOG_SOFTMAX = "aten._softmax.default", "aten._log_softmax.default"

INF, NAN = float("inf"), float("nan")
HALF = {"compile": {"force_fp16": True}}


def over(function, *dims, keepdim=False):
    return lambda x: function(x, dims, keepdim)


def along(function, axis=None, keepdim=False):
    return lambda x: function(x, axis, keepdim)


def with_ties(shape):
    """Few different values, so that many are equal."""
    generator = torch.Generator().manual_seed(sum(shape))
    return torch.randint(-2, 3, shape, generator=generator).float()


def with_nans(shape):
    x = with_ties(shape)
    x[..., 1::3] = NAN
    return x


def masked(shape):
    """As attention masks leave it: some −inf in every row."""
    generator = torch.Generator().manual_seed(sum(shape))
    return torch.randn(shape, generator=generator).masked_fill(torch.rand(shape, generator=generator) < 0.4, -INF)


def sums(suite, function, op):
    return [
        case(f"{suite}/last", over(function, -1), f32(3, 5, 7), expect_ops=op),
        case(f"{suite}/first_kept", over(function, 0, keepdim=True), f32(3, 5, 7), expect_ops=op),
        case(f"{suite}/apart", over(function, 0, 2, keepdim=True), f32(3, 5, 7, 2), expect_ops=op),
        case(f"{suite}/apart_dropped", over(function, 1, -1), f32(3, 5, 7, 2), expect_ops=op, beyond=True),
        case(f"{suite}/everything", lambda x: function(x, None), f32(3, 5, 7), expect_ops=op, beyond=True),
        case(f"{suite}/no_axes", lambda x: function(x, []), f32(3, 5), expect_ops=op, beyond=True),
        case(f"{suite}/six_axes", over(function, 1, 3, 5), f32(2, 3, 2, 5, 3, 2), expect_ops=op, beyond=True),
        case(f"{suite}/scalar", over(function, 0), f32(), expect_ops=op, beyond=True),
        case(f"{suite}/one_long_row", over(function, -1), f32(1, 2003, fill=lambda n: torch.full(n, 0.1)), expect_ops=op,
             atol=0, rtol=1e-6),
        case(f"{suite}/dynamic_row", over(function, -1, keepdim=True), f32(3, s), live=[4, 1], expect_ops=op),
        case(f"{suite}/dynamic_rows", over(function, 1), f32(s, 5, t), live=[{"s": 4, "t": 3}, {"s": 1, "t": 1}],
             expect_ops=op, beyond=True),
        case(f"{suite}/half", over(function, -1), f16(3, 5, 37), expect_ops=op),
        case(f"{suite}/force_fp16", over(function, -1), f32(3, 37), expect_ops=op, **HALF),
    ]  # fmt: skip


def extremes(suite, function, op):
    return [
        case(f"{suite}/middle", over(function, 1, keepdim=True), f32(3, 5, 7), expect_ops=op),
        case(f"{suite}/first", over(function, 0), f32(5, 3), expect_ops=op, beyond=True),
        case(f"{suite}/two_axes", over(function, -1, -2, keepdim=True), f32(2, 3, 5, 7), expect_ops=op),
        case(f"{suite}/apart", over(function, 0, 3), f32(2, 3, 5, 7), expect_ops=op, beyond=True),
        case(f"{suite}/everything", lambda x: function(x, ()), f32(3, 5, 7), expect_ops=op, beyond=True),
        case(f"{suite}/ties", over(function, -1), f32(5, 67, fill=with_ties), expect_ops=op, atol=0, rtol=0),
        case(f"{suite}/nan", over(function, -1), f32(5, 7, fill=with_nans), expect_ops=op),
        case(f"{suite}/infinite", over(function, -1), f32(of=[[INF, 1, 2], [-INF, 1, 2], [-INF, -INF, -INF]]),
             expect_ops=op),
        case(f"{suite}/int32", over(function, 1), i32(3, 5, low=-(2**31), high=2**31), expect_ops=op, beyond=True),
        case(f"{suite}/dynamic", over(function, -1), f32(t, s), live=[{"s": 4, "t": 3}, {"s": 1, "t": 1}], expect_ops=op),
        case(f"{suite}/half", over(function, -1), f16(3, 37), expect_ops=op),
    ]  # fmt: skip


def places(suite, function, op):
    return [
        case(f"{suite}/last", along(function, -1), f32(3, 5, 7), expect_ops=op),
        case(f"{suite}/middle", along(function, 1, True), f32(3, 5, 7), expect_ops=op),
        case(f"{suite}/first", along(function, 0), f32(5, 3), expect_ops=op, beyond=True),
        case(f"{suite}/flattened", along(function), f32(3, 5, 7), expect_ops=op, beyond=True),
        case(f"{suite}/ties", along(function, -1), f32(5, 67, fill=with_ties), expect_ops=op),
        case(f"{suite}/nan", along(function, -1), f32(5, 7, fill=with_nans), expect_ops=op),
        case(f"{suite}/infinite", along(function, -1), f32(of=[[INF, 1, INF], [1, -INF, -INF], [-INF, -INF, -INF]]),
             expect_ops=op),
        case(f"{suite}/int32", along(function, -1), i32(3, 5), expect_ops=op, beyond=True),
        case(f"{suite}/dynamic", along(function, -1, True), f32(t, s), live=[{"s": 4, "t": 3}, {"s": 1, "t": 1}],
             expect_ops=op),
        case(f"{suite}/half", along(function, -1), f16(3, 37), expect_ops=op),
    ]  # fmt: skip


def softmaxes(suite, function, op):
    return [
        case(f"{suite}/last", along_softmax(function, -1), f32(3, 5, 7), expect_ops=op),
        case(f"{suite}/first", along_softmax(function, 0), f32(5, 3, 2), expect_ops=op),
        case(f"{suite}/middle", along_softmax(function, 1), f32(3, 5, 7), expect_ops=op),
        case(f"{suite}/large_values", along_softmax(function, -1), f32(3, 33, low=-300, high=300), expect_ops=op),
        case(f"{suite}/masked", along_softmax(function, -1), f32(5, 9, fill=masked), expect_ops=op),
        case(f"{suite}/all_masked", along_softmax(function, -1), f32(of=[[-INF] * 3, [1, 2, 3]]), expect_ops=op),
        case(f"{suite}/nan", along_softmax(function, -1), f32(of=[[1, NAN, 2], [1, INF, 2], [1, 2, 3]]), expect_ops=op),
        case(f"{suite}/scalar", along_softmax(function, 0), f32(), expect_ops=op, beyond=True),
        case(f"{suite}/dynamic", along_softmax(function, -1), f32(t, s), live=[{"s": 4, "t": 3}, {"s": 1, "t": 1}],
             expect_ops=op),
        case(f"{suite}/dynamic_middle", along_softmax(function, 1), f32(2, s, t),
             live=[{"s": 4, "t": 3}, {"s": 1, "t": 1}], expect_ops=op),
        case(f"{suite}/half", along_softmax(function, -1), f16(3, 37), expect_ops=op),
        case(f"{suite}/force_fp16", along_softmax(function, 1), f32(3, 37), expect_ops=op, **HALF),
    ]  # fmt: skip


def along_softmax(function, axis):
    return lambda x: function(x, axis)


CASES = [
    *sums("sum", torch.sum, SUM),
    *sums("mean", torch.mean, MEAN),
    case("sum/int32", lambda x: torch.sum(x, 1), i32(3, 5), expect_ops=SUM, beyond=True),
    case("sum/nothing", lambda x, y: torch.sum(x, 0) + y, f32(0, 5), f32(5), expect_ops=SUM, beyond=True),
    *extremes("amax", torch.amax, AMAX),
    *extremes("amin", torch.amin, AMIN),
    *places("argmax", torch.argmax, ARGMAX),
    *places("argmin", torch.argmin, ARGMIN),
    *softmaxes("softmax", torch.softmax, SOFTMAX),
    *softmaxes("log_softmax", torch.log_softmax, LOG_SOFTMAX),
]
