# SPDX-License-Identifier: BSD-3-Clause
"""Other ways to look at a tensor. The exporter turns most of them into a few."""
import torch
import torch.nn.functional as F

from cases.case import boolean, case, dim, f16, f32, i8, i32, i64, u8
from cases.direct import direct

s, t = dim("s", 1, 9), dim("t", 1, 5)
LIVE = [{"s": 4, "t": 3}, {"s": 1, "t": 1}, {"s": 1, "t": 5}]
RANK8 = (2, 1, 3, 1, 2, 2, 1, 3)


def whole(x):
    return x.clone(memory_format=torch.contiguous_format)


def transposed(name, x, a, b, **rest):
    return direct(f"transpose_copy/{name}", "aten.transpose_copy.int", lambda x: whole(x.transpose(a, b)), x, args=[a, b], **rest)


TRANSPOSED = [
    transposed("odd", f32(3, 5, 7), 0, 2),
    transposed("negative", f32(3, 5, 7), -1, 1),
    transposed("same", f32(3, 5), 1, 1),
    transposed("int8", i8(3, 5), 0, 1),
    transposed("rank0", f32(), 0, -1),
    transposed("rank8", f32(*RANK8), 2, 5),
    transposed("dynamic", f32(s, 3, t), 0, 2, live=LIVE),
]


def diagonal(name, x, offset=0, a=0, b=1, **rest):
    return direct(f"diagonal_copy/{name}", "aten.diagonal_copy.default", lambda x: whole(x.diagonal(offset, a, b)), x,
                  args=[offset, a, b], **rest)


DIAGONALS = [
    diagonal("square", f32(5, 5)),
    diagonal("above", f32(3, 7), 2),
    diagonal("below", f32(7, 3), -3),
    diagonal("outside", f32(3, 4), 9),
    diagonal("below_all", f32(3, 4), -9),
    diagonal("axes", f32(2, 3, 4, 5), 1, -1, 1),
    diagonal("boolean", boolean(5, 3)),
    diagonal("half", f16(3, 5), 1),
    diagonal("dynamic", f32(s, 2, t), 0, 0, 2, live=LIVE),
    case("diagonal_copy/exported", lambda x: x.diagonal(1, 1, 2) + 1, f32(2, 4, 5),
         expect_ops="aten.diagonal_copy.default", beyond=True),
]


def strided(name, x, sizes, strides, offset=None, **rest):
    return direct(f"as_strided_copy/{name}", "aten.as_strided_copy.default",
                  lambda x: whole(x.as_strided(sizes, strides, offset)), x, args=[sizes, strides, offset], **rest)


STRIDED = [
    strided("windows", f32(9), [4, 3], [2, 1]),
    strided("turned", f32(3, 5), [5, 3], [1, 5], 0),
    strided("offset", f32(4, 5), [2, 3], [5, 1], 6),
    strided("broadcast", f32(5), [3, 5], [0, 1]),
    strided("int8", i8(20), [3, 3], [5, 2], 1),
    strided("scalar", f32(3, 3), [], [], 4),
    strided("no_elements", f32(3), [0, 9], [9, 9]),
    case("as_strided_copy/exported", lambda x: x.as_strided((2, 3, 2), (1, 2, 4), 1) + 1, f32(3, 5),
         expect_ops="aten.as_strided_copy.default", beyond=True),
]


def split(name, x, size, axis, **rest):
    return direct(f"split_copy/{name}", "aten.split_copy.Tensor", lambda x: [whole(part) for part in x.split(size, axis)], x,
                  args=[size, axis], **rest)


SPLITS = [
    split("odd", f32(7, 3), 3, 0),
    split("even", f32(3, 8), 4, -1),
    split("whole", f32(3, 5), 9, 1),
    split("int8", i8(3, 7), 2, 1),
    split("boolean", boolean(5, 3), 2, 0),
    split("dynamic", f32(s, 6), 2, 1, live=[4, 1]),
]


def unbound(name, x, axis, **rest):
    return direct(f"unbind_copy/{name}", "aten.unbind_copy.int", lambda x: [whole(part) for part in x.unbind(axis)], x,
                  args=[axis], **rest)


UNBOUND = [
    unbound("odd", f32(3, 5), 0),
    unbound("last", f32(2, 5, 3), -1),
    unbound("line", f32(3), 0),
    unbound("uint8", u8(3, 5), 1),
    unbound("half", f16(2, 3, 5), 1),
    unbound("dynamic", f32(s, 3, t), 1, live=LIVE),
]


def squeezed(name, op, function, x, *args, **rest):
    return direct(f"squeeze_copy/{name}", f"aten.squeeze_copy.{op}", lambda x: whole(function(x)), x, args=args, **rest)


SQUEEZED = [
    squeezed("axis", "dim", lambda x: x.squeeze(1), f32(3, 1, 5), 1),
    squeezed("axis_negative", "dim", lambda x: x.squeeze(-1), i8(3, 5, 1), -1),
    squeezed("axis_kept", "dim", lambda x: x.squeeze(0), f32(3, 1), 0),
    squeezed("axis_of_scalar", "dim", lambda x: x.squeeze(0), f32(), 0),
    squeezed("axis_dynamic", "dim", lambda x: x.squeeze(1), f32(s, 1, t), 1, live=LIVE),
    squeezed("all", "default", lambda x: x.squeeze(), f32(1, 3, 1, 5)),
    squeezed("all_of_one", "default", lambda x: x.squeeze(), i32(1, 1)),
    squeezed("all_kept", "default", lambda x: x.squeeze(), f16(3, 5)),
    squeezed("all_rank8", "default", lambda x: x.squeeze(), f32(*RANK8)),
]


def viewed(name, x, sizes, **rest):
    return direct(f"unsafe_view/{name}", "aten._unsafe_view.default", lambda x: whole(x.view(sizes)), x, args=[sizes], **rest)


VIEWED = [
    viewed("odd", f32(3, 10), [5, 6]),
    viewed("inferred", f32(3, 10), [2, -1, 3]),
    viewed("int8", i8(3, 5), [15]),
    viewed("rank0", f32(1, 1), []),
    viewed("dynamic", f32(s, 2, 3), [-1, 6], live=[4, 1]),
]


def unshuffled(name, x, factor, **rest):
    return direct(f"pixel_unshuffle/{name}", "aten.pixel_unshuffle.default", lambda x: whole(F.pixel_unshuffle(x, factor)), x,
                  args=[factor], **rest)


UNSHUFFLED = [
    unshuffled("twos", f32(2, 3, 4, 6), 2),
    unshuffled("threes", f32(1, 2, 3, 9), 3),
    unshuffled("no_batch", f32(3, 4, 4), 2),
    unshuffled("one", f32(2, 3, 3), 1),
    unshuffled("half", f16(1, 2, 4, 2), 2),
    unshuffled("dynamic", f32(s, 2, 2 * t, 4), 2, live=LIVE),
]

DROPOUT = "aten.native_dropout.default"


def kept(name, x, p, train, **rest):
    return direct(f"dropout/{name}", DROPOUT, lambda x: [x.clone(), torch.ones_like(x, dtype=torch.bool)], x, args=[p, train],
                  **rest)


DROPPED = [
    kept("eval", f32(3, 5), 0.5, False),
    kept("nothing", f32(3, 5), 0.0, True),
    kept("half", f16(7), 0.25, False),
    kept("dynamic", f32(s, t), 0.5, False, live=LIVE),
]

CASES = [*TRANSPOSED, *DIAGONALS, *STRIDED, *SPLITS, *UNBOUND, *SQUEEZED, *VIEWED, *UNSHUFFLED, *DROPPED]  # fmt: skip
