# SPDX-License-Identifier: BSD-3-Clause
"""Arguments that the exporter may write one day, or that other writers do: delegates written by hand."""
import torch
from torch.nn import functional as F

from cases.case import boolean, case, dim, f32, i8, i32, i64, u8
from cases.graph import Graph, Value
from cases.unusual import named

s, t = dim("s", 1, 9), dim("t", 1, 5)
LIVE = [{"s": 4, "t": 3}, {"s": 1, "t": 1}, {"s": 1, "t": 5}]

CAST = "aten._to_copy.default"
TYPES = {"f32": f32, "i32": i32, "i8": i8, "u8": u8, "bool": boolean}


def casts():
    """To and from integers of 8 bits; values that both types hold."""
    for source, spec in TYPES.items():
        for target, other in TYPES.items():
            if source == target or not {"i8", "u8"} & {source, target}:
                continue
            values = spec(5, 7) if source == "bool" else spec(5, 7, low=0, high=100)
            dtype = other().dtype
            draw = named(CAST, None, None, None, None, False, None, dtype=dtype, shape=(5, 7))
            yield case(f"to_copy/{source}_to_{target}", lambda x, dtype=dtype: x.to(dtype), values, graph=draw,
                       expect_ops=CAST)


def one(name, op, function, *inputs, args=(), dtype=None, shape, **rest):
    draw = named(op, *args, dtype=dtype or inputs[0].dtype, shape=shape)
    return case(name, function, *inputs, graph=draw, expect_ops=op, **rest)


def catenated(g: Graph, x: Value, y: Value):
    return g.call("aten.cat.default", [x, y], 1, out=g.tensor(torch.int8, 3, 12))


MOVES = [
    one("permute/int8", "aten.permute_copy.default", lambda x: x.permute(1, 0).contiguous(), i8(3, 7), args=[[1, 0]],
        shape=(7, 3)),
    one("slice/int8", "aten.slice_copy.Tensor", lambda x: x[:, 1:6].clone(), i8(3, 7), args=[1, 1, 6, 1], shape=(3, 5)),
    one("slice/int8_negative", "aten.slice_copy.Tensor", lambda x: x[:, -5:-1].clone(), i8(3, 7), args=[-1, -5, -1, 1],
        shape=(3, 4)),
    one("select/int8", "aten.select_copy.int", lambda x: x[:, -2].clone(), i8(5, 7), args=[-1, -2], shape=(5,)),
    one("expand/int8", "aten.expand_copy.default", lambda x: x.expand(3, 7).clone(), i8(7), args=[[3, 7], False],
        shape=(3, 7)),
    one("flip/int8", "aten.flip.default", lambda x: x.flip(0, 1), i8(3, 7), args=[[0, -1]], shape=(3, 7)),
    one("repeat/uint8", "aten.repeat.default", lambda x: x.repeat(2, 3), u8(3, 3), args=[[2, 3]], shape=(6, 9)),
    one("pad/int8", "aten.constant_pad_nd.default", lambda x: F.pad(x, (1, 2), value=-7), i8(3, 5), args=[[1, 2], -7],
        shape=(3, 8)),
    case("cat/int8", lambda x, y: torch.cat([x, y], 1), i8(3, 5), i8(3, 7), graph=catenated,
         expect_ops="aten.cat.default"),
    one("where/int8", "aten.where.self", torch.where, boolean(3, 5), i8(3, 5), i8(5), dtype=torch.int8, shape=(3, 5)),
    one("where/boolean", "aten.where.self", torch.where, boolean(3, 5), boolean(5), boolean(3, 1), shape=(3, 5)),
]


def row_at(g: Graph, x: Value, position: Value):
    index = g.call("et_vk.select_as_symint.default", position, 0, 0, out=g.symint())
    return g.call("aten.select_copy.int", x, 0, index, out=g.tensor(torch.float32, 3))


def selected(x, position):
    return x.index_select(0, position % 9).reshape(3)


SELECTED = case("select/by_symint", selected, f32(9, 3), i64(of=[4]), live=[{"position": [0]}, {"position": [-1]}],
                graph=row_at, expect_ops="aten.select_copy.int")


def line(g: Graph, x: Value, w: Value):
    return g.call("aten.convolution.default", x, w, None, [2], [1], [1], True, [1], 2, out=g.tensor(torch.float32, 1, 6, 10))


LINE = case("conv/line_transposed", lambda x, w: F.conv_transpose1d(x, w, None, 2, 1, 1, 2), f32(1, 4, 5), f32(4, 3, 3),
            graph=line, expect_ops="aten.convolution.default")


def attention(name, causal, with_mask, batch=1):
    """With a mask, and without a causal one; the caches are inputs and come back."""
    start, count = 3, 4

    def attend(q, k, v, k_cache, v_cache, mask):
        keys, values = (torch.cat([c[:, :start], new], 1).repeat_interleave(2, 2) for c, new in ((k_cache, k), (v_cache, v)))
        scores = torch.einsum("bqhd,bkhd->bhqk", q, keys) * q.shape[-1] ** -0.5 + (mask if with_mask else 0 * mask)
        if causal:
            visible = torch.arange(start + count)[None, :] <= torch.arange(count)[:, None] + start
            scores = torch.where(visible, scores, -torch.inf)
        return torch.einsum("bhqk,bkhd->bqhd", scores.softmax(-1), values)

    def draw(g: Graph, q, k, v, k_cache, v_cache, mask):
        given = mask if with_mask else None
        return g.call("sdpa_with_kv_cache.default", q, k, v, k_cache, v_cache, start, 1, given, 0.0, causal, None,
                      out=g.tensor(torch.float32, *g.shape(q)))

    cache = f32(batch, 9, 2, 6)
    return case(f"sdpa/{name}", attend, f32(batch, count, 4, 6), f32(batch, count, 2, 6), f32(batch, count, 2, 6), cache,
                cache, f32(count, start + count), graph=draw, expect_ops="sdpa_with_kv_cache.default")


ATTENTIONS = [
    attention("mask", False, True),
    attention("all_visible", False, False),
    attention("all_visible_two_batches", False, False, batch=2),
]

LARGE = [-(2**31), 2**31 - 1, 16777217, 2, 3, -3]
MIXED = [
    # A whole number and a fraction are never equal, however large.
    one("eq_scalar/int32_and_fraction", "aten.eq.Scalar", lambda x: x == 2.5, i32(of=LARGE), args=[2.5],
        dtype=torch.bool, shape=(6,)),
    one("lt_scalar/int32_and_fraction", "aten.lt.Scalar", lambda x: x < 2.5, i32(of=LARGE), args=[2.5],
        dtype=torch.bool, shape=(6,)),
    one("ge_scalar/int32_and_large", "aten.ge.Scalar", lambda x: x >= 16777217, i32(of=LARGE), args=[16777217],
        dtype=torch.bool, shape=(6,)),
    one("eq_scalar/boolean", "aten.eq.Scalar", lambda x: x == 1, boolean(7), args=[1], dtype=torch.bool, shape=(7,)),
    one("eq_scalar/uint8", "aten.eq.Scalar", lambda x: x == 200, u8(of=[200, 199, 0]), args=[200], dtype=torch.bool,
        shape=(3,)),
    one("lt/int8", "aten.lt.Tensor", torch.lt, i8(3, 5), i8(5), dtype=torch.bool, shape=(3, 5)),
    one("add/int8", "aten.add.Tensor", torch.add, i8(3, 5, low=-60, high=60), i8(5, low=-60, high=60), args=[1],
        shape=(3, 5)),
    one("mul/uint8", "aten.mul.Tensor", torch.mul, u8(3, 5, low=0, high=15), u8(3, 1, low=0, high=15), shape=(3, 5)),
    one("mul/boolean", "aten.mul.Tensor", torch.mul, boolean(3, 5), boolean(5), shape=(3, 5)),
    one("clamp/int32_fractions", "aten.clamp.default", lambda x: x.clamp(-3, 2), i32(of=LARGE), args=[-3.0, 2.0],
        shape=(6,)),
    one("clamp/int8", "aten.clamp.default", lambda x: x.clamp(-3, 100), i8(3, 7), args=[-3, 100], shape=(3, 7)),
    one("neg/int32", "aten.neg.default", torch.neg, i32(3, 5), shape=(3, 5)),
    one("abs/int8", "aten.abs.default", torch.abs, i8(3, 5, low=-127, high=128), shape=(3, 5)),
    one("relu/int32", "aten.relu.default", torch.relu, i32(3, 5), shape=(3, 5)),
    one("bitwise_and/int32", "aten.bitwise_and.Tensor", torch.bitwise_and, i32(3, 5), i32(5), shape=(3, 5)),
    one("bitwise_or/int8", "aten.bitwise_or.Tensor", torch.bitwise_or, i8(3, 5), i8(5), shape=(3, 5)),
    one("bitwise_not/int32", "aten.bitwise_not.default", torch.bitwise_not, i32(3, 5), shape=(3, 5)),
    one("bitwise_not/uint8", "aten.bitwise_not.default", torch.bitwise_not, u8(3, 5), shape=(3, 5)),
]

AXES = (2, 1, 3, 1, 2, 2, 1, 3)
RANK8 = [
    one("add/rank8", "aten.add.Tensor", torch.add, f32(*AXES), f32(3, 1, 2, 1, 1, 3), args=[1], shape=AXES),
    one("sum/rank8", "aten.sum.dim_IntList", lambda x: x.sum([0, 2, 7], keepdim=True), f32(*AXES),
        args=[[0, 2, -1], True, None], shape=(1, 1, 1, 1, 2, 2, 1, 1)),
    one("amax/rank8", "aten.amax.default", lambda x: x.amax([2, 4]), f32(*AXES), args=[[2, -4], False],
        shape=(2, 1, 1, 2, 1, 3)),
    one("softmax/rank8", "aten._softmax.default", lambda x: x.softmax(2), f32(*AXES), args=[-6, False], shape=AXES),
    one("flip/rank8", "aten.flip.default", lambda x: x.flip(2, 5), f32(*AXES), args=[[2, 5]], shape=AXES),
    one("slice/rank8", "aten.slice_copy.Tensor", lambda x: x[:, :, ::2].clone(), f32(*AXES), args=[2, None, None, 2],
        shape=(2, 1, 2, 1, 2, 2, 1, 3)),
    one("sum/dynamic_rank5", "aten.sum.dim_IntList", lambda x: x.sum([1, 3]), f32(2, s, 3, t, 2), args=[[1, 3], False, None],
        shape=(2, 3, 2), live=LIVE),
]

CASES = [*casts(), *MOVES, SELECTED, LINE, *ATTENTIONS, *MIXED, *RANK8]
