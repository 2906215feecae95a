# SPDX-License-Identifier: BSD-3-Clause
"""Reductions, running sums, orders and indexing that core ATen has and the stock partitioner leaves to the CPU."""
import torch

from cases.case import boolean, dim, f16, f32, i8, i32, i64, u8
from cases.core_elementwise import SPECIAL, one
from cases.reductions import with_nans, with_ties

s, t = dim("s", 1, 9), dim("t", 1, 5)
LIVE = [{"s": 4, "t": 3}, {"s": 1, "t": 1}, {"s": 1, "t": 5}]
INF, NAN = torch.inf, torch.nan
RANK8 = (2, 1, 3, 1, 2, 2, 1, 3)


def few(shape):
    """Mostly false."""
    return torch.arange(int(torch.tensor(shape).prod())).reshape(shape) % 11 == 4


def any_of(suite, op, function):
    return [
        one(f"{suite}/boolean", op, function, boolean(3, 5, 7, fill=few)),
        one(f"{suite}/float", op, function, f32(of=[[0.0, -0.0, 0.0], [0.0, NAN, 0.0], [0.0, 1e-40, 0.0]])),
        one(f"{suite}/int64", op, function, i64(3, 5, low=0, high=2)),
        one(f"{suite}/uint8", op, function, u8(5, 7, low=0, high=2)),
        one(f"{suite}/half", op, function, f16(3, 5)),
        one(f"{suite}/long", op, function, boolean(3, 2003, fill=few)),
        one(f"{suite}/dynamic", op, function, boolean(s, t), live=LIVE),
        one(f"{suite}/rank8", op, function, boolean(*RANK8)),
    ]


ANY = [
    *any_of("any", "any.default", lambda x: torch.any(x)),
    one("any/nothing", "any.default", lambda x: torch.any(x), boolean(0, 3)),
    one("any/rank0", "any.default", lambda x: torch.any(x), boolean()),
    *any_of("any_dim", "any.dim", lambda x: torch.any(x, 0)),
    one("any_dim/kept", "any.dim", lambda x: torch.any(x, -1, keepdim=True), boolean(3, 5)),
    *any_of("any_dims", "any.dims", lambda x: torch.any(x, (0, -1))),
    one("any_dims/kept", "any.dims", lambda x: torch.any(x, (0, 2), keepdim=True), boolean(3, 5, 7, fill=few)),
    one("any_dims/all", "any.dims", lambda x: torch.all(x > -1), f32(3, 5)),
]  # fmt: skip


def factors(shape):
    """Products stay in range."""
    return 1 + 0.3 * torch.sin(torch.arange(int(torch.tensor(shape).prod())).float().reshape(shape))


PRODUCTS = [
    one("prod/odd", "prod.default", lambda x: torch.prod(x), f32(3, 5, fill=factors)),
    one("prod/int64", "prod.default", lambda x: torch.prod(x), i64(7, low=-3, high=4)),
    one("prod/boolean", "prod.default", lambda x: torch.prod(x), boolean(7)),
    one("prod/half", "prod.default", lambda x: torch.prod(x), f16(3, 5, fill=factors)),
    one("prod/rank0", "prod.default", lambda x: torch.prod(x), f32()),
    one("prod/nothing", "prod.default", lambda x: torch.prod(x), f32(0, 3)),
    one("prod/dynamic", "prod.default", lambda x: torch.prod(x), f32(s, t, fill=factors), live=LIVE),
    one("prod_dim/odd", "prod.dim_int", lambda x: torch.prod(x, 1), f32(3, 5, 7, fill=factors)),
    one("prod_dim/kept", "prod.dim_int", lambda x: torch.prod(x, -1, keepdim=True), f32(3, 37, fill=factors)),
    one("prod_dim/special", "prod.dim_int", lambda x: torch.prod(x, 0), f32(of=[SPECIAL, [2.0] * 7])),
    one("prod_dim/int32", "prod.dim_int", lambda x: torch.prod(x, 0), i32(3, 5)),
    one("prod_dim/dynamic", "prod.dim_int", lambda x: torch.prod(x, 0), f32(s, t, fill=factors), live=LIVE),
    one("mean_all/odd", "mean.default", lambda x: torch.mean(x), f32(3, 5, 7)),
    one("mean_all/half", "mean.default", lambda x: torch.mean(x), f16(3, 5)),
    one("mean_all/long", "mean.default", lambda x: torch.mean(x), f32(5, 2003)),
    one("mean_all/rank0", "mean.default", lambda x: torch.mean(x), f32()),
    one("mean_all/dynamic", "mean.default", lambda x: torch.mean(x), f32(s, t), live=LIVE),
]  # fmt: skip


def spread(suite, op, function):
    return [
        one(f"{suite}/odd", op, function(1, False, 1), f32(3, 5, 7)),
        one(f"{suite}/kept", op, function((0, -1), True, 1), f32(3, 5, 7)),
        one(f"{suite}/biased", op, function(-1, False, 0), f32(3, 37)),
        one(f"{suite}/far_from_zero", op, function(-1, False, 1), f32(3, 2003, low=99, high=101)),
        one(f"{suite}/half", op, function(-1, False, 1), f16(3, 37)),
        one(f"{suite}/one_element", op, function(-1, False, 1), f32(3, 1)),
        one(f"{suite}/dynamic", op, function(0, False, 1), f32(s, t), live=[{"s": 4, "t": 3}, {"s": 2, "t": 1}]),
    ]


VARIANCES = [
    *spread("var", "var.correction", lambda d, k, c: lambda x: torch.var(x, d, correction=c, keepdim=k)),
    one("var/everything", "var.correction", lambda x: torch.var(x), f32(3, 5)),
    one("var/large_correction", "var.correction", lambda x: torch.var(x, 1, correction=2.5), f32(3, 5)),
    # The exporter writes var.correction.
    *[
        one(f"var_dim/{name}", "var.dim", lambda x, u=u, k=k: torch.ops.aten.var.dim(x, [1], u, k), spec,
            graph=lambda g, x, u=u, k=k, spec=spec, shape=shape: g.call("aten.var.dim", x, [1], u, k,
                                                                        out=g.tensor(spec.dtype, *shape)))
        for name, spec, u, k, shape in (("odd", f32(3, 5, 7), True, False, (3, 7)), ("kept", f32(3, 5), True, True, (3, 1)),
                                        ("biased", f32(3, 37), False, False, (3,)), ("half", f16(3, 37), True, False, (3,)))
    ],
    *spread("var_mean", "var_mean.correction", lambda d, k, c: lambda x: torch.var_mean(x, d, correction=c, keepdim=k)),
]  # fmt: skip


def plain(function):
    """torch.export can't write down what some functions return."""
    return lambda *args: tuple(function(*args))


def extremes(suite, op, function):
    return [
        one(f"{suite}/last", op, lambda x: function(x, -1), f32(3, 5, 7)),
        one(f"{suite}/first_kept", op, lambda x: function(x, 0, True), f32(5, 3)),
        one(f"{suite}/ties", op, lambda x: function(x, -1), f32(5, 67, fill=with_ties)),
        one(f"{suite}/nan", op, lambda x: function(x, -1), f32(5, 7, fill=with_nans)),
        one(f"{suite}/int64", op, lambda x: function(x, 1), i64(3, 5)),
        one(f"{suite}/boolean", op, lambda x: function(x, 1), boolean(3, 5)),
        one(f"{suite}/int8", op, lambda x: function(x, 0), i8(5, 7)),
        one(f"{suite}/half", op, lambda x: function(x, -1), f16(3, 37)),
        one(f"{suite}/rank0", op, lambda x: function(x, 0), f32()),
        one(f"{suite}/dynamic", op, lambda x: function(x, -1), f32(t, s), live=LIVE),
    ]


def extreme(suite, op, function):
    return [
        one(f"{suite}/odd", op, lambda x: function(x), f32(3, 5, 7)),
        one(f"{suite}/nan", op, lambda x: function(x), f32(5, 7, fill=with_nans)),
        one(f"{suite}/int32", op, lambda x: function(x), i32(3, 5)),
        one(f"{suite}/uint8", op, lambda x: function(x), u8(3, 5)),
        one(f"{suite}/dynamic", op, lambda x: function(x), f32(t, s), live=LIVE),
    ]


EXTREMES = [
    *extremes("max_dim", "max.dim", plain(torch.max)),
    *extremes("min_dim", "min.dim", plain(torch.min)),
    *extreme("max_all", "max.default", torch.max),
    *extreme("min_all", "min.default", torch.min),
    one("amax/boolean", "amax.default", lambda x: torch.amax(x, 1), boolean(3, 5)),
    one("amin/uint8", "amin.default", lambda x: torch.amin(x, 0), u8(3, 5)),
    one("argmax/flattened_kept", "argmax.default", lambda x: torch.argmax(x, None, True), f32(3, 5)),
]  # fmt: skip


def scans(suite, op, function, **values):
    return [
        one(f"{suite}/last", op, lambda x: function(x, -1), f32(3, 5, 7, **values)),
        one(f"{suite}/first", op, lambda x: function(x, 0), f32(5, 3, 2, **values)),
        one(f"{suite}/middle", op, lambda x: function(x, 1), f32(3, 5, 7, **values)),
        one(f"{suite}/int64", op, lambda x: function(x, 1), i64(3, 5, low=-3, high=4)),
        one(f"{suite}/boolean", op, lambda x: function(x, 0), boolean(7)),
        one(f"{suite}/long", op, lambda x: function(x, -1), f32(2, 5003, **values), rtol=1e-3),
        one(f"{suite}/half", op, lambda x: function(x, -1), f16(3, 37, **values)),
        one(f"{suite}/rank0", op, lambda x: function(x, 0), f32(**values)),
        one(f"{suite}/no_elements", op, lambda x: function(x, 0), f32(0, 3)),
        one(f"{suite}/dynamic", op, lambda x: function(x, 0), f32(s, t, **values), live=LIVE),
    ]


SCANS = [
    *scans("cumsum", "cumsum.default", torch.cumsum),
    one("cumsum/to_float", "cumsum.default", lambda x: torch.cumsum(x, 0, dtype=torch.float32), i64(7)),
    one("cumsum/to_int32", "cumsum.default", lambda x: torch.cumsum(x, 0, dtype=torch.int32), boolean(7)),
    *scans("cumprod", "cumprod.default", torch.cumprod, fill=factors),
]  # fmt: skip


def stable(x, axis, descending):
    return tuple(torch.sort(x, dim=axis, descending=descending, stable=True))


def orders(suite, op, function):
    return [
        one(f"{suite}/last", op, lambda x: function(x, -1, False), f32(3, 5, 7)),
        one(f"{suite}/first_descending", op, lambda x: function(x, 0, True), f32(5, 3)),
        one(f"{suite}/middle", op, lambda x: function(x, 1, False), f32(3, 67, 2)),
        one(f"{suite}/special", op, lambda x: function(x, 0, False), f32(of=[NAN, INF, -INF, 1.0, -1.0, 3e38, 2.0])),
        one(f"{suite}/special_descending", op, lambda x: function(x, 0, True), f32(of=[2.0, NAN, INF, -INF, 1.0, -1.0])),
        one(f"{suite}/int32", op, lambda x: function(x, 0, False), i32(of=[-(2**31), 2**31 - 1, 0, -1, 7, 5])),
        one(f"{suite}/int8", op, lambda x: function(x, -1, True), i8(of=[[5, -3, 7, -128, 127], [1, 2, 3, 4, 0]])),
        one(f"{suite}/half", op, lambda x: function(x, -1, False), f16(3, 37)),
        one(f"{suite}/long", op, lambda x: function(x, -1, True), f32(2, 1003)),
        one(f"{suite}/rank0", op, lambda x: function(x, 0, False), f32()),
        one(f"{suite}/dynamic", op, lambda x: function(x, 0, False), f32(s, t), live=LIVE),
    ]


def best(k, axis=-1, largest=True):
    return lambda x: tuple(torch.topk(x, k, axis, largest))


TOPK = "topk.default"
ORDERS = [
    *orders("sort", "sort.default", plain(torch.sort)),
    *orders("sort_stable", "sort.stable", stable),
    one("sort_stable/ties", "sort.stable", lambda x: stable(x, -1, False), f32(3, 205, fill=with_ties)),
    one("sort_stable/ties_descending", "sort.stable", lambda x: stable(x, -1, True),
        f32(3, 205, fill=with_ties)),
    one("sort_stable/boolean", "sort.stable", lambda x: stable(x, -1, False), boolean(3, 37)),
    one("topk/last", TOPK, best(3), f32(3, 5, 7)),
    one("topk/smallest", TOPK, best(2, 0, False), f32(5, 3)),
    one("topk/middle", TOPK, best(4, 1), f32(3, 50, 7)),
    one("topk/all", TOPK, best(7), f32(3, 7)),
    one("topk/long", TOPK, best(5), f32(2, 3001)),
    one("topk/nan", TOPK, best(2), f32(of=[1.0, NAN, 3.0, -INF])),
    one("topk/int64", TOPK, best(2), i64(of=[[1, 9, 3, -4], [8, 7, 6, 5]])),
    one("topk/half", TOPK, best(3), f16(3, 37)),
    one("topk/dynamic", TOPK, best(1), f32(t, s), live=LIVE),
]  # fmt: skip

CASES = [*ANY, *PRODUCTS, *VARIANCES, *EXTREMES, *SCANS, *ORDERS]
