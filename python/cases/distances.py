# SPDX-License-Identifier: BSD-3-Clause
"""Distances between rows, blocks added up to images, products of integers, and bags of rows."""
import torch
import torch.nn.functional as F

from cases.case import case, dim, f16, f32, i8, i32, i64, u8
from cases.direct import direct

s, t = dim("s", 1, 9), dim("t", 1, 5)
LIVE = [{"s": 4, "t": 3}, {"s": 1, "t": 1}, {"s": 1, "t": 5}]
CDIST, PDIST, FOLD = "aten._cdist_forward.default", "aten._pdist_forward.default", "aten.col2im.default"


def between(name, p, a, b, **rest):
    return direct(f"cdist/{name}", CDIST, lambda a, b: torch.cdist(a, b, p, "donot_use_mm_for_euclid_dist"), a, b,
                  args=[float(p), 2], **rest)


DISTANCES = [
    between("euclidean", 2, f32(5, 7), f32(3, 7)),
    between("manhattan", 1, f32(2, 5, 7), f32(2, 3, 7)),
    between("differing", 0, f32(of=[[1, 2, 3], [1, 0, 3]]), f32(of=[[1, 2, 0], [1, 2, 3], [0, 0, 0]])),
    between("batches", 2, f32(2, 3, 4, 5), f32(2, 3, 6, 5)),
    between("cubic", 3, f32(4, 5), f32(2, 5)),
    between("roots", 0.5, f32(4, 5), f32(2, 5), atol=1e-3, rtol=1e-3),
    between("no_rows", 2, f32(0, 5), f32(3, 5)),
    between("no_elements", 2, f32(2, 0), f32(3, 0)),
    between("dynamic", 2, f32(s, 7), f32(t, 7), live=LIVE),
]


def pairs(name, p, x, **rest):
    return direct(f"pdist/{name}", PDIST, lambda x: F.pdist(x, p), x, args=[float(p)], **rest)


PAIRS = [
    pairs("euclidean", 2, f32(7, 5)),
    pairs("manhattan", 1, f32(5, 3)),
    pairs("cubic", 3, f32(4, 3)),
    pairs("two_rows", 2, f32(2, 3)),
    pairs("one_row", 2, f32(1, 3)),
    pairs("many", 2, f32(131, 2)),
]


def fold(name, x, size, kernel, dilation=1, padding=0, stride=1, **rest):
    two = lambda v: list(v) if isinstance(v, tuple) else [v, v]  # noqa: E731
    return direct(f"col2im/{name}", FOLD, lambda x: F.fold(x, size, kernel, dilation, padding, stride), x,
                  args=[two(size), two(kernel), two(dilation), two(padding), two(stride)], **rest)


FOLDS = [
    fold("overlapping", f32(2, 3 * 9, 4 * 5), (6, 7), 3),
    fold("apart", f32(1, 2 * 4, 2 * 3), (4, 6), 2, stride=2),
    fold("padded", f32(1, 2 * 6, 5 * 4), (5, 7), (2, 3), padding=(1, 1), stride=(1, 2), dilation=(2, 1)),
    fold("no_batch", f32(4, 9), 4, 2),
    fold("half", f16(1, 4, 9), 4, 2),
    case("col2im/exported", lambda x: F.fold(x, (6, 7), 3), f32(2, 27, 20), expect_ops=FOLD, beyond=True),
]


def product(name, op, a, b, **rest):
    return direct(f"{op}/{name}", f"aten.{op}.default", getattr(torch, op), a, b, **rest)


def added(name, x, a, b, beta=1, alpha=1, **rest):
    return direct(f"addmm/{name}", "aten.addmm.default", lambda x, a, b: torch.addmm(x, a, b, beta=beta, alpha=alpha), x, a, b,
                  args=[beta, alpha], **rest)  # fmt: skip


INTEGERS = [
    product("int32", "mm", i32(5, 7), i32(7, 6)),
    product("int64_large", "mm", i64(3, 4, low=-20000, high=20000), i64(4, 8, low=-20000, high=20000)),
    product("int8", "mm", i8(5, 7, low=-4, high=4), i8(7, 3, low=-4, high=4)),
    product("int8_wraps", "mm", i8(5, 7), i8(7, 4)),
    product("uint8_wraps", "mm", u8(5, 3), u8(3, 7)),
    product("int32_dynamic", "mm", i32(s, 5), i32(5, t), live=LIVE),
    product("int32", "bmm", i32(2, 5, 7), i32(2, 7, 6)),
    added("int32", i32(6), i32(5, 7), i32(7, 6)),
    added("int64_large", i64(3, 8, low=-(10**9), high=10**9), i64(3, 4, low=-20000, high=20000), i64(4, 8, low=-20000, high=20000)),
    added("int8_wraps", i8(5, 1), i8(5, 7), i8(7, 3), beta=3, alpha=-2),
    added("uint8", u8(3, 7), u8(3, 5), u8(5, 7), beta=0),
    added("int32_dynamic", i32(s, 1), i32(s, 5), i32(5, t), beta=2, alpha=3, live=LIVE),
]

BAG = "aten._embedding_bag.default"


def bags(name, table, offsets, mode, indices=None, weights=None, last=False, padding=-1, **rest):
    """Tokens 0 … 8, bag by bag."""
    indices = indices or i64(of=[3, 1, 4, 1, 5, 8, 2, 6, 5, 3, 5])
    given = [] if weights is None else [weights]

    def draw(g, table, indices, offsets, weights=None):
        rows = g.shape(offsets)[0] - last
        outputs = [g.tensor(table_dtype, rows, g.shape(table)[1]), *(g.tensor(torch.int32, 0) for _ in range(3))]
        g.call(BAG, table, indices, offsets, False, mode, False, weights, last, padding, out=outputs)
        return outputs[0]

    def joined(table, indices, offsets, weights=None):
        return torch.ops.aten._embedding_bag(table, indices, offsets, False, mode, False, weights, last, padding)[0]

    table_dtype = table.dtype
    function = (lambda t, i, o, w: joined(t, i, o, w)) if given else (lambda t, i, o: joined(t, i, o))
    return case(f"embedding_bag/{name}", function, table, indices, offsets, *given, graph=draw, expect_ops=BAG, **rest)


BAGS = [
    bags("sum", f32(9, 5), i64(of=[0, 4, 4, 9]), 0),
    bags("mean", f32(9, 5), i64(of=[0, 4, 4, 9]), 1),
    bags("largest", f32(9, 5), i64(of=[0, 4, 4, 9]), 2),
    bags("weighted", f32(9, 5), i64(of=[0, 2, 7]), 0, weights=f32(11)),
    bags("with_end", f32(9, 3), i64(of=[0, 4, 11]), 1, last=True),
    bags("padding", f32(9, 3), i64(of=[0, 4, 9]), 1, padding=5),
    bags("int32", f32(9, 3), i32(of=[0, 4]), 0, indices=i32(of=[8, 0, 8, 7, 1])),
]

CASES = [*DISTANCES, *PAIRS, *FOLDS, *INTEGERS, *BAGS]  # fmt: skip
