# SPDX-License-Identifier: BSD-3-Clause
"""Elementwise arithmetic and the ops that move data."""
import torch

from cases.case import boolean, case, dim, f16, f32, i8, i32, i64

s = dim("s", 1, 9)
t = dim("t", 1, 5)

ADD, SUB, MUL, DIV = "aten.add.Tensor", "aten.sub.Tensor", "aten.mul.Tensor", "aten.div.Tensor"

CASES = [
    case("add/odd", torch.add, f32(3, 5, 7), f32(3, 5, 7), expect_ops=ADD),
    case("add/broadcast", torch.add, f32(3, 1, 7), f32(5, 1), expect_ops=ADD),
    case("add/alpha", lambda x, y: torch.add(x, y, alpha=-2.5), f32(3, 5), f32(3, 5), expect_ops=ADD),
    case("add/dynamic", torch.add, f32(s, t), f32(t), live=[{"s": 4, "t": 3}, {"s": 1, "t": 1}], expect_ops=ADD),
    case("add/int32", torch.add, i32(3, 5), i32(5), expect_ops=ADD),
    case("add/half", torch.add, f16(3, 5), f16(5), expect_ops=ADD),
    case("add/force_fp16", torch.add, f32(3, 5), f32(5), compile={"force_fp16": True}, expect_ops=ADD),
    case("add/no_elements", lambda x, y: (x + y, y * y), f32(0, 5), f32(5), expect_ops=ADD),
]
