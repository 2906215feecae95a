# SPDX-License-Identifier: BSD-3-Clause
"""Margins that repeat what they surround, and rolls."""
import torch
import torch.nn.functional as F

from cases.case import boolean, case, dim, f16, f32, i8, i32, i64, u8
from cases.direct import direct

n, s, t = dim("n", 1, 3), dim("s", 4, 9), dim("t", 4, 7)
LIVE = [{"s": 5, "t": 6}, {"s": 4, "t": 4}]


def pad(axes, name, margins, x, mode="reflect", **rest):
    kind = {"reflect": "reflection", "replicate": "replication"}[mode]
    return direct(f"{kind}_pad/{axes}d_{name}", f"aten.{kind}_pad{axes}d.default",
                  lambda x: getattr(torch.ops.aten, f"{kind}_pad{axes}d")(x, margins), x, args=[margins], **rest)


def pads(mode):
    over = 5 if mode == "replicate" else 3
    yield pad(1, "odd", [2, 3], f32(2, 3, 5), mode)
    yield pad(1, "no_batch", [over, 1], f32(3, 4), mode)
    yield pad(1, "half", [1, 2], f16(1, 2, 4), mode)
    yield pad(1, "int64", [2, 2], i64(2, 3, 5), mode)
    yield pad(1, "dynamic", [3, 2], f32(1, 3, s), mode, live=[6, 4])
    yield pad(2, "odd", [1, 2, 3, 0], f32(2, 3, 5, 7), mode)
    yield pad(2, "one_side", [0, 0, 2, 1], f32(2, 3, 4, 5), mode)
    yield pad(2, "crop", [-1, 2, 1, -2], f32(1, 2, 5, 6), mode)
    yield pad(2, "no_batch", [2, 2, 2, 2], f32(3, 4, 5), mode)
    yield pad(2, "half", [1, 1, 2, 2], f16(1, 2, 4, 4), mode)
    yield pad(2, "dynamic", [1, 2, 3, 0], f32(2, 2, s, t), mode, live=LIVE)
    yield pad(3, "odd", [1, 2, 0, 3, 1, 1], f32(2, 3, 3, 5, 4), mode)
    yield pad(3, "one_axis", [0, 0, 0, 0, 2, 1], f32(1, 2, 3, 2, 3), mode)
    yield pad(3, "no_batch", [1, 1, 1, 1, 1, 1], f32(2, 3, 4, 5), mode)
    yield pad(3, "half", [1, 0, 2, 1, 0, 1], f16(1, 2, 3, 4, 3), mode)
    yield pad(3, "dynamic", [2, 1, 1, 0, 1, 1], f32(1, 2, 3, s, t), mode, live=LIVE)
    kind = {"reflect": "reflection", "replicate": "replication"}[mode]
    yield case(f"{kind}_pad/exported", lambda x: F.pad(x, (2, 1, 1, 3), mode=mode), f32(2, 3, 5, 6),
               expect_ops=f"aten.{kind}_pad2d.default", beyond=True)


def roll(name, shifts, axes, x, **rest):
    return direct(f"roll/{name}", "aten.roll.default", lambda x: torch.roll(x, shifts, axes), x, args=[shifts, axes], **rest)


ROLLS = [
    roll("odd", [2], [1], f32(3, 7)),
    roll("backwards", [-2], [-1], f32(3, 7)),
    roll("two_axes", [1, -3], [0, 2], f32(3, 2, 5)),
    roll("window", [-2, -2], [1, 2], f32(1, 6, 5, 3)),
    roll("beyond", [17], [0], f32(5, 3)),
    roll("one_axis_twice", [1, 2], [0, 0], f32(5, 3)),
    roll("whole", [4], [], f32(3, 5)),
    roll("int8", [3], [1], i8(3, 7)),
    roll("uint8", [-1], [0], u8(3, 5)),
    roll("boolean", [2], [0], boolean(5, 3)),
    roll("int32", [1], [0], i32(7)),
    roll("half", [1], [1], f16(3, 5)),
    roll("rank8", [1, 2], [2, 7], f32(2, 1, 3, 1, 2, 1, 2, 3)),
    roll("rank0", [3], [], f32()),
    roll("no_elements", [1], [1], f32(3, 0)),
    roll("dynamic", [2, -1], [0, 1], f32(s, t), live=LIVE),
]

CASES = [*pads("reflect"), *pads("replicate"), *ROLLS]  # fmt: skip
