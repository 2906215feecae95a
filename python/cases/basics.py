# SPDX-License-Identifier: BSD-3-Clause
"""Elementwise arithmetic and the ops that move data."""
import torch

from cases.case import boolean, case, dim, f16, f32, i32, i64

s, t = dim("s", 1, 9), dim("t", 1, 5)

ADD, SUB, MUL, DIV = "aten.add.Tensor", "aten.sub.Tensor", "aten.mul.Tensor", "aten.div.Tensor"
SIGMOID = "aten.sigmoid.default"
VIEW, SQUEEZE, UNSQUEEZE = "aten.view_copy.default", "aten.squeeze_copy.dims", "aten.unsqueeze_copy.default"
SLICE, SELECT, PERMUTE = "aten.slice_copy.Tensor", "aten.select_copy.int", "aten.permute_copy.default"
CAT = "aten.cat.default"

HALF = {"force_fp16": True}
LIVE = [{"s": 4, "t": 3}, {"s": 1, "t": 1}, {"s": 1, "t": 5}]


def arithmetic(suite, function, op, divisor=False):
    """What every binary op must do. Divisors keep away from zero."""
    away = {"low": 0.5, "high": 3} if divisor else {}
    return [
        case(f"{suite}/odd", function, f32(3, 5, 7), f32(3, 5, 7, **away), expect_ops=op),
        case(f"{suite}/broadcast_inner", function, f32(3, 5, 7), f32(5, 1, **away), expect_ops=op),
        case(f"{suite}/broadcast_both", function, f32(3, 1, 7), f32(2, 1, 5, 1, **away), expect_ops=op),
        case(f"{suite}/by_constant", lambda x: function(x, 2.5), f32(3, 7), expect_ops=op),
        case(f"{suite}/rank0", function, f32(), f32(**away), expect_ops=op),
        case(f"{suite}/rank7", function, f32(2, 1, 2, 1, 3, 2, 5), f32(2, 1, 2, 4, 1, 2, 5, **away), expect_ops=op),
        case(f"{suite}/itself", lambda x: function(x, x), f32(3, 5, low=1, high=2), expect_ops=op),
        case(f"{suite}/no_elements", function, f32(3, 0, 7), f32(7, **away), expect_ops=op),
        case(f"{suite}/half", function, f16(3, 5), f16(5, **away), expect_ops=op),
        case(f"{suite}/force_fp16", function, f32(3, 5), f32(5, **away), compile=HALF, expect_ops=op),
        case(f"{suite}/dynamic", function, f32(s, t), f32(t, **away), live=LIVE, expect_ops=op),
        case(f"{suite}/dynamic_both", function, f32(s, 1), f32(1, t, **away), live=LIVE, expect_ops=op),
    ]


def integers(suite, function, op):
    return [
        case(f"{suite}/int32", function, i32(3, 5), i32(5), expect_ops=op),
        # Beyond what float32 can hold.
        case(f"{suite}/int32_large", function, i32(of=[16777217, -16777219, 30001]), i32(of=[2, 3, -7]), expect_ops=op),
        case(f"{suite}/int64", function, i64(2, 3, 1), i64(5), expect_ops=op),
    ]


ARITHMETIC = [
    *arithmetic("add", torch.add, ADD),
    *integers("add", torch.add, ADD),
    case("add/alpha", lambda x, y: torch.add(x, y, alpha=-2.5), f32(3, 5), f32(3, 5), expect_ops=ADD),
    case("add/alpha_int32", lambda x, y: torch.add(x, y, alpha=3), i32(3, 5), i32(5), expect_ops=ADD),
    case("add/input_is_output", lambda x: (x, x + x, x), f32(3, 5), expect_ops=ADD),
    case("add/output_twice", lambda x, y: (x + y,) * 2, f32(3, 5), f32(5), expect_ops=ADD),
    case("add/unplanned_memory", lambda x, y: (x + y) * x + y, f32(3, 5), f32(5), expect_ops=ADD,
         compile={"skip_memory_planning": True}),
    *arithmetic("sub", torch.sub, SUB),
    *integers("sub", torch.sub, SUB),
    case("sub/alpha", lambda x, y: torch.sub(x, y, alpha=0.25), f32(3, 5), f32(5), expect_ops=SUB),
    case("sub/from_constant", lambda x: 1.5 - x, f32(3, 5), expect_ops=SUB),
    *arithmetic("mul", torch.mul, MUL),
    *integers("mul", torch.mul, MUL),
    case("mul/infinities", torch.mul, f32(of=[torch.inf, -torch.inf, torch.nan, 3e38, 0]), f32(of=[2, 2, 1, 10, -5]),
         expect_ops=MUL),
    *arithmetic("div", torch.div, DIV, divisor=True),
    case("div/by_zero", torch.div, f32(of=[1, -1, 3, 0]), f32(of=[0, 0, torch.inf, 4]), expect_ops=DIV),
]

UNARY = [
    case("sigmoid/odd", torch.sigmoid, f32(3, 5, 7), expect_ops=SIGMOID),
    case("sigmoid/saturated", torch.sigmoid, f32(of=[-1000, -100, -88.5, -20, 0, 20, 88.5, 100, 1000]),
         expect_ops=SIGMOID),
    case("sigmoid/rank0", torch.sigmoid, f32(), expect_ops=SIGMOID),
    case("sigmoid/no_elements", torch.sigmoid, f32(2, 0), expect_ops=SIGMOID),
    case("sigmoid/half", torch.sigmoid, f16(3, 7, low=-9, high=9), expect_ops=SIGMOID),
    case("sigmoid/force_fp16", torch.sigmoid, f32(3, 7, low=-9, high=9), compile=HALF, expect_ops=SIGMOID),
    case("sigmoid/dynamic", torch.sigmoid, f32(s, 3, t), live=LIVE, expect_ops=SIGMOID),
    case("sigmoid/silu", torch.nn.functional.silu, f32(s, 7), live=[4, 1], expect_ops=[SIGMOID, MUL]),
    # Longer than a side of the exporter's textures.
    case("sigmoid/long", torch.sigmoid, f32(16411), expect_ops=SIGMOID),
]

# The same bytes under another shape.
RESHAPES = [
    case("view/merge", lambda x: x.view(3, 35), f32(3, 5, 7), expect_ops=VIEW),
    case("view/split", lambda x: x.view(5, 3, -1), f32(15, 7), expect_ops=VIEW),
    case("view/rank0", lambda x: x.view(()), f32(1, 1), expect_ops=VIEW),
    case("view/from_rank0", lambda x: x.view(1, 1, 1), f32(), expect_ops=VIEW),
    case("view/no_elements", lambda x: x.view(0, 3), f32(2, 0), expect_ops=VIEW),
    case("view/boolean", lambda x: x.view(5, 3), boolean(3, 5), expect_ops=VIEW),
    case("view/int64", lambda x: x.view(15), i64(3, 5), expect_ops=VIEW),
    case("view/half", lambda x: x.view(15), f16(3, 5), expect_ops=VIEW),
    case("view/force_fp16", lambda x: x.view(7, 3) + 1.0, f32(3, 7), compile=HALF, expect_ops=VIEW),
    case("view/dynamic", lambda x: x.view(-1, 5), f32(s, 3, 5), live=[4, 1], expect_ops=VIEW),
    case("view/then_add", lambda x, y: x.view(5, 3) + y, f32(3, 5), f32(5, 3), expect_ops=VIEW),
    case("squeeze/inner", lambda x: x.squeeze(1), f32(3, 1, 5), expect_ops=SQUEEZE),
    case("squeeze/two", lambda x: torch.squeeze(x, (0, 2)), f32(1, 3, 1, 5), expect_ops=SQUEEZE),
    case("squeeze/boolean", lambda x: x.squeeze(-1), boolean(5, 1), expect_ops=SQUEEZE),
    case("squeeze/dynamic", lambda x: x.squeeze(0), f32(1, s, t), live=LIVE, expect_ops=SQUEEZE),
    case("squeeze/force_fp16", lambda x: x.squeeze(-2), f32(3, 1, 5), compile=HALF, expect_ops=SQUEEZE),
    case("unsqueeze/front", lambda x: x.unsqueeze(0), f32(3, 5), expect_ops=UNSQUEEZE),
    case("unsqueeze/back", lambda x: x.unsqueeze(-1), i32(3, 5), expect_ops=UNSQUEEZE),
    case("unsqueeze/rank0", lambda x: x.unsqueeze(0), f32(), expect_ops=UNSQUEEZE),
    case("unsqueeze/boolean", lambda x: x.unsqueeze(1), boolean(3, 5), expect_ops=UNSQUEEZE),
    case("unsqueeze/half", lambda x: x.unsqueeze(1), f16(3, 5), expect_ops=UNSQUEEZE),
    case("unsqueeze/dynamic", lambda x, y: x.unsqueeze(1) * y, f32(s, 5), f32(t, 1), live=LIVE, expect_ops=UNSQUEEZE),
]

MOVES = [
    case("slice/inner", lambda x: x[:, 1:4], f32(3, 5, 2), expect_ops=SLICE),
    case("slice/last_with_step", lambda x: x[..., 1::3], f32(3, 11), expect_ops=SLICE),
    case("slice/negative", lambda x: x[-4:-1], f32(7, 3), expect_ops=SLICE),
    case("slice/beyond_the_end", lambda x: x[2:100], f32(7, 3), expect_ops=SLICE),
    case("slice/nothing", lambda x: x[2:2], f32(3, 5), expect_ops=SLICE),
    case("slice/boolean", lambda x: x[1:, 1:4], boolean(4, 7), expect_ops=SLICE),
    case("slice/boolean_step", lambda x: x[:, ::2], boolean(3, 7), expect_ops=SLICE),
    case("slice/int32", lambda x: x[:, 3:], i32(3, 5), expect_ops=SLICE),
    case("slice/half", lambda x: x[:, 1:4], f16(3, 5), expect_ops=SLICE),
    case("slice/force_fp16", lambda x: x[:, 1:4], f32(3, 5), compile=HALF, expect_ops=SLICE),
    case("slice/dynamic_step", lambda x: x[:, 1::2], f32(dim("n", 4, 9), 11), live=[5, 4], expect_ops=SLICE),
    case("slice/dynamic_from_end", lambda x: x[:, -2:], f32(t, dim("n", 3, 9)),
         live=[{"t": 1, "n": 3}, {"t": 3, "n": 5}], expect_ops=SLICE),
    case("select/first_axis", lambda x: x[2], f32(3, 5, 7), expect_ops=SELECT),
    case("select/inner", lambda x: x[:, 3], f32(3, 5, 7), expect_ops=SELECT),
    case("select/last_negative", lambda x: x[..., -2], f32(3, 5), expect_ops=SELECT),
    case("select/to_rank0", lambda x: x[3], f32(5), expect_ops=SELECT),
    case("select/boolean", lambda x: x[:, 1], boolean(7, 3), expect_ops=SELECT),
    case("select/int64", lambda x: x[1], i64(3, 5), expect_ops=SELECT),
    case("select/half", lambda x: x[:, -1], f16(3, 5), expect_ops=SELECT),
    case("select/force_fp16", lambda x: x[:, -1], f32(3, 5), compile=HALF, expect_ops=SELECT),
    case("select/dynamic_last_row", lambda x: x[-1], f32(s, t), live=LIVE, expect_ops=SELECT),
    case("permute/transposed", lambda x: x.t(), f32(5, 7), expect_ops=PERMUTE),
    case("permute/rank3", lambda x: x.permute(2, 0, 1), f32(3, 5, 7), expect_ops=PERMUTE),
    case("permute/rank4_negative", lambda x: x.permute(0, -1, 1, -2), f32(2, 3, 5, 7), expect_ops=PERMUTE),
    case("permute/rank5", lambda x: x.permute(4, 0, 2, 1, 3), f32(2, 3, 1, 2, 5), expect_ops=PERMUTE),
    case("permute/ones", lambda x: x.permute(1, 3, 0, 2), f32(1, 5, 1, 3), expect_ops=PERMUTE),
    case("permute/no_elements", lambda x: x.permute(1, 2, 0), f32(3, 0, 5), expect_ops=PERMUTE),
    case("permute/boolean", lambda x: x.t(), boolean(3, 7), expect_ops=PERMUTE),
    case("permute/int64", lambda x: x.permute(1, 0, 2), i64(3, 5, 2), expect_ops=PERMUTE),
    case("permute/half", lambda x: x.permute(0, 2, 1), f16(3, 5, 7), expect_ops=PERMUTE),
    case("permute/force_fp16", lambda x: x.t() * 2.0, f32(5, 7), compile=HALF, expect_ops=PERMUTE),
    case("permute/dynamic", lambda x: x.permute(1, 2, 0), f32(s, t, 3), live=LIVE, expect_ops=PERMUTE),
]

JOINS = [
    case("cat/rows", lambda x, y: torch.cat([x, y]), f32(3, 5), f32(2, 5), expect_ops=CAT),
    case("cat/last_axis", lambda x, y: torch.cat([x, y, x], -1), f32(3, 5), f32(3, 2), expect_ops=CAT),
    case("cat/middle", lambda x, y: torch.cat([x, y], 1), f32(2, 3, 5, 7), f32(2, 1, 5, 7), expect_ops=CAT),
    # More than a device binds at once.
    case("cat/twelve", lambda x, y: torch.cat([x, y, x, x, y, y, y, x, x, x, y, x], 1), f32(3, 5), f32(3, 2),
         expect_ops=CAT),
    case("cat/with_nothing", lambda x, y: torch.cat([x, y]), f32(0, 5), f32(3, 5), expect_ops=CAT),
    case("cat/one", lambda x: torch.cat([x]) + x, f32(3, 5), expect_ops=ADD),
    case("cat/int32", lambda x, y: torch.cat([x, y]), i32(3), i32(4), expect_ops=CAT),
    case("cat/half", lambda x, y: torch.cat([x, y], 1), f16(3, 5), f16(3, 2), expect_ops=CAT),
    case("cat/force_fp16", lambda x, y: torch.cat([x, y], 1), f32(3, 5), f32(3, 2), compile=HALF, expect_ops=CAT),
    case("cat/dynamic", lambda x, y: torch.cat([x, y]), f32(s, 5), f32(t, 5), live=LIVE, expect_ops=CAT),
    case("cat/dynamic_across", lambda x, y: torch.cat([x, y, x], 1), f32(s, 2, t), f32(s, 3, t), live=LIVE,
         expect_ops=CAT),
    # The exporter drops copies; what is left returns its input.
    case("clone/of_input", lambda x: x.clone(), f32(3, 5), expect_ops=()),
    case("clone/of_dynamic_input", lambda x: (x.clone(), x * x), f32(s, t), live=LIVE, expect_ops=MUL),
]

CASES = ARITHMETIC + UNARY + RESHAPES + MOVES + JOINS
