# SPDX-License-Identifier: BSD-3-Clause
"""Indexing and scattering that core ATen has and the stock partitioner leaves to the CPU."""
import torch

from cases.case import boolean, dim, f16, f32, i8, i32, i64, u8
from cases.core_elementwise import one

s, t = dim("s", 1, 9), dim("t", 1, 5)
LIVE = [{"s": 4, "t": 3}, {"s": 1, "t": 1}, {"s": 1, "t": 5}]
INDEX, PUT = "index.Tensor", "index_put.default"


def below(n, *shape):
    return i64(*shape, low=0, high=n)


INDICES = [
    one("index_several/both", INDEX, lambda x, i, j: x[i, j], f32(5, 7), below(5, 4), below(7, 4)),
    one("index_several/broadcast", INDEX, lambda x, i, j: x[i[:, None], j], f32(5, 7), below(5, 3), below(7, 4)),
    one("index_several/apart", INDEX, lambda x, i, j: x[i, :, j], f32(5, 3, 7), below(5, 4), below(7, 4)),
    one("index_several/behind", INDEX, lambda x, i, j: x[:, i, j], f32(2, 5, 7), below(5, 4), below(7, 4)),
    one("index_several/in_front", INDEX, lambda x, i, j: x[i, j], f32(5, 7, 8), below(5, 4), below(7, 4)),
    one("index_several/negative", INDEX, lambda x, i, j: x[i, j], f32(5, 7), i64(4, low=-5, high=5), i64(4, low=-7, high=7)),
    one("index_several/int32", INDEX, lambda x, i, j: x[i, j], i8(5, 7), i32(4, low=0, high=5), i32(4, low=0, high=7)),
    one("index_several/boolean", INDEX, lambda x, i, j: x[i, j], boolean(5, 7), below(5, 3), below(7, 3)),
    one("index_several/half", INDEX, lambda x, i, j: x[i, j], f16(5, 7), below(5, 3), below(7, 3)),
    one("index_several/rank0", INDEX, lambda x, i, j: torch.ops.aten.index(x, [i, j]), f32(5, 7), below(5), below(7)),
    one("index_several/none", INDEX, lambda x, i, j: x[i, j], f32(5, 7), i64(0), i64(0)),
    one("index_several/dynamic", INDEX, lambda x, i, j: x[i, :, j], f32(9, s, 5), below(9, t), below(5, t), live=LIVE),
    one("index_several/rows_of_matrices", INDEX, lambda x, i: x[torch.arange(3), i], f32(3, 7, 8), below(7, 3)),
]  # fmt: skip


def put(accumulate=False):
    return lambda x, i, v: torch.index_put(x, (i,), v, accumulate)


PUTS = [
    one("index_put/rows", PUT, put(), f32(5, 7), i64(of=[3, 0, 4]), f32(3, 7)),
    one("index_put/broadcast", PUT, put(), f32(5, 7), i64(of=[3, -1]), f32(7)),
    one("index_put/number", PUT, put(), f32(5, 7), i64(of=[3, 0]), f32()),
    one("index_put/both", PUT, lambda x, i, j, v: torch.index_put(x, (i, j), v), f32(5, 7), i64(of=[0, 1, 4]),
        i64(of=[6, 1, 0]), f32(3)),
    one("index_put/behind", PUT, lambda x, i, v: torch.ops.aten.index_put(x, [None, i], v), f32(3, 5), i64(of=[4, 1]), f32(3, 2)),
    one("index_put/int8", PUT, put(), i8(5, 7), i64(of=[3, 0, 4]), i8(3, 7)),
    one("index_put/boolean", PUT, put(), boolean(5, 3), i64(of=[3, 0]), boolean(2, 3)),
    one("index_put/half", PUT, put(), f16(5, 7), i64(of=[3, 0]), f16(2, 7)),
    one("index_put/accumulate", PUT, put(True), f32(5, 7), i64(of=[3, 0, 3, 3]), f32(4, 7)),
    one("index_put/accumulate_int64", PUT, put(True), i64(5), i64(of=[3, 0, 3, 3]), i64(4)),
    one("index_put/accumulate_half", PUT, put(True), f16(5, 2), i64(of=[1, 0, 1]), f16(3, 2)),
    one("index_put/accumulate_uint8", PUT, put(True), u8(5, low=0, high=9), i64(of=[3, 0, 3, 3]), u8(4, low=0, high=9)),
    one("index_put/mask", PUT, lambda x, m: torch.index_put(x, (m,), torch.tensor(2.5)), f32(3, 5), boolean(3, 5)),
    one("index_put/mask_of_rows", PUT, lambda x, m: torch.index_put(x, (m,), torch.tensor(2.5)), f32(3, 5), boolean(3)),
    one("index_put/mask_behind", PUT, lambda x, m: torch.ops.aten.index_put(x, [None, m], torch.tensor([7])), i64(3, 5),
        boolean(5)),
    one("index_put/mask_accumulate", PUT, lambda x, m: torch.index_put(x, (m,), torch.tensor(2.5), True), f32(3, 5),
        boolean(3, 5)),
    one("index_put/none", PUT, put(), f32(5, 7), i64(0), f32(0, 7)),
    one("index_put/dynamic", PUT, put(True), f32(9, s), below(9, t), f32(t, s), live=LIVE),
]  # fmt: skip


def distinct(shape):
    """No place is named twice along the last axis."""
    generator = torch.Generator().manual_seed(sum(shape))
    return torch.stack([torch.randperm(7, generator=generator)[: shape[-1]] for _ in range(shape[0])])


ops = torch.ops.aten
SCATTERS = [
    one("scatter/last", "scatter.src", lambda x, i, v: ops.scatter.src(x, 1, i, v), f32(3, 7), i64(3, 4, fill=distinct),
        f32(3, 4)),
    one("scatter/larger_source", "scatter.src", lambda x, i, v: ops.scatter.src(x, 1, i, v), f32(3, 7),
        i64(2, 4, fill=distinct), f32(5, 6)),
    one("scatter/first", "scatter.src", lambda x, i, v: ops.scatter.src(x, 0, i, v), f32(5, 3), i64(of=[[4, 0, 2], [1, 3, 0]]),
        f32(2, 3)),
    one("scatter/int8", "scatter.src", lambda x, i, v: ops.scatter.src(x, 1, i, v), i8(3, 7), i64(3, 4, fill=distinct),
        i8(3, 4)),
    one("scatter/half", "scatter.src", lambda x, i, v: ops.scatter.src(x, -1, i, v), f16(3, 7), i64(3, 5, fill=distinct),
        f16(3, 5)),
    one("scatter/dynamic", "scatter.src", lambda x, i, v: ops.scatter.src(x, 0, i, v), f32(9, s), i64(1, s, low=0, high=9),
        f32(1, s), live=[4, 1]),
    one("scatter_value/one_hot", "scatter.value", lambda x, i: ops.scatter.value(x, 1, i, 1), f32(3, 7), below(7, 3, 1)),
    one("scatter_value/int64", "scatter.value", lambda x, i: ops.scatter.value(x, 1, i, -5), i64(3, 7), below(7, 3, 4)),
    one("scatter_value/boolean", "scatter.value", lambda x, i: ops.scatter.value(x, 1, i, 1), boolean(3, 7), below(7, 3, 4)),
    one("scatter_value/half", "scatter.value", lambda x, i: ops.scatter.value(x, 0, i, 0.5), f16(5), below(5, 2)),
    one("scatter_value/dynamic", "scatter.value", lambda x, i: ops.scatter.value(x, 1, i, 2.5), f32(t, 9), below(9, t, 1),
        live=[3, 1]),
    one("scatter_add/last", "scatter_add.default", lambda x, i, v: torch.scatter_add(x, 1, i, v), f32(3, 7), below(7, 3, 20),
        f32(3, 20)),
    one("scatter_add/first", "scatter_add.default", lambda x, i, v: torch.scatter_add(x, 0, i, v), f32(5, 3), below(5, 9, 3),
        f32(9, 3)),
    one("scatter_add/one_place", "scatter_add.default", lambda x, i, v: torch.scatter_add(x, 0, i, v), f32(2), below(1, 999),
        f32(999, low=0, high=1)),
    one("scatter_add/int32", "scatter_add.default", lambda x, i, v: torch.scatter_add(x, 0, i, v), i32(5), below(5, 9),
        i32(9)),
    one("scatter_add/half", "scatter_add.default", lambda x, i, v: torch.scatter_add(x, 0, i, v), f16(5), below(5, 9),
        f16(9)),
    one("scatter_add/dynamic", "scatter_add.default", lambda x, i, v: torch.scatter_add(x, 0, i, v), f32(5, t), below(5, s, t),
        f32(s, t), live=LIVE),
    *[
        one(f"scatter_reduce/{how}_{'with' if old else 'without'}", "scatter_reduce.two",
            lambda x, i, v, how=how, old=old: torch.scatter_reduce(x, 1, i, v, how, include_self=old), f32(3, 7),
            below(7, 3, 9), f32(3, 9))
        for how in ("sum", "prod", "mean", "amax", "amin")
        for old in (True, False)
    ],
    one("scatter_reduce/mean_int64", "scatter_reduce.two",
        lambda x, i, v: torch.scatter_reduce(x, 0, i, v, "mean"), i64(5), below(5, 9), i64(9)),
    one("scatter_reduce/amax_nan", "scatter_reduce.two", lambda x, i, v: torch.scatter_reduce(x, 0, i, v, "amax"),
        f32(of=[1.0, 2.0, 3.0]), i64(of=[0, 0, 2]), f32(of=[torch.nan, 5.0, torch.inf])),
    one("scatter_reduce/amin_int8", "scatter_reduce.two", lambda x, i, v: torch.scatter_reduce(x, 0, i, v, "amin"), i8(5),
        below(5, 9), i8(9)),
]  # fmt: skip


def drawn(op, *args):
    return lambda g, x, v: g.call(f"aten.{op}", x, v, *args, out=g.like(x))


INSERTS = [
    one("slice_scatter/middle", "slice_scatter.default", lambda x, v: torch.slice_scatter(x, v, 1, 2, 5), f32(3, 7), f32(3, 3)),
    one("slice_scatter/steps", "slice_scatter.default", lambda x, v: torch.slice_scatter(x, v, 0, 1, 9, 3), f32(9, 4),
        f32(3, 4)),
    one("slice_scatter/from_the_end", "slice_scatter.default", lambda x, v: torch.slice_scatter(x, v, 1, -2), i64(3, 7),
        i64(3, 2)),
    one("slice_scatter/int8", "slice_scatter.default", lambda x, v: torch.slice_scatter(x, v, 1, 2, 5), i8(3, 7), i8(3, 3)),
    one("slice_scatter/half", "slice_scatter.default", lambda x, v: torch.slice_scatter(x, v, 1, 0, 2), f16(3, 7), f16(3, 2)),
    one("slice_scatter/dynamic", "slice_scatter.default", lambda x, v: torch.slice_scatter(x, v, 1, 1, 3), f32(s, 5),
        f32(s, 2), live=[4, 1]),
    *[
        one(f"select_scatter/{name}", "select_scatter.default",
            lambda x, v, axis=axis, index=index: torch.select_scatter(x, v, axis, index), x, v,
            graph=drawn("select_scatter.default", axis, index))
        for name, x, v, axis, index in (("last", f32(3, 7), f32(3), 1, -1), ("first", f32(3, 5, 7), f32(5, 7), 0, 1),
                                        ("int8", i8(3, 5, 7), i8(3, 7), 1, 4), ("half", f16(3, 7), f16(7), 0, 2))
    ],
    *[
        one(f"masked_scatter/{name}", "masked_scatter.default", lambda x, m, v: torch.masked_scatter(x, m, v), x, m, v, **rest)
        for name, x, m, v, rest in (
            ("odd", f32(3, 5), boolean(3, 5), f32(3, 5), {}),
            ("int8", i8(5, 7), boolean(5, 7), i8(35), {}),
            ("half", f16(37), boolean(37), f16(40), {}),
            ("int64", i64(3, 5), boolean(3, 5), i64(15), {}),
            ("dynamic", f32(s, t), boolean(s, t), f32(9, 5), {"live": LIVE}))
    ],
]  # fmt: skip

EDGES = torch.tensor([-1.0, 0.0, 0.5, 0.5, 2.0])
BUCKETIZE = "bucketize.Tensor"
BUCKETS = [
    one("bucketize/odd", BUCKETIZE, lambda x: torch.bucketize(x, EDGES), f32(3, 5, 7)),
    one("bucketize/special", BUCKETIZE, lambda x: torch.bucketize(x, EDGES),
        f32(of=[torch.nan, torch.inf, -torch.inf, -1.0, 0.0, 0.5, 2.0, -0.0])),
    one("bucketize/right", BUCKETIZE, lambda x: torch.bucketize(x, EDGES, right=True),
        f32(of=[torch.nan, torch.inf, -torch.inf, -1.0, 0.0, 0.5, 2.0])),
    one("bucketize/int64", BUCKETIZE, lambda x: torch.bucketize(x, torch.tensor([-3, 0, 4])), i64(3, 5)),
    one("bucketize/out_int32", BUCKETIZE, lambda x: torch.bucketize(x, EDGES, out_int32=True), f32(7)),
    one("bucketize/dynamic", BUCKETIZE, lambda x, e: torch.bucketize(x, e), f32(s), f32(t, fill=lambda n: torch.arange(n[0])),
        live=LIVE),
]  # fmt: skip

CASES = [*INDICES, *PUTS, *SCATTERS, *INSERTS, *BUCKETS]
