# SPDX-License-Identifier: BSD-3-Clause
"""Products of dense matrices."""
import torch
from torch import nn
from torch.nn import functional as F

from cases.case import case, dim, f16, f32

s, t = dim("s", 1, 9), dim("t", 1, 21)

MM, BMM, ADDMM, LINEAR = "aten.mm.default", "aten.bmm.default", "aten.addmm.default", "aten.linear.default"

HALF = {"force_fp16": True}
LIVE = [{"s": 4, "t": 8}, {"s": 1, "t": 1}, {"s": 5, "t": 21}, {"s": 9, "t": 3}]


def weight(*shape):
    """A module that multiplies with a constant."""

    class Product(nn.Module):
        def __init__(self):
            super().__init__()
            self.w = nn.Parameter(torch.randn(*shape))

        def forward(self, x):
            return x @ self.w

    return Product


CASES = [
    case("mm/odd", torch.mm, f32(7, 5), f32(5, 3), expect_ops=MM),
    case("mm/fours", torch.mm, f32(12, 8), f32(8, 20), expect_ops=MM),
    case("mm/odd_depth", torch.mm, f32(8, 13), f32(13, 12), expect_ops=MM),
    case("mm/odd_columns", torch.mm, f32(8, 12), f32(12, 11), expect_ops=MM),
    case("mm/tiles", torch.mm, f32(67, 35), f32(35, 66), expect_ops=MM),
    case("mm/one_row", torch.mm, f32(1, 37), f32(37, 29), expect_ops=MM),
    case("mm/one_column", torch.mm, f32(29, 37), f32(37, 1), expect_ops=MM),
    case("mm/one_deep", torch.mm, f32(5, 1), f32(1, 7), expect_ops=MM),
    case("mm/constant", weight(11, 6), f32(5, 11), expect_ops=MM),
    case("mm/itself", lambda x: x @ x, f32(7, 7), expect_ops=MM),
    case("mm/no_rows", torch.mm, f32(0, 5), f32(5, 3), expect_ops=MM),
    case("mm/nothing_to_add", torch.mm, f32(3, 0), f32(0, 5), expect_ops=MM),
    case("mm/infinity_beyond_the_depth", torch.mm, f32(of=[[1, 2, 3]] * 5), f32(of=[[1, 2], [3, 4], [5, torch.inf]]),
         expect_ops=MM),
    case("mm/half", torch.mm, f16(7, 5), f16(5, 8), expect_ops=MM),
    case("mm/force_fp16", torch.mm, f32(7, 12), f32(12, 8), compile=HALF, expect_ops=MM),
    case("mm/dynamic", torch.mm, f32(s, 5), f32(5, t), live=LIVE, expect_ops=MM),
    case("mm/dynamic_depth", torch.mm, f32(7, t), f32(t, 12), live=[8, 1, 3, 20], expect_ops=MM),
    case("bmm/odd", torch.bmm, f32(2, 7, 5), f32(2, 5, 3), expect_ops=BMM),
    case("bmm/fours", torch.bmm, f32(3, 8, 16), f32(3, 16, 12), expect_ops=BMM),
    case("bmm/one_row", torch.bmm, f32(6, 1, 9), f32(6, 9, 11), expect_ops=BMM),
    case("bmm/one_batch", torch.bmm, f32(1, 5, 9), f32(1, 9, 4), expect_ops=BMM),
    case("bmm/no_batch", torch.bmm, f32(0, 5, 9), f32(0, 9, 4), expect_ops=BMM),
    case("bmm/half", torch.bmm, f16(2, 5, 8), f16(2, 8, 4), expect_ops=BMM),
    case("bmm/force_fp16", torch.bmm, f32(2, 5, 7), f32(2, 7, 4), compile=HALF, expect_ops=BMM),
    case("bmm/dynamic_batch", torch.bmm, f32(s, 3, 5), f32(s, 5, 7), live=[4, 1], expect_ops=BMM),
    case("bmm/dynamic_rows_and_columns", torch.bmm, f32(3, s, 5), f32(3, 5, t), live=LIVE, expect_ops=BMM),
    case("bmm/dynamic_depth", torch.bmm, f32(3, s, t), f32(3, t, 6), live=LIVE, expect_ops=BMM),
    case("addmm/row", torch.addmm, f32(7), f32(5, 6), f32(6, 7), expect_ops=ADDMM),
    case("addmm/matrix", torch.addmm, f32(5, 7), f32(5, 6), f32(6, 7), expect_ops=ADDMM),
    case("addmm/column", torch.addmm, f32(5, 1), f32(5, 6), f32(6, 7), expect_ops=ADDMM),
    case("addmm/one_number", torch.addmm, f32(1), f32(5, 6), f32(6, 7), expect_ops=ADDMM),
    case("addmm/rank0", torch.addmm, f32(), f32(5, 4), f32(4, 8), expect_ops=ADDMM),
    case("addmm/alpha_and_beta", lambda x, a, b: torch.addmm(x, a, b, beta=0.5, alpha=-2), f32(5, 8), f32(5, 3),
         f32(3, 8), expect_ops=ADDMM),
    case("addmm/beta_of_zero", lambda x, a, b: torch.addmm(x, a, b, beta=0), f32(of=[torch.nan, torch.inf, 1]),
         f32(5, 6), f32(6, 3), expect_ops=ADDMM),
    case("addmm/half", torch.addmm, f16(4), f16(3, 8), f16(8, 4), expect_ops=ADDMM),
    case("addmm/dynamic", torch.addmm, f32(1, t), f32(s, 6), f32(6, t), live=LIVE, expect_ops=ADDMM),
    case("linear/odd", lambda: nn.Linear(7, 5), f32(3, 7), expect_ops=LINEAR),
    case("linear/fours", lambda: nn.Linear(16, 12), f32(8, 16), expect_ops=LINEAR),
    case("linear/tiles", lambda: nn.Linear(33, 70), f32(65, 33), expect_ops=LINEAR),
    case("linear/no_bias", lambda: nn.Linear(12, 9, bias=False), f32(3, 12), expect_ops=LINEAR),
    case("linear/one_row", lambda: nn.Linear(67, 29), f32(1, 67), expect_ops=LINEAR),
    case("linear/one_column", lambda: nn.Linear(12, 1), f32(5, 12), expect_ops=LINEAR),
    case("linear/rank1", lambda: nn.Linear(12, 6), f32(12), expect_ops=LINEAR),
    case("linear/rank4", lambda: nn.Linear(6, 5), f32(2, 3, 4, 6), expect_ops=LINEAR),
    case("linear/of_inputs", F.linear, f32(3, 8), f32(5, 8), f32(5), expect_ops=LINEAR),
    case("linear/half", lambda: nn.Linear(12, 8).half(), f16(5, 12), expect_ops=LINEAR),
    case("linear/force_fp16", lambda: nn.Linear(13, 8), f32(5, 13), compile=HALF, expect_ops=LINEAR),
    case("linear/dynamic", lambda: nn.Linear(12, 7), f32(s, 12), live=[4, 1, 8], expect_ops=LINEAR),
    case("linear/dynamic_odd_depth", lambda: nn.Linear(5, 7), f32(2, s, 5), live=[4, 1], expect_ops=LINEAR),
]
