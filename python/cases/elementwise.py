# SPDX-License-Identifier: BSD-3-Clause
"""Functions of single elements: unary, binary, comparisons, logic, casts, fills. Plain arithmetic is in basics.py."""
import torch
import torch.nn.functional as F

from cases.case import boolean, case, dim, f16, f32, i32, i64

s, t = dim("s", 1, 9), dim("t", 1, 5)
LIVE = [{"s": 4, "t": 3}, {"s": 1, "t": 1}, {"s": 1, "t": 5}]
HALF = {"force_fp16": True}
INF, NAN = torch.inf, torch.nan
SPECIAL = [NAN, INF, -INF, 0.0, -0.0, 1.0, -1.0]
INT_MIN, INT_MAX = -(2**31), 2**31 - 1


def unary(suite, function, op, special=SPECIAL, graph=None, **values):
    """What every function of one tensor must do. `values` is the range that it is tried in."""
    return [
        case(f"{suite}/odd", function, f32(3, 5, 7, **values), graph=graph, expect_ops=op),
        case(f"{suite}/special", function, f32(of=special), graph=graph, expect_ops=op),
        case(f"{suite}/rank0", function, f32(**values), graph=graph, expect_ops=op),
        case(f"{suite}/no_elements", function, f32(3, 0, **values), graph=graph, expect_ops=op),
        case(f"{suite}/half", function, f16(3, 7, **values), graph=graph, expect_ops=op),
        *([] if graph else [case(f"{suite}/force_fp16", function, f32(3, 7, **values), compile=HALF, expect_ops=op)]),
        case(f"{suite}/dynamic", function, f32(s, 3, t, **values), live=LIVE, graph=graph, expect_ops=op),
    ]


HARDSHRINK = "aten.hardshrink.default"


def drawn_hardshrink(limit):  # the exporter takes it apart
    return lambda g, x: g.call(HARDSHRINK, x, limit, out=g.like(x))


UNARY = [
    *unary("abs", torch.abs, "aten.abs.default"),
    *unary("neg", torch.neg, "aten.neg.default"),
    *unary("relu", torch.relu, "aten.relu.default"),
    *unary("exp", torch.exp, "aten.exp.default", special=[*SPECIAL, 88.0, 89.0, -100.0, -200.0, 1000.0, 1e-6]),
    *unary("log10", torch.log10, "aten.log10.default", special=[*SPECIAL, 1e-30, 1e30, 10.0, 100.0], low=0.01, high=9),
    *unary("sqrt", torch.sqrt, "aten.sqrt.default", special=[*SPECIAL, 4.0, 1e-30, 1e30], low=0, high=9),
    *unary("rsqrt", torch.rsqrt, "aten.rsqrt.default", special=[*SPECIAL, 4.0, 1e-30, 1e30], low=0.1, high=9),
    *unary("sin", torch.sin, "aten.sin.default", low=-9, high=9),
    *unary("cos", torch.cos, "aten.cos.default", low=-9, high=9),
    # Angles as of rotary embeddings at late positions.
    case("sin/large", torch.sin, f32(3, 67, low=-99000, high=99000), expect_ops="aten.sin.default"),
    case("cos/large", torch.cos, f32(3, 67, low=-99000, high=99000), expect_ops="aten.cos.default"),
    *unary("tanh", torch.tanh, "aten.tanh.default", special=[*SPECIAL, 9.0, -15.0, 50.0, -89.0, 1000.0, -3e38]),
    case("sigmoid/special", torch.sigmoid, f32(of=[*SPECIAL, 3e38, -3e38]), expect_ops="aten.sigmoid.default"),
    *unary("round", torch.round, "aten.round.default",
           special=[*SPECIAL, 0.5, 1.5, 2.5, -0.5, -1.5, -2.5, 0.49999997, 8388609.0, 3e9], low=-9, high=9),
    *unary("hardswish", F.hardswish, "aten.hardswish.default",
           special=[NAN, INF, 0.0, 3.0, -3.0, 2.9999998, -2.9999998, 1e37, -3e38], low=-6, high=6),
    *unary("hardshrink", F.hardshrink, HARDSHRINK, special=[*SPECIAL, 0.5, -0.5, 0.50000006, 0.25],
           graph=drawn_hardshrink(0.5)),
    case("hardshrink/lambda", lambda x: F.hardshrink(x, 1.0), f32(3, 5), graph=drawn_hardshrink(1.0),
         expect_ops=HARDSHRINK),
    *unary("leaky_relu", F.leaky_relu, "aten.leaky_relu.default"),
    case("leaky_relu/slope", lambda x: F.leaky_relu(x, 0.2), f32(3, 5), expect_ops="aten.leaky_relu.default"),
    case("leaky_relu/slope_one", lambda x: F.leaky_relu(x, 1.0), f32(3, 5), expect_ops="aten.leaky_relu.default"),
    *unary("gelu", F.gelu, "aten.gelu.default", special=[NAN, 0.0, 5.0, -5.0, 13.0, -13.0, 1e30],
           low=-4, high=4),
    *unary("gelu_tanh", lambda x: F.gelu(x, approximate="tanh"), "aten.gelu.default",
           special=[NAN, INF, 0.0, 5.0, -5.0, 13.0, -13.0, 1e30], low=-4, high=4),
]  # fmt: skip

CLAMP, HARDTANH = "aten.clamp.default", "aten.hardtanh.default"
BOUNDED = [
    *unary("clamp", lambda x: x.clamp(-0.5, 0.75), CLAMP),
    case("clamp/below", lambda x: x.clamp(min=0.25), f32(of=[*SPECIAL, 0.5]), expect_ops=CLAMP),
    case("clamp/above", lambda x: x.clamp(max=0.25), f32(of=[*SPECIAL, 0.5]), expect_ops=CLAMP),
    case("clamp/crossed", lambda x: x.clamp(2, -2), f32(3, 5), expect_ops=CLAMP),
    case("clamp/int32", lambda x: x.clamp(-3, 4), i32(3, 5), expect_ops=CLAMP),
    case("clamp/int32_large", lambda x: x.clamp(-16777217, 16777219), i32(of=[INT_MIN, INT_MAX, 16777218, 3, -16777217]),
         expect_ops=CLAMP),
    case("clamp/int64_below", lambda x: x.clamp(min=2), i64(7), expect_ops=CLAMP),
    *unary("hardtanh", F.hardtanh, HARDTANH),
    case("hardtanh/bounds", lambda x: F.hardtanh(x, -0.25, 2.0), f32(3, 5), expect_ops=HARDTANH),
    case("hardtanh/shared_numbers", lambda x: (x.clamp(0, 1), F.hardtanh(x, 0.0, 1.0)), f32(3, 5),
         expect_ops=[CLAMP, HARDTANH]),
    case("hardtanh/relu6", F.relu6, f32(3, 5, low=-3, high=9), expect_ops=HARDTANH),
]  # fmt: skip

POW, POW_SCALAR = "aten.pow.Tensor_Tensor", "aten.pow.Tensor_Scalar"
POWERS = [
    *unary("pow_scalar", lambda x: x**2, POW_SCALAR),
    case("pow_scalar/cube", lambda x: x**3, f32(of=[*SPECIAL, -2.5, 3.0, 1e-20, 1e20]), expect_ops=POW_SCALAR),
    case("pow_scalar/root", lambda x: x**0.5, f32(of=[NAN, INF, 0.0, 1.0, -1.0, 2.0, -2.5]), expect_ops=POW_SCALAR),
    case("pow_scalar/fraction", lambda x: x**2.5, f32(3, 5), expect_ops=POW_SCALAR),
    case("pow_scalar/negative", lambda x: x**-2, f32(of=[*SPECIAL, 2.0, -0.5, 1e30]), expect_ops=POW_SCALAR),
    case("pow_scalar/inverse_root", lambda x: x**-0.5, f32(5, low=0.1, high=4), expect_ops=POW_SCALAR),
    case("pow_scalar/of_zero", lambda x: x**0.0, f32(of=SPECIAL), expect_ops=POW_SCALAR),
    case("pow_scalar/large", lambda x: x**40, f32(of=[1.5, -1.5, 0.5, 9.0]), expect_ops=POW_SCALAR),
    case("pow/odd", torch.pow, f32(3, 5, low=0.1, high=4), f32(3, 5), expect_ops=POW),
    case("pow/broadcast", torch.pow, f32(3, 1, low=0.1, high=4), f32(2, 1, 5), expect_ops=POW),
    # Signs, zeros and infinities in all combinations.
    case("pow/special", lambda x, y: torch.pow(x[:, None], y), f32(of=[*SPECIAL, 2.0, -2.0, 0.5, -0.5]),
         f32(of=[*SPECIAL, 2.0, 3.0, -2.0, -3.0, 0.5, -0.5, 16777217.0, 33.0]), expect_ops=POW),
    case("pow/negative_bases", torch.pow, f32(of=[-2, -2, -3, -0.5, -1.5]), f32(of=[3, 4, 2.5, -3, 31]), expect_ops=POW),
    case("pow/half", torch.pow, f16(3, 5, low=0.5, high=2), f16(5), expect_ops=POW),
    case("pow/force_fp16", torch.pow, f32(3, 5, low=0.5, high=2), f32(5), compile=HALF, expect_ops=POW),
    case("pow/rank0", torch.pow, f32(low=1, high=2), f32(), expect_ops=POW),
    case("pow/no_elements", torch.pow, f32(2, 0), f32(2, 1), expect_ops=POW),
    case("pow/dynamic", torch.pow, f32(s, t, low=0.1, high=4), f32(t), live=LIVE, expect_ops=POW),
    case("pow/int32", torch.pow, i32(of=[-3, 2, 7, 0, -1, 3]), i32(of=[3, 30, 0, 0, 5, 19]), expect_ops=POW),
]  # fmt: skip

MINIMUM, DIV_MODE = "aten.minimum.default", "aten.div.Tensor_mode"


def divide(mode):
    return lambda x, y: torch.div(x, y, rounding_mode=mode)


def rounded_division(mode):
    function, op = divide(mode), DIV_MODE
    return [
        case(f"div_{mode}/odd", function, f32(3, 5, 7, low=-99, high=99), f32(7, low=0.5, high=9), expect_ops=op),
        case(f"div_{mode}/exact", function, f32(of=[6, -6, 7, -7, 7, -7, 1e30, 5, 0, 9e6]),
             f32(of=[3, 3, 2, 2, -2, -2, 3, 5, 4, 3]), expect_ops=op),
        case(f"div_{mode}/special", function, f32(of=[1, -1, 0, INF, -INF, NAN, 5, -5, 5]),
             f32(of=[0, 0, 0, 2, 2, 2, INF, INF, NAN]), expect_ops=op),
        case(f"div_{mode}/int32", function, i32(of=[7, -7, 7, -7, 6, -6, 0, INT_MAX, INT_MIN, 16777217]),
             i32(of=[2, 2, -2, -2, 3, 3, 5, 2, 3, 3]), expect_ops=op),
        case(f"div_{mode}/int64", function, i64(3, 5), i64(5, low=1, high=5), expect_ops=op),
        case(f"div_{mode}/half", function, f16(3, 5, low=-9, high=9), f16(5, low=1, high=3), expect_ops=op),
        case(f"div_{mode}/rank0", function, f32(low=-9, high=9), f32(low=1, high=3), expect_ops=op),
        case(f"div_{mode}/no_elements", function, f32(0, 5), f32(5), expect_ops=op),
        case(f"div_{mode}/dynamic", function, f32(s, t, low=-9, high=9), f32(t, low=1, high=3), live=LIVE, expect_ops=op),
    ]  # fmt: skip


BINARY = [
    *rounded_division("floor"),
    *rounded_division("trunc"),
    case("minimum/odd", torch.minimum, f32(3, 5, 7), f32(3, 5, 7), expect_ops=MINIMUM),
    case("minimum/broadcast", torch.minimum, f32(3, 1, 7), f32(2, 1, 5, 1), expect_ops=MINIMUM),
    case("minimum/special", torch.minimum, f32(of=[NAN, 1, NAN, INF, -INF, INF, NAN]),
         f32(of=[1, NAN, NAN, 2, 2, -INF, INF]), expect_ops=MINIMUM),
    case("minimum/int32", torch.minimum, i32(of=[INT_MIN, INT_MAX, 16777217, -5]), i32(of=[INT_MAX, 3, 16777216, -4]),
         expect_ops=MINIMUM),
    case("minimum/half", torch.minimum, f16(3, 5), f16(5), expect_ops=MINIMUM),
    case("minimum/force_fp16", torch.minimum, f32(3, 5), f32(5), compile=HALF, expect_ops=MINIMUM),
    case("minimum/rank0", torch.minimum, f32(), f32(3), expect_ops=MINIMUM),
    case("minimum/dynamic", torch.minimum, f32(s, 1), f32(t), live=LIVE, expect_ops=MINIMUM),
    case("div/int32", torch.div, i32(3, 5), i32(5, low=1, high=9), expect_ops="aten.div.Tensor"),
]  # fmt: skip

COMPARISONS = {"eq": torch.eq, "lt": torch.lt, "le": torch.le, "gt": torch.gt, "ge": torch.ge}


def comparison(name, function):
    op = f"aten.{name}.Tensor"
    close = {"low": 16777210, "high": 16777220}  # float32 can't tell these apart
    return [
        case(f"{name}/odd", function, f32(3, 5, 7, fill=coarse), f32(3, 5, 7, fill=coarse), expect_ops=op),
        case(f"{name}/broadcast", function, f32(3, 1, 7, fill=coarse), f32(2, 1, 5, 1, fill=coarse), expect_ops=op),
        case(f"{name}/special", lambda x, y: function(x[:, None], y), f32(of=SPECIAL), f32(of=SPECIAL), expect_ops=op),
        case(f"{name}/int32", function, i32(3, 67, **close), i32(67, **close), expect_ops=op),
        case(f"{name}/int64", function, i64(2, 3, 1, low=-2, high=3), i64(5, low=-2, high=3), expect_ops=op),
        case(f"{name}/half", function, f16(3, 5, fill=coarse), f16(5, fill=coarse), expect_ops=op),
        case(f"{name}/force_fp16", function, f32(3, 5, fill=coarse), f32(5, fill=coarse), compile=HALF, expect_ops=op),
        case(f"{name}/rank0", function, f32(), f32(), expect_ops=op),
        case(f"{name}/no_elements", function, f32(0, 3), f32(3), expect_ops=op),
        case(f"{name}/dynamic", function, f32(s, t, fill=coarse), f32(t, fill=coarse), live=LIVE, expect_ops=op),
    ]  # fmt: skip


def coarse(shape):
    """Few different numbers, so that some are equal."""
    return torch.randint(-2, 3, shape, generator=torch.Generator().manual_seed(len(shape) + sum(shape))) / 2


def comparison_with_scalar(name):
    op = f"aten.{name}.Scalar"

    def function(scalar):
        return lambda x: getattr(torch, name)(x, scalar)

    return [
        case(f"{name}_scalar/odd", function(0.5), f32(3, 5, 7, fill=coarse), expect_ops=op),
        case(f"{name}_scalar/special", function(0), f32(of=SPECIAL), expect_ops=op),
        case(f"{name}_scalar/int32", function(16777217), i32(3, 67, low=16777210, high=16777220), expect_ops=op),
        case(f"{name}_scalar/int32_extremes", function(INT_MIN), i32(of=[INT_MIN, INT_MIN + 1, 0, INT_MAX]), expect_ops=op),
        case(f"{name}_scalar/int32_fraction", function(1.5), i32(7, low=0, high=4), expect_ops=op),
        case(f"{name}_scalar/half", function(-0.5), f16(3, 5, fill=coarse), expect_ops=op),
        case(f"{name}_scalar/rank0", function(0), f32(), expect_ops=op),
        case(f"{name}_scalar/no_elements", function(1), f32(3, 0), expect_ops=op),
        case(f"{name}_scalar/dynamic", function(0.5), f32(s, t, fill=coarse), live=LIVE, expect_ops=op),
    ]  # fmt: skip


def logic(suite, function, op, arity):
    shapes = [(3, 5, 7), (3, 5, 7)]
    return [
        case(f"{suite}/odd", function, *[boolean(*shape) for shape in shapes[:arity]], expect_ops=op),
        case(f"{suite}/rank0", function, *[boolean() for _ in range(arity)], expect_ops=op),
        case(f"{suite}/rank5", function, *[boolean(2, 1, 3, 2, 5) for _ in range(arity)], expect_ops=op),
        case(f"{suite}/no_elements", function, *[boolean(3, 0) for _ in range(arity)], expect_ops=op),
        case(f"{suite}/dynamic", function, *[boolean(s, t) for _ in range(arity)], live=LIVE, expect_ops=op),
    ] + [
        case(f"{suite}/broadcast", function, boolean(3, 1, 7), boolean(5, 1), expect_ops=op),
        case(f"{suite}/broadcast_dynamic", function, boolean(s, 1), boolean(t), live=LIVE, expect_ops=op),
    ][: 2 * (arity - 1)]  # fmt: skip


WHERE = "aten.where.self"
LOGIC = [
    *[one for name, function in COMPARISONS.items() for one in comparison(name, function)],
    *[one for name in ["eq", "ne", "lt", "le", "gt", "ge"] for one in comparison_with_scalar(name)],
    *logic("logical_not", torch.logical_not, "aten.logical_not.default", 1),
    *logic("logical_and", torch.logical_and, "aten.logical_and.default", 2),
    *logic("logical_or", torch.logical_or, "aten.logical_or.default", 2),
    *logic("bitwise_not", torch.bitwise_not, "aten.bitwise_not.default", 1),
    *logic("bitwise_and", torch.bitwise_and, "aten.bitwise_and.Tensor", 2),
    *logic("bitwise_or", torch.bitwise_or, "aten.bitwise_or.Tensor", 2),
    case("where/odd", torch.where, boolean(3, 5, 7), f32(3, 5, 7), f32(3, 5, 7), expect_ops=WHERE),
    case("where/broadcast", torch.where, boolean(3, 1, 1), f32(5, 1), f32(7), expect_ops=WHERE),
    case("where/broadcast_condition", torch.where, boolean(7), f32(3, 7), f32(2, 1, 1), expect_ops=WHERE),
    case("where/special", torch.where, boolean(of=[1, 0, 1, 0]), f32(of=[NAN, NAN, INF, 1]), f32(of=[1, -INF, 1, NAN]),
         expect_ops=WHERE),
    case("where/half", torch.where, boolean(3, 5), f16(5), f16(3, 1), expect_ops=WHERE),
    case("where/force_fp16", torch.where, boolean(3, 5), f32(5), f32(3, 1), compile=HALF, expect_ops=WHERE),
    case("where/rank0", torch.where, boolean(), f32(), f32(), expect_ops=WHERE),
    case("where/no_elements", torch.where, boolean(3, 0), f32(1), f32(3, 1), expect_ops=WHERE),
    case("where/dynamic", torch.where, boolean(s, 1), f32(t), f32(s, t), live=LIVE, expect_ops=WHERE),
    case("where/masked", lambda x: torch.where(x > 0, x, x * 0.5), f32(s, t), live=LIVE, expect_ops=WHERE),
]  # fmt: skip

CAST = "dim_order_ops._to_dim_order_copy.default"
TO_COPY = "aten._to_copy.default"
AS_ATEN = {"_skip_dim_order": True}
BYTES = {"f16": f16, "f32": f32, "i32": i32, "i64": i64, "bool": boolean}
TYPES = {"f16": torch.float16, "f32": torch.float32, "i32": torch.int32, "i64": torch.int64, "bool": torch.bool}


def casts():
    for source, spec in BYTES.items():
        for target, dtype in TYPES.items():
            if source != target:
                values = {"low": -9, "high": 9} if source[0] == "f" else {}
                yield case(f"to_copy/{source}_to_{target}", lambda x, dtype=dtype: x.to(dtype), spec(3, 7, **values),
                           edge=AS_ATEN, expect_ops=TO_COPY)  # fmt: skip


CASTS = [
    *casts(),
    case("to_copy/truncates", lambda x: x.to(torch.int32),
         f32(of=[0.99, -0.99, 1.5, -1.5, 16777217, -2147483648, 2147483520, 1e-40, -0.0]), edge=AS_ATEN, expect_ops=TO_COPY),
    case("to_copy/truth", lambda x: x.to(torch.bool), f32(of=[*SPECIAL, 1e-40, 0.1]), edge=AS_ATEN, expect_ops=TO_COPY),
    case("to_copy/large_integers", lambda x: x.to(torch.float32), i32(of=[INT_MIN, INT_MAX, 16777217, -16777219]),
         edge=AS_ATEN, expect_ops=TO_COPY),
    case("to_copy/overflows_half", lambda x: x.to(torch.float16), f32(of=[65504, 1e6, -1e6, INF, NAN, 1e-8, 0.1]),
         edge=AS_ATEN, expect_ops=TO_COPY),
    case("to_copy/rank0", lambda x: x.to(torch.float32), i32(), edge=AS_ATEN, expect_ops=TO_COPY),
    case("to_copy/no_elements", lambda x: x.to(torch.float32), i32(0, 3), edge=AS_ATEN, expect_ops=TO_COPY),
    case("to_copy/dynamic", lambda x: x.to(torch.float32) * 0.5, boolean(s, t), live=LIVE, edge=AS_ATEN, expect_ops=TO_COPY),
    case("to_copy/dynamic_truth", lambda x: x.to(torch.bool), i32(s, t, low=-1, high=2), live=LIVE, edge=AS_ATEN,
         expect_ops=TO_COPY),
    case("to_dim_order/f32_to_i32", lambda x: x.to(torch.int32), f32(3, 7, low=-9, high=9), expect_ops=CAST),
    case("to_dim_order/i64_to_f32", lambda x: x.to(torch.float32), i64(3, 7), expect_ops=CAST),
    case("to_dim_order/bool_to_f32", lambda x: x.to(torch.float32), boolean(3, 7), expect_ops=CAST),
    case("to_dim_order/f32_to_bool", lambda x: x.to(torch.bool), f32(3, 7, fill=coarse), expect_ops=CAST),
    case("to_dim_order/f32_to_f16", lambda x: x.to(torch.float16), f32(3, 7), expect_ops=CAST),
    case("to_dim_order/dynamic", lambda x: x.to(torch.float32), i32(s, t), live=LIVE, expect_ops=CAST),
]  # fmt: skip

FULL, FULL_LIKE, ARANGE = "aten.full.default", "aten.full_like.default", "aten.arange.start_step"
FILLS = [
    case("full/static", lambda x: torch.full((3, 5), 2.5) + x, f32(5), expect_ops=FULL),
    case("full/dynamic", lambda x: torch.full((x.shape[0], 5), -1.5) * x, f32(s, 5), live=[4, 1], expect_ops=FULL),
    case("full/two_sizes", lambda x: (torch.full((x.shape[1], x.shape[0]), 7.0), x + x), f32(s, t), live=LIVE,
         expect_ops=FULL),
    case("full/int32", lambda x: torch.full((x.shape[0],), 16777217, dtype=torch.int32) + x, i32(s), live=[4, 1],
         expect_ops=FULL),
    case("full/boolean", lambda x: (torch.full((x.shape[0], 3), True), x + x), f32(s), live=[4, 1], expect_ops=FULL),
    case("full/half", lambda x: torch.full((3, x.shape[0]), 0.1, dtype=torch.float16) + x, f16(s), live=[4, 1],
         expect_ops=FULL),
    case("full_like/f32", lambda x: torch.full_like(x, 0.1) + x, f32(3, 5), expect_ops=FULL_LIKE),
    case("full_like/int64", lambda x: torch.full_like(x, -7) * x, i64(3, 5), expect_ops=FULL_LIKE),
    case("full_like/to_boolean", lambda x: (torch.full_like(x, 1, dtype=torch.bool), x + x), f32(3, 5),
         expect_ops=FULL_LIKE),
    case("full_like/dynamic", lambda x: torch.full_like(x, 3.0) - x, f32(s, t), live=LIVE, expect_ops=FULL_LIKE),
    case("zeros/dynamic", lambda x: torch.zeros(x.shape[0], 3) + x, f32(s, 1), live=[4, 1], expect_ops=FULL),
    case("ones/dynamic", lambda x: torch.ones(x.shape[0], 3) - x, f32(s, 1), live=[4, 1], expect_ops=FULL),
    case("zeros_like/f32", lambda x: torch.zeros_like(x) - x, f32(3, 5), expect_ops=FULL_LIKE),
    case("ones_like/dynamic", lambda x: torch.ones_like(x) + x, f32(s, t), live=LIVE, expect_ops=FULL_LIKE),
    case("arange/dynamic", lambda x: torch.arange(x.shape[0], dtype=torch.float32) * x, f32(s), live=[4, 1],
         expect_ops=ARANGE),
    case("arange/int64", lambda x: torch.arange(2, x.shape[0] + 2) + x, i64(s), live=[4, 1], expect_ops=ARANGE),
    case("arange/step", lambda x: torch.arange(-3, 2 * x.shape[0] - 3, 2) * x, i32(s), live=[4, 1], expect_ops=ARANGE),
    case("arange/downwards", lambda x: torch.arange(x.shape[0], 0, -1) + x, i64(s), live=[4, 1], expect_ops=ARANGE),
]  # fmt: skip

CASES = UNARY + BOUNDED + POWERS + BINARY + LOGIC + CASTS + FILLS
