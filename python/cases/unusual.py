# SPDX-License-Identifier: BSD-3-Clause
"""Ops that the exporter has a name for but takes apart, removes or fuses: delegates written by hand."""
import operator

import torch
from torch import nn

from cases.case import boolean, case, dim, f16, f32, i8, i32, i64, u8
from cases.graph import Graph, Value

s, t = dim("s", 1, 9), dim("t", 1, 5)
ADD = "aten.add.Tensor"
LIVE = [{"s": 4, "t": 3}, {"s": 1, "t": 1}, {"s": 1, "t": 5}]


def named(op: str, *args, dtype: torch.dtype, shape: tuple[int, ...]):
    """A graph of one op that takes the inputs, then `args`."""

    def draw(g: Graph, *inputs: Value):
        return g.call(op, *inputs, *args, out=g.tensor(dtype, *shape))

    return draw


def copies(op, *args):
    """The same bytes again, of every type."""

    def copy(name, spec, shape, **rest):
        draw = named(op, *args, dtype=spec.dtype, shape=shape)
        return case(f"{op.split('.')[1]}_op/{name}", lambda x: x.clone(), spec, graph=draw, expect_ops=op, **rest)

    return [
        copy("odd", f32(3, 7), (3, 7)),
        copy("half", f16(3, 7), (3, 7)),
        copy("int8", i8(3, 5), (3, 5)),
        copy("uint8", u8(7), (7,)),
        copy("int32", i32(2, 3), (2, 3)),
        copy("boolean", boolean(3, 3), (3, 3)),
        copy("rank0", f32(), ()),
        copy("no_elements", f32(0, 3), (0, 3)),
        copy("dynamic", f32(s, t), (9, 5), live=LIVE),
        copy("dynamic_bytes", i8(s, t), (9, 5), live=LIVE),
    ]


def copied(dtype, *shape):
    """copy(self, source): the source's values in the type and shape of self."""

    def draw(g: Graph, x: Value, source: Value):
        return g.call("aten.copy.default", x, source, False, out=g.tensor(dtype, *shape))

    return draw


def copy_case(name, x, source, draw, **rest):
    return case(f"copy/{name}", lambda x, y: torch.ops.aten.copy(x, y), x, source, graph=draw,
                expect_ops="aten.copy.default", **rest)


COPY = [
    copy_case("odd", f32(3, 7), f32(3, 7), copied(torch.float32, 3, 7)),
    copy_case("broadcast", f32(3, 7), f32(7), copied(torch.float32, 3, 7)),
    copy_case("to_float", f32(3, 5), i32(3, 5), copied(torch.float32, 3, 5)),
    copy_case("bytes", i8(3, 5), i8(3, 5), copied(torch.int8, 3, 5)),
    copy_case("dynamic", f32(s, t), f32(s, t), copied(torch.float32, 9, 5), live=LIVE),
]


def turned(name, spec, shape, **rest):
    return case(f"t_copy/{name}", lambda x: x.t().clone(memory_format=torch.contiguous_format), spec, expect_ops="aten.t_copy.default",
                graph=named("aten.t_copy.default", dtype=spec.dtype, shape=shape), **rest)


TURNED = [
    turned("odd", f32(3, 7), (7, 3)),
    turned("int8", i8(5, 3), (3, 5)),
    turned("vector", f32(5), (5,)),
    turned("no_elements", f32(0, 3), (3, 0)),
    turned("dynamic", f32(s, t), (5, 9), live=LIVE),
]


def permuted(name, spec, axes, shape, **rest):
    return case(f"permute_view/{name}", lambda x: x.permute(axes).clone(memory_format=torch.contiguous_format), spec,
                expect_ops="aten.permute.default",
                graph=named("aten.permute.default", axes, dtype=spec.dtype, shape=shape), **rest)


PERMUTED = [
    permuted("odd", f32(3, 5, 7), [2, 0, 1], (7, 3, 5)),
    permuted("negative_axes", f32(2, 3, 5), [-1, 0, -2], (5, 2, 3)),
    permuted("boolean", boolean(3, 5), [1, 0], (5, 3)),
    permuted("rank8", f32(2, 1, 3, 1, 2, 1, 2, 2), [7, 3, 0, 5, 2, 1, 6, 4], (2, 1, 2, 1, 3, 1, 2, 2)),
    permuted("dynamic", f32(s, 3, t), [2, 1, 0], (5, 3, 9), live=LIVE),
]


def fills(name, fill, like):
    """zeros or ones, of a size or like a tensor."""
    op, like_op = f"aten.{name}.default", f"aten.{name}_like.default"

    def of_size(label, spec, shape, **rest):
        def draw(g: Graph, x: Value):
            filled = g.call(op, list(shape), None, None, None, None, out=g.tensor(spec.dtype, *shape))
            return g.call(ADD, filled, x, 1, out=g.tensor(spec.dtype, *shape))

        return case(f"{name}_op/{label}", lambda x: fill(shape, dtype=x.dtype) + x, spec, graph=draw, expect_ops=op)

    def sized_by_input(g: Graph, x: Value):
        rows = g.call("sym_size.int", x, 0, out=g.symint())
        filled = g.call(op, [rows, g.value(3)], None, None, None, None, out=g.tensor(torch.float32, 9, 3))
        return g.call(ADD, filled, x, 1, out=g.tensor(torch.float32, 9, 3))

    def like_input(label, spec, shape, **rest):
        draw = named(like_op, None, None, None, None, None, dtype=spec.dtype, shape=shape)
        return case(f"{name}_like_op/{label}", lambda x: like(x), spec, graph=draw, expect_ops=like_op, **rest)

    return [
        of_size("odd", f32(5), (3, 5)),
        of_size("int32", i32(3), (2, 3)),
        of_size("half", f16(3), (5, 3)),
        of_size("no_elements", f32(3), (0, 3)),
        case(f"{name}_op/dynamic", lambda x: fill(x.shape[0], 3) + x, f32(s, 1), graph=sized_by_input, live=[4, 1],
             expect_ops=op),
        like_input("odd", f32(3, 7), (3, 7)),
        like_input("boolean", boolean(3, 3), (3, 3)),
        like_input("int8", i8(7), (7,)),
        like_input("rank0", f32(), ()),
        like_input("dynamic", f32(s, t), (9, 5), live=LIVE),
    ]


def number(name, value, spec, **rest):
    def draw(g: Graph, x: Value):
        made = g.call("aten.scalar_tensor.default", value, None, None, None, None, out=g.tensor(spec.dtype))
        return g.call(ADD, made, x, 1, out=g.tensor(spec.dtype, 5))

    return case(f"scalar_tensor/{name}", lambda x: torch.scalar_tensor(value, dtype=x.dtype) + x, spec, graph=draw,
                expect_ops="aten.scalar_tensor.default", **rest)


NUMBERS = [
    number("f32", 2.5, f32(5)),
    number("integer_for_f32", 2, f32(5)),
    number("half", 0.1, f16(5)),
    number("int32", 16777217, i32(5)),
]


def truth(compare, a, b, like):
    """1 or 0; of tensors, because a program can't depend on a size's value."""
    return compare(torch.scalar_tensor(a), torch.scalar_tensor(b)).to(like.dtype)


def answer(g: Graph, name: str, a, b) -> Value:
    compared = g.call(name, a, b, out=g.symint())
    return g.call("aten.scalar_tensor.default", compared, None, None, None, None, out=g.tensor(torch.float32))


def comparisons(name):
    """Comparisons of sizes; their results count as 0 or 1."""
    compare = getattr(operator, name)

    def against(label, other):
        def draw(g: Graph, x: Value):
            size = g.call("sym_size.int", x, 0, out=g.symint())
            return g.call(ADD, x, answer(g, name, size, other), 1, out=g.tensor(torch.float32, 9))

        return case(f"sym_{name}/{label}", lambda x: x + truth(compare, x.shape[0], other, x), f32(s), graph=draw,
                    live=[4, 1, 5], expect_ops=name)

    def reverse(g: Graph, x: Value):
        size = g.call("sym_size.int", x, 0, out=g.symint())
        return g.call(ADD, x, answer(g, name, 4, size), 1, out=g.tensor(torch.float32, 9))

    def sizes(g: Graph, x: Value, y: Value):
        a, b = (g.call("sym_size.int", v, 0, out=g.symint()) for v in (x, y))
        told = answer(g, name, a, b)
        return [g.call(ADD, v, told, 1, out=g.tensor(torch.float32, n)) for v, n in ((x, 9), (y, 5))]

    def of_sizes(x, y):
        told = truth(compare, x.shape[0], y.shape[0], x)
        return x + told, y + told

    return [
        against("four", 4),
        against("one", 1),
        case(f"sym_{name}/reversed", lambda x: x + truth(compare, 4, x.shape[0], x), f32(s), graph=reverse,
             live=[4, 1, 5], expect_ops=name),
        case(f"sym_{name}/two_sizes", of_sizes, f32(s), f32(t), graph=sizes, expect_ops=name,
             live=[{"s": 4, "t": 4}, {"s": 1, "t": 5}, {"s": 5, "t": 1}]),
    ]


class Constant(nn.Module):
    """A constant that the program uploads; the exporter says so with an op of its own."""

    def __init__(self, value):
        super().__init__()
        self.register_buffer("value", value)

    def forward(self, x):
        return x + self.value


def uploaded(name, x, value, **rest):
    return case(f"prepack/{name}", lambda: Constant(value), x, expect_ops="et_vk.prepack.default", **rest)


UPLOADED = [
    uploaded("odd", f32(3, 7), torch.arange(7.0)),
    uploaded("rank0", f32(5), torch.tensor(2.5)),
    uploaded("int32", i32(3, 5), torch.arange(15, dtype=torch.int32).reshape(3, 5)),
    uploaded("force_fp16", f32(5), torch.arange(5.0), compile={"force_fp16": True}),
    uploaded("dynamic", f32(s, 3), torch.arange(3.0), live=[4, 1]),
]

def unequal(name, x, y, shape, **rest):
    draw = named("aten.ne.Tensor", dtype=torch.bool, shape=shape)
    return case(f"ne_tensor/{name}", torch.ne, x, y, graph=draw, expect_ops="aten.ne.Tensor", **rest)


UNEQUAL = [
    unequal("odd", i32(3, 7, low=0, high=2), i32(3, 7, low=0, high=2), (3, 7)),
    unequal("broadcast", f32(of=[1.0, 2.0, torch.nan]), f32(of=[[1.0], [torch.nan]]), (2, 3)),
    unequal("boolean", boolean(5), boolean(5), (5,)),
    unequal("dynamic", i32(s, t, low=0, high=2), i32(t, low=0, high=2), (9, 5), live=LIVE),
]

SDPA = "custom_sdpa.default"


def cached(name, q, cache, start, scale=None, causal=True, mask=None, **rest):
    """Attention over caches [batch, position, head, width] that nobody writes."""

    def attend(q, k, v, *masks):
        count, repeat = q.shape[1], q.shape[2] // k.shape[2]
        keys, values = (x[:, : start + count].repeat_interleave(repeat, 2) for x in (k, v))
        scores = torch.einsum("bqhd,bkhd->bhqk", q, keys) * (scale or q.shape[3] ** -0.5)
        if masks:
            scores = scores + masks[0]
        if causal:
            visible = torch.arange(start + count)[None, :] <= torch.arange(count)[:, None] + start
            scores = torch.where(visible, scores, -torch.inf)
        return torch.einsum("bhqk,bkhd->bqhd", scores.softmax(-1), values)

    def draw(g: Graph, q: Value, k: Value, v: Value, *masks: Value):
        return g.call(SDPA, q, k, v, start, masks[0] if masks else None, 0.0, causal, scale,
                      out=g.tensor(torch.float32, *g.shape(q)))

    if mask:
        return case(f"custom_sdpa/{name}", lambda q, k, v, m: attend(q, k, v, m), q, cache, cache, mask, graph=draw,
                    expect_ops=SDPA, **rest)
    return case(f"custom_sdpa/{name}", lambda q, k, v: attend(q, k, v), q, cache, cache, graph=draw, expect_ops=SDPA,
                **rest)


ATTENTIONS = [
    cached("first_tokens", f32(1, 5, 4, 8), f32(1, 16, 4, 8), 0),
    cached("grouped_queries", f32(1, 1, 6, 10), f32(1, 20, 2, 10), 13),
    cached("scale_and_batch", f32(2, 3, 2, 4), f32(2, 9, 2, 4), 4, scale=1.0),
    cached("all_visible", f32(1, 3, 2, 8), f32(1, 9, 1, 8), 2, causal=False),
    cached("masked", f32(1, 3, 2, 8), f32(1, 9, 2, 8), 2, causal=False, mask=f32(3, 5)),
    cached("dynamic", f32(1, s, 4, 8), f32(1, 32, 2, 8), 7, live=[4, 1]),
]

CASES = [
    *copies("aten.clone.default", None),
    *copies("dim_order_ops._clone_dim_order.default", False, [0, 1]),
    *copies("aten.alias_copy.default"),
    *COPY,
    *TURNED,
    *PERMUTED,
    *fills("zeros", torch.zeros, torch.zeros_like),
    *fills("ones", torch.ones, torch.ones_like),
    *NUMBERS,
    *UPLOADED,
    *UNEQUAL,
    *ATTENTIONS,
    *(case for name in ("lt", "le", "gt", "ge", "eq") for case in comparisons(name)),
]
