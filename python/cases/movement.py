# SPDX-License-Identifier: BSD-3-Clause
"""Ops that move, repeat or look up elements. Views, slices, permutations and concatenations are in basics.py."""
import torch
import torch.nn.functional as F

from cases.case import boolean, case, dim, f16, f32, i32, i64

s, t = dim("s", 1, 9), dim("t", 1, 5)
LIVE = [{"s": 4, "t": 3}, {"s": 1, "t": 1}, {"s": 1, "t": 5}]
HALF = {"force_fp16": True}

SPLIT, EXPAND, REPEAT = "aten.split_with_sizes_copy.default", "aten.expand_copy.default", "aten.repeat.default"
FLIP, PAD, SHUFFLE = "aten.flip.default", "aten.constant_pad_nd.default", "aten.pixel_shuffle.default"
UNFOLD = "aten.unfold_copy.default"


def split(*sizes, axis=0):
    return lambda x: torch.split(x, list(sizes), axis)


def expand(*sizes):
    return lambda x: x.expand(*sizes).clone()


def pad(margins, value=0.0):
    return lambda x: F.pad(x, margins, value=value)


def flip(*axes):
    return lambda x: torch.flip(x, axes)


PARTS = [
    case("split/rows", split(2, 1, 4), f32(7, 5), expect_ops=SPLIT),
    case("split/last_axis", split(3, 4, axis=-1), f32(3, 5, 7), expect_ops=SPLIT),
    case("split/chunks", lambda x: torch.chunk(x, 3, 1), f32(3, 8), expect_ops=SPLIT),
    case("split/boolean", split(3, 2, axis=1), boolean(3, 5), expect_ops=SPLIT),
    case("split/int32", split(1, 2), i32(3, 5), expect_ops=SPLIT),
    case("split/half", split(2, 3, axis=1), f16(3, 5), expect_ops=SPLIT),
    case("split/force_fp16", split(2, 3, axis=1), f32(3, 5), compile=HALF, expect_ops=SPLIT),
    case("split/with_nothing", split(0, 5), f32(5, 3), expect_ops=SPLIT),
    case("split/dynamic", split(2, 4, 1, axis=1), f32(s, 7, t), live=LIVE, expect_ops=SPLIT),
    case("unfold/last_axis", lambda x: x.unfold(1, 3, 2), f32(3, 11), expect_ops=UNFOLD),
    case("unfold/first_axis", lambda x: x.unfold(0, 2, 1), f32(5, 7), expect_ops=UNFOLD),
    case("unfold/apart", lambda x: x.unfold(1, 2, 3), f32(2, 9, 5), expect_ops=UNFOLD),
    case("unfold/half", lambda x: x.unfold(-1, 3, 1), f16(3, 7), expect_ops=UNFOLD),
    case("unfold/dynamic", lambda x: x.unfold(1, 3, 2), f32(s, 9), live=[4, 1], expect_ops=UNFOLD),
]  # fmt: skip

COPIES = [
    case("expand/rows", expand(3, 5), f32(1, 5), expect_ops=EXPAND),
    case("expand/columns", expand(3, 8), f32(3, 1), expect_ops=EXPAND),
    case("expand/keeps", expand(2, -1, -1, 4), f32(3, 5, 1), expect_ops=EXPAND),
    case("expand/rank0", expand(3, 2), f32(), expect_ops=EXPAND),
    case("expand/boolean", expand(3, 5), boolean(5), expect_ops=EXPAND),
    case("expand/boolean_columns", expand(3, 5), boolean(3, 1), expect_ops=EXPAND),
    case("expand/int64", expand(2, 3, 5), i64(3, 1), expect_ops=EXPAND),
    case("expand/half", expand(4, 3), f16(1, 3), expect_ops=EXPAND),
    case("expand/force_fp16", expand(4, 3), f32(1, 3), compile=HALF, expect_ops=EXPAND),
    # Heads of grouped attention, as models without a fused op repeat them.
    case("expand/heads", lambda x: x[:, :, None].expand(1, 3, 2, 5, 4).reshape(1, 6, 5, 4), f32(1, 3, 5, 4),
         expect_ops=EXPAND),
    case("repeat/rows", lambda x: x.repeat(3, 1), f32(2, 5), expect_ops=REPEAT),
    case("repeat/both", lambda x: x.repeat(2, 3), f32(3, 5), expect_ops=REPEAT),
    case("repeat/new_axes", lambda x: x.repeat(2, 1, 3), f32(3, 5), expect_ops=REPEAT),
    case("repeat/rank0", lambda x: x.repeat(3), f32(), expect_ops=REPEAT),
    case("repeat/nothing", lambda x: x.repeat(0, 2), f32(3, 5), expect_ops=REPEAT),
    case("repeat/boolean", lambda x: x.repeat(3, 2), boolean(2, 5), expect_ops=REPEAT),
    case("repeat/int32", lambda x: x.repeat(1, 3), i32(3, 5), expect_ops=REPEAT),
    case("repeat/half", lambda x: x.repeat(2, 2), f16(3, 4), expect_ops=REPEAT),
]  # fmt: skip

REORDERED = [
    case("flip/last_axis", flip(-1), f32(3, 5), expect_ops=FLIP),
    case("flip/both", flip(0, 2), f32(3, 5, 7), expect_ops=FLIP),
    case("flip/no_axis", flip(), f32(3, 5), expect_ops=FLIP),
    case("flip/boolean", flip(1), boolean(3, 5), expect_ops=FLIP),
    case("flip/int64", flip(0), i64(7), expect_ops=FLIP),
    case("flip/half", flip(0, 1), f16(3, 5), expect_ops=FLIP),
    case("flip/no_elements", flip(0), f32(3, 0), expect_ops=FLIP),
    case("pixel_shuffle/two", lambda x: F.pixel_shuffle(x, 2), f32(1, 12, 3, 5), expect_ops=SHUFFLE),
    case("pixel_shuffle/three", lambda x: F.pixel_shuffle(x, 3), f32(2, 9, 2, 4), expect_ops=SHUFFLE),
    case("pixel_shuffle/rank3", lambda x: F.pixel_shuffle(x, 2), f32(8, 3, 3), expect_ops=SHUFFLE),
    case("pixel_shuffle/half", lambda x: F.pixel_shuffle(x, 2), f16(1, 4, 3, 5), expect_ops=SHUFFLE),
    case("pixel_shuffle/force_fp16", lambda x: F.pixel_shuffle(x, 2), f32(1, 4, 3, 5), compile=HALF, expect_ops=SHUFFLE),
    case("pixel_shuffle/dynamic", lambda x: F.pixel_shuffle(x, 2), f32(1, 8, s, t), live=LIVE, expect_ops=SHUFFLE),
]  # fmt: skip

MARGINS = [
    case("pad/last_axis", pad((2, 3)), f32(3, 5), expect_ops=PAD),
    case("pad/image", pad((1, 2, 3, 0)), f32(1, 2, 3, 5), expect_ops=PAD),
    case("pad/first_axis", pad((0, 0, 0, 0, 1, 2), 1.5), f32(2, 3, 5), expect_ops=PAD),
    case("pad/all_axes", pad((1, 0, 0, 2, 1, 1, 2, 0)), f32(2, 1, 3, 2), expect_ops=PAD),
    case("pad/crops", pad((-1, 2, 1, -2)), f32(2, 5, 7), expect_ops=PAD),
    case("pad/int32", pad((2, 1), 16777217), i32(3, 5), expect_ops=PAD),
    case("pad/boolean", pad((1, 2), 1), boolean(3, 5), expect_ops=PAD),
    case("pad/boolean_rows", pad((0, 0, 1, 2)), boolean(3, 5), expect_ops=PAD),
    case("pad/half", pad((1, 2), 0.1), f16(3, 5), expect_ops=PAD),
    case("pad/force_fp16", pad((1, 2), 0.1), f32(3, 5), compile=HALF, expect_ops=PAD),
    case("pad/no_elements", pad((1, 2), 3), f32(3, 0), expect_ops=PAD),
    case("pad/dynamic", pad((1, 2, 0, 1), 0.5), f32(s, t), live=LIVE, expect_ops=PAD),
    case("pad/dynamic_rows", pad((0, 0, 2, 0)), f32(s, 8), live=[4, 1], expect_ops=PAD),
]  # fmt: skip

GATHER, SELECT_ROWS = "aten.gather.default", "aten.index_select.default"
INDEX, EMBEDDING = "aten.index.Tensor", "aten.embedding.default"


def gather(axis):
    return lambda x, index: torch.gather(x, axis, index)


def index_select(axis):
    return lambda x, index: torch.index_select(x, axis, index)


def embedding(rows, width, dtype=torch.float32):
    return lambda: torch.nn.Embedding(rows, width, dtype=dtype)


LOOKUPS = [
    case("gather/last_axis", gather(1), f32(3, 5), i64(3, 4, low=0, high=5), expect_ops=GATHER),
    case("gather/first_axis", gather(0), f32(3, 5), i64(4, 5, low=0, high=3), expect_ops=GATHER),
    case("gather/smaller_index", gather(1), f32(3, 5, 7), i64(2, 3, 4, low=0, high=5), expect_ops=GATHER),
    case("gather/rank5", gather(3), f32(2, 1, 3, 4, 5), i64(2, 1, 3, 2, 5, low=0, high=4), expect_ops=GATHER),
    case("gather/boolean", gather(-1), boolean(3, 5), i64(3, 7, low=0, high=5), expect_ops=GATHER),
    case("gather/int32", gather(0), i32(5, 3), i64(2, 3, low=0, high=5), expect_ops=GATHER),
    case("gather/half", gather(1), f16(3, 5), i64(3, 2, low=0, high=5), expect_ops=GATHER),
    case("gather/rank1", gather(0), f32(5), i64(3, low=0, high=5), expect_ops=GATHER),
    case("gather/no_elements", gather(1), f32(3, 5), i64(3, 0, low=0, high=5), expect_ops=GATHER),
    case("gather/dynamic", gather(1), f32(s, 7), i64(s, t, low=0, high=7), live=LIVE, expect_ops=GATHER),
    case("index_select/first_axis", index_select(0), f32(5, 8), i64(of=[4, 0, 0, 2]), expect_ops=SELECT_ROWS),
    case("index_select/last_axis", index_select(-1), f32(2, 3, 5), i64(of=[1, 4, 1]), expect_ops=SELECT_ROWS),
    case("index_select/middle", index_select(1), f32(2, 3, 5), i32(of=[2, 0, 1, 2]), expect_ops=SELECT_ROWS),
    case("index_select/boolean", index_select(0), boolean(5, 3), i64(of=[4, 2]), expect_ops=SELECT_ROWS),
    case("index_select/int64", index_select(1), i64(3, 5), i64(of=[0, 4, 3]), expect_ops=SELECT_ROWS),
    case("index_select/half", index_select(0), f16(5, 3), i64(of=[1, 1]), expect_ops=SELECT_ROWS),
    case("index/one_axis", lambda x, i: x[i], f32(7), i64(of=[3, -1, 0, -7, 6]), expect_ops=INDEX),
    case("index/rows", lambda x, i: x[i], f32(7, 8), i64(of=[3, -1, 0]), expect_ops=INDEX),
    case("index/columns", lambda x, i: x[:, i], f32(3, 5), i64(of=[-2, 1, 4, 4, 0]), expect_ops=INDEX),
    case("index/last_of_four", lambda x, i: x[..., i], f32(2, 1, 3, 5), i64(of=[4, 1]), expect_ops=INDEX),
    case("index/int32", lambda x, i: x[i], i32(7, 3), i32(of=[6, -3]), expect_ops=INDEX),
    case("index/half", lambda x, i: x[:, i], f16(3, 5), i64(of=[1, -1]), expect_ops=INDEX),
    case("index/dynamic", lambda x, i: x[:, i], f32(s, 5, 3), i64(t, low=-5, high=5), live=LIVE, expect_ops=INDEX),
    case("index/dynamic_rows", lambda x, i: x[i], f32(7, 4), i64(t, low=-7, high=7), live=[3, 1], expect_ops=INDEX),
    case("embedding/odd", embedding(11, 7), i64(3, low=0, high=11), expect_ops=EMBEDDING),
    case("embedding/whole_quads", embedding(11, 8), i64(2, 3, low=0, high=11), expect_ops=EMBEDDING),
    case("embedding/rank0", embedding(5, 3), i64(low=0, high=5), expect_ops=EMBEDDING),
    case("embedding/half", embedding(11, 5, torch.float16), i64(4, low=0, high=11), expect_ops=EMBEDDING),
    case("embedding/force_fp16", embedding(11, 8), i64(4, low=0, high=11), compile=HALF, expect_ops=EMBEDDING),
    case("embedding/padding_row", lambda: torch.nn.Embedding(11, 5, padding_idx=3), i64(of=[3, 0, 10]),
         expect_ops=EMBEDDING),
    case("embedding/dynamic", embedding(11, 6), i64(1, s, low=0, high=11), live=[4, 1], expect_ops=EMBEDDING),
]  # fmt: skip

CASES = PARTS + COPIES + REORDERED + MARGINS + LOOKUPS
