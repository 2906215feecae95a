# SPDX-License-Identifier: BSD-3-Clause
"""Functions of single elements that core ATen has and the stock partitioner leaves to the CPU."""
import torch
import torch.nn.functional as F

from cases.case import boolean, case, dim, f16, f32, i8, i32, i64, u8

s, t = dim("s", 1, 9), dim("t", 1, 5)
LIVE = [{"s": 4, "t": 3}, {"s": 1, "t": 1}, {"s": 1, "t": 5}]
INF, NAN = torch.inf, torch.nan
SPECIAL = [NAN, INF, -INF, 0.0, -0.0, 1.0, -1.0]
FRACTIONS = [*SPECIAL, 0.5, 1.5, -0.5, -1.5, 2.5, 0.49999997, -0.99999994, 8388609.0, 3e9, -3e38]


def one(name, op, function, *inputs, **rest):
    rest = {"own": "graph" not in rest, "edge": {"_check_ir_validity": False}} | rest  # not all of them are core ATen
    return case(name, function, *inputs, expect_ops=f"aten.{op}", **rest)


def unary(suite, function, op=None, special=SPECIAL, **values):
    op = op or f"{suite}.default"
    return [
        one(f"{suite}/odd", op, function, f32(3, 5, 7, **values)),
        one(f"{suite}/special", op, function, f32(of=special)),
        one(f"{suite}/rank0", op, function, f32(**values)),
        one(f"{suite}/no_elements", op, function, f32(3, 0)),
        one(f"{suite}/half", op, function, f16(3, 7, **values)),
        one(f"{suite}/dynamic", op, function, f32(s, 3, t, **values), live=LIVE),
    ]


def of_integers(suite, function, op=None):
    """Functions that give integers for integers."""
    op = op or f"{suite}.default"
    return [
        one(f"{suite}/int32", op, function, i32(of=[-(2**31), 2**31 - 1, 0, 7, -7])),
        one(f"{suite}/int8", op, function, i8(3, 5)),
        one(f"{suite}/int64", op, function, i64(3, 5)),
    ]


TINY = [1e-38, 1e-40, 1e-20, -1e-20, 1e-7, -1e-7]
UNARY = [
    *unary("sign", torch.sign, special=[*FRACTIONS, *TINY]),
    *of_integers("sign", torch.sign),
    *unary("floor", torch.floor, special=FRACTIONS, low=-9, high=9),
    *of_integers("floor", torch.floor),
    *unary("ceil", torch.ceil, special=FRACTIONS, low=-9, high=9),
    *of_integers("ceil", torch.ceil),
    *unary("trunc", torch.trunc, special=FRACTIONS, low=-9, high=9),
    *of_integers("trunc", torch.trunc),
    *of_integers("round", torch.round),
    one("round_decimals/two", "round.decimals", lambda x: torch.round(x, decimals=2), f32(3, 5, 7)),
    one("round_decimals/zero", "round.decimals", lambda x: torch.round(x, decimals=0), f32(of=FRACTIONS[:-2])),
    one("round_decimals/tens", "round.decimals", lambda x: torch.round(x, decimals=-1), f32(3, 5, low=-500, high=500)),
    one("round_decimals/dynamic", "round.decimals", lambda x: torch.round(x, decimals=1), f32(s, t), live=LIVE),
    *unary("exp2", torch.exp2, special=[*SPECIAL, 127.0, 128.0, -126.0, -200.0, 0.5], low=-9, high=9),
    *unary("expm1", torch.expm1, special=[*SPECIAL, *TINY, 88.0, 89.0, -100.0, 0.5, -0.5, 1e-3]),
    *unary("log", torch.log, special=[*SPECIAL, 1e-38, 1e-40, 1e-30, 3e38, 0.99999994, 1.0000001, 10.0], low=0.01, high=9),
    *unary("log2", torch.log2, special=[*SPECIAL, 1e-38, 1e-40, 3e38, 0.99999994, 1.0000001, 8.0], low=0.01, high=9),
    *unary("log1p", torch.log1p, special=[*SPECIAL, *TINY, -0.9999999, -2.0, 3e38, 0.4, -0.4], low=-0.9, high=9),
    *unary("reciprocal", torch.reciprocal, special=[*SPECIAL, 1e30, -1e30, 3.0]),
    *unary("tan", torch.tan, special=[NAN, INF, -INF, 0.0, 1.0, -1.0, 1.5, 100.0, 1e4], low=-1.4, high=1.4),
    *unary("asin", torch.asin, special=[*SPECIAL, *TINY, 0.5, -0.5, 0.9999, 1.0001, -2.0], low=-1, high=1),
    *unary("acos", torch.acos, special=[*SPECIAL, *TINY, 0.5, -0.5, 0.9999, 1.0001, -2.0], low=-1, high=1),
    *unary("atan", torch.atan, special=[*SPECIAL, *TINY, 0.41, 0.42, 3e38, -2.0], low=-9, high=9),
    *unary("sinh", torch.sinh, special=[*SPECIAL, *TINY, 0.69, 0.71, 88.0, 89.0, -89.0, 90.0], low=-4, high=4),
    *unary("cosh", torch.cosh, special=[*SPECIAL, *TINY, 0.69, 0.71, 88.0, 89.0, -89.0, 90.0], low=-4, high=4),
    *unary("asinh", torch.asinh, special=[*SPECIAL, *TINY, 0.5, 1e7, 1e9, 3e38, -3e38], low=-9, high=9),
    *unary("acosh", torch.acosh, special=[*SPECIAL, 0.9999, 1.0001, 1.5, 1e7, 1e9, 3e38], low=1, high=9),
    *unary("atanh", torch.atanh, special=[*SPECIAL, *TINY, 0.5, -0.5, 0.9999, 1.0001, -2.0], low=-0.99, high=0.99),
    *unary("erf", torch.erf, special=[*SPECIAL, *TINY, 0.49, 0.51, 3.0, -3.0, 7.0, 3e38]),
    # Integers become floating-point numbers.
    one("log/int64", "log.default", torch.log, i64(3, 5, low=1, high=99)),
    one("reciprocal/int32", "reciprocal.default", torch.reciprocal, i32(3, 5, low=1, high=9)),
    one("erf/boolean", "erf.default", torch.erf, boolean(3, 5)),
    *unary("elu", lambda x: F.elu(x), special=[*SPECIAL, *TINY, 88.0, -100.0]),
    one("elu/alpha", "elu.default", lambda x: F.elu(x, 0.25), f32(3, 5)),
    one("elu/selu", "elu.default", lambda x: F.selu(x), f32(3, 5)),
    one("elu/all", "elu.default", lambda x: torch.ops.aten.elu(x, 0.5, 2.0, 1.5), f32(3, 5)),
    case("elu/in_a_row", lambda x: F.elu(x * 2 + 1) * 3, f32(3, 5), own=True, expect_ops="aten.elu.default"),
    case("log/in_a_row", lambda x: torch.log1p(torch.exp(x)) * torch.erf(x), f32(3, 5), own=True,
         expect_ops=["aten.log1p.default", "aten.erf.default"]),
]  # fmt: skip


def with_number(suite, op, function):
    """A tensor and a number: function(tensor, number)."""
    return [
        one(f"{suite}/odd", op, lambda x: function(x, 1.75), f32(3, 5, 7)),
        one(f"{suite}/whole", op, lambda x: function(x, 3), f32(3, 5)),
        one(f"{suite}/half", op, lambda x: function(x, 0.3), f16(3, 7)),
        one(f"{suite}/special", op, lambda x: function(x, -2.5), f32(of=SPECIAL)),
        one(f"{suite}/dynamic", op, lambda x: function(x, 0.5), f32(s, t), live=LIVE),
        one(f"{suite}/no_elements", op, lambda x: function(x, 2.0), f32(0, 3)),
        one(f"{suite}/rank0", op, lambda x: function(x, 2.0), f32()),
    ]


def with_number_of_integers(suite, op, function):
    return [
        one(f"{suite}/int64", op, lambda x: function(x, 3), i64(3, 5)),
        one(f"{suite}/int32_negative", op, lambda x: function(x, -4), i32(3, 5)),
        one(f"{suite}/uint8", op, lambda x: function(x, 3), u8(3, 5, low=4, high=60)),
    ]


ops = torch.ops.aten
SCALARS = [
    *with_number("mul_scalar", "mul.Scalar", ops.mul.Scalar),
    *with_number_of_integers("mul_scalar", "mul.Scalar", ops.mul.Scalar),
    one("mul_scalar/int_and_fraction", "mul.Scalar", lambda x: ops.mul.Scalar(x, 0.5), i64(3, 5)),
    one("mul_scalar/boolean", "mul.Scalar", lambda x: ops.mul.Scalar(x, 7), boolean(3, 5)),
    case("mul_scalar/in_a_row", lambda x: torch.exp(ops.add.Scalar(ops.mul.Scalar(x, 0.5), 1.0)), f32(3, 5), own=True,
         expect_ops=["aten.mul.Scalar", "aten.add.Scalar"]),
    *with_number("add_scalar", "add.Scalar", ops.add.Scalar),
    *with_number_of_integers("add_scalar", "add.Scalar", ops.add.Scalar),
    one("add_scalar/alpha", "add.Scalar", lambda x: ops.add.Scalar(x, 3, 2.5), f32(3, 5)),
    *with_number("sub_scalar", "sub.Scalar", ops.sub.Scalar),
    *with_number_of_integers("sub_scalar", "sub.Scalar", ops.sub.Scalar),
    one("sub_scalar/alpha", "sub.Scalar", lambda x: ops.sub.Scalar(x, 3, 2.5), f32(3, 5)),
    *with_number("div_scalar", "div.Scalar", ops.div.Scalar),
    one("div_scalar/int64", "div.Scalar", lambda x: ops.div.Scalar(x, 4), i64(3, 5)),
    one("div_scalar/zero", "div.Scalar", lambda x: ops.div.Scalar(x, 0), f32(of=SPECIAL)),
    *with_number("fmod_scalar", "fmod.Scalar", ops.fmod.Scalar),
    *with_number_of_integers("fmod_scalar", "fmod.Scalar", ops.fmod.Scalar),
    *with_number("remainder_scalar", "remainder.Scalar", ops.remainder.Scalar),
    *with_number_of_integers("remainder_scalar", "remainder.Scalar", ops.remainder.Scalar),
    *[
        one(f"div_scalar_mode/{mode}_{name}", "div.Scalar_mode",
            lambda x, mode=mode: ops.div.Scalar_mode(x, -2, rounding_mode=mode), spec)
        for mode in (None, "floor", "trunc")
        for name, spec in {"float": f32(3, 5, low=-9, high=9), "int": i64(3, 5), "half": f16(7, low=-9, high=9)}.items()
    ],
    one("pow_of_scalar/odd", "pow.Scalar", lambda x: torch.pow(2.5, x), f32(3, 5, 7)),
    one("pow_of_scalar/ten", "pow.Scalar", lambda x: torch.pow(10000.0, x), f32(of=[*SPECIAL, 0.5, 0.25])),
    one("pow_of_scalar/negative", "pow.Scalar", lambda x: torch.pow(-2, x), f32(of=[0, 1, 2, 3, -1, 0.5])),
    one("pow_of_scalar/int64", "pow.Scalar", lambda x: torch.pow(3, x), i64(7, low=0, high=12)),
    one("pow_of_scalar/half", "pow.Scalar", lambda x: torch.pow(1.5, x), f16(3, 5)),
    one("pow_of_scalar/dynamic", "pow.Scalar", lambda x: torch.pow(0.5, x), f32(s, t), live=LIVE),
]  # fmt: skip


def binary(suite, op, function, **values):
    return [
        one(f"{suite}/odd", op, function, f32(3, 5, 7, **values), f32(3, 5, 7, **values)),
        one(f"{suite}/broadcast", op, function, f32(3, 1, 7), f32(2, 1, 5, 1)),
        one(f"{suite}/rank0", op, function, f32(3, 5), f32()),
        one(f"{suite}/half", op, function, f16(3, 5), f16(5)),
        one(f"{suite}/special", op, lambda x, y: function(x[:, None], y), f32(of=[*SPECIAL, 2.5, -2.5]),
            f32(of=[*SPECIAL, 2.0, -2.0])),
        one(f"{suite}/no_elements", op, function, f32(2, 0), f32(2, 1)),
        one(f"{suite}/dynamic", op, function, f32(s, t), f32(t), live=LIVE),
    ]  # fmt: skip


SIGNED = torch.tensor([-7, 7, -8, 8, 0, 1, -1, 2**31 - 1])
DIVISORS = torch.tensor([3, -3, 2, -2, 5, 7, 1, -16])
BINARY = [
    *binary("maximum", "maximum.default", torch.maximum),
    one("maximum/int32", "maximum.default", torch.maximum, i32(3, 5), i32(5)),
    one("maximum/boolean", "maximum.default", torch.maximum, boolean(3, 5), boolean(5)),
    one("maximum/int8", "maximum.default", torch.maximum, i8(3, 5), i8(5)),
    *binary("fmod", "fmod.Tensor", torch.fmod),
    one("fmod/int64", "fmod.Tensor", torch.fmod, i64(of=SIGNED), i64(of=DIVISORS)),
    *binary("remainder", "remainder.Tensor", torch.remainder),
    one("remainder/int64", "remainder.Tensor", torch.remainder, i64(of=SIGNED), i64(of=DIVISORS)),
    *binary("atan2", "atan2.default", torch.atan2),
    one("atan2/int64", "atan2.default", torch.atan2, i64(3, 5), i64(5)),
    one("clamp_tensor/both", "clamp.Tensor", torch.clamp, f32(3, 5, 7), f32(7, low=-1, high=0), f32(5, 1, low=0, high=1)),
    one("clamp_tensor/below", "clamp.Tensor", lambda x, y: torch.clamp(x, min=y), f32(of=SPECIAL), f32()),
    one("clamp_tensor/above", "clamp.Tensor", lambda x, y: torch.clamp(x, max=y), f32(3, 5), f32(5)),
    one("clamp_tensor/int64", "clamp.Tensor", torch.clamp, i64(3, 5), i64(low=-3, high=0), i64(5, low=0, high=4)),
    one("clamp_tensor/dynamic", "clamp.Tensor", lambda x, y: torch.clamp(x, min=y), f32(s, t), f32(t), live=LIVE),
    one("where/int64_and_number", "where.self", lambda c, x: torch.where(c, x, 2), boolean(3, 5), i64(3, 5)),
    one("where/mixed", "where.self", lambda c, x, y: torch.ops.aten.where.self(c, x, y), boolean(3, 5), f32(3, 5), f16(5)),
]  # fmt: skip

LOGIC = [
    *[
        one(f"{name}/{kind}", f"{name}.default", function, spec)
        for name, function in (("isnan", torch.isnan), ("isinf", torch.isinf))
        for kind, spec in {"special": f32(of=[*SPECIAL, 3e38, 1e-40]), "half": f16(of=SPECIAL), "odd": f32(3, 5, 7),
                           "dynamic_none": f32(0, 3), "int64": i64(3, 5)}.items()
        if not (name == "isnan" and kind == "int64")
    ],
    one("logical_xor/boolean", "logical_xor.default", torch.logical_xor, boolean(3, 5), boolean(5)),
    one("logical_xor/float", "logical_xor.default", torch.logical_xor, f32(of=SPECIAL), f32(of=[0.0] * 7)),
    one("logical_xor/int32", "logical_xor.default", torch.logical_xor, i32(3, 5, low=-1, high=2), i32(5, low=-1, high=2)),
    one("logical_xor/dynamic", "logical_xor.default", torch.logical_xor, boolean(s, t), boolean(t), live=LIVE),
    one("bitwise_xor/boolean", "bitwise_xor.Tensor", torch.bitwise_xor, boolean(3, 5), boolean(5)),
    one("bitwise_xor/int32", "bitwise_xor.Tensor", torch.bitwise_xor, i32(3, 5), i32(5)),
    one("bitwise_xor/uint8", "bitwise_xor.Tensor", torch.bitwise_xor, u8(3, 5), u8(3, 1)),
    one("bitwise_xor/dynamic", "bitwise_xor.Tensor", torch.bitwise_xor, i64(s, t), i64(t), live=LIVE),
    *[
        one(f"bitwise_{name}_scalar/{kind}", f"bitwise_{name}.Scalar",
            lambda x, name=name, number=number: getattr(ops, f"bitwise_{name}").Scalar(x, number), spec)
        for name in ("and", "or", "xor")
        for kind, number, spec in (("int32", 12, i32(3, 5)), ("negative", -8, i64(3, 5)), ("uint8", 15, u8(3, 5)),
                                   ("boolean", True, boolean(7)))
    ],
    *[
        one(f"{name}/{kind}", f"__{name}__.Scalar", lambda x, f=f, number=number: f(x, number), spec)
        for name, f in (("lshift", lambda x, n: x << n), ("rshift", lambda x, n: x >> n))
        for kind, number, spec in (("int32", 3, i32(3, 5)), ("int64", 1, i64(3, 5)), ("uint8", 2, u8(3, 5, low=0, high=60)),
                                   ("zero", 0, i32(3, 5)))
    ],
]  # fmt: skip

FILLS = [
    *[
        one(f"fill_scalar/{name}", "fill.Scalar", lambda x, value=value: ops.fill.Scalar(x, value), spec,
            graph=lambda g, x, value=value: g.call("aten.fill.Scalar", x, value, out=g.like(x)), **rest)
        for name, value, spec, rest in (("odd", 2.5, f32(3, 5), {}), ("int64", -7, i64(3, 5), {}),
                                        ("boolean", 1, boolean(7), {}), ("half", 0.1, f16(3), {}), ("rank0", 1, f32(), {}),
                                        ("dynamic", 3, f32(s, t), {"live": LIVE}))
    ],
]  # fmt: skip


def emptied(op, *args):
    """Memory that may hold anything, times zero."""

    def draw(g, x):
        empty = g.call(op, *args, out=g.like(x))
        zero = g.call("aten.mul.Scalar", empty, 0, out=g.like(x))
        return g.call("aten.add.Tensor", zero, x, 1, out=g.like(x))

    return draw


def empties(suite, op, *args):
    return [
        case(f"{suite}/{name}", lambda x: x * 1, spec, graph=emptied(op, list(spec.shape), *args), expect_ops=op)
        for name, spec in (("odd", f32(3, 5)), ("int32", i32(3, 5)), ("half", f16(7)), ("rank3", f32(2, 3, 4)))
    ]


EMPTY = [
    *empties("empty", "aten.empty.memory_format", None, None, None, None, None),
    *empties("empty_strided", "aten.empty_strided.default", [1], None, None, None, None),
    *empties("empty_dim_order", "dim_order_ops._empty_dim_order.default", None, None, None, None, None),
]

CASES = [*UNARY, *SCALARS, *BINARY, *LOGIC, *FILLS, *EMPTY]
