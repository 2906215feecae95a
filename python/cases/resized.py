# SPDX-License-Identifier: BSD-3-Clause
"""Lines, images and volumes of another size, by each of torch's ops for that."""
import torch.nn.functional as F

from cases.case import case, dim, f16, f32
from cases.graph import Graph, Value

n, h, w = dim("n", 1, 3), dim("h", 4, 7), dim("w", 5, 9)
SIZES = {1: (7,), 2: (4, 7), 3: (3, 4, 5)}
TARGETS = {1: (10,), 2: (7, 5), 3: (5, 3, 9)}
SCALES = {1: (1.7,), 2: (2.1, 0.7), 3: (1.4, 2.1, 0.7)}


def resized(op: str, mode: str, axes: int, label: str, x, aligned=None, target=None, scales=None, **rest):
    """`op` with sizes and scales as lists (.vec), or as numbers."""
    lists = op.endswith(".vec")

    def function(x):
        size = target(*x.shape[2:]) if callable(target) else target
        return F.interpolate(x, size, scales if target is None else None, mode=mode, align_corners=aligned)

    def draw(g: Graph, x: Value):
        spatial = g.shape(x)[2:]
        sizes = list(target) if target is not None else [int(a * b) for a, b in zip(spatial, scales)]
        align = [] if aligned is None and mode.startswith("nearest") else [bool(aligned)]
        if lists:
            given = [None if scales and target is None else sizes, *align, scales if target is None else None]
        else:
            given = [sizes, *align, *(scales if target is None else [None] * axes)]
        return g.call(op, x, *given, out=g.tensor(x_dtype, *g.shape(x)[:2], *sizes))

    x_dtype = x.dtype
    name = op.removeprefix("aten.").removeprefix("_").replace(".default", "").replace(".vec", "_lists")
    return case(f"{name}/{label}", function, x, graph=draw, expect_ops=op, **rest)


def family(op, mode, axes, halves=True):
    x, aligns = f32(2, 3, *SIZES[axes]), not mode.startswith("nearest")
    yield resized(op, mode, axes, "sizes", x, target=TARGETS[axes])
    yield resized(op, mode, axes, "scales", x, scales=SCALES[axes])
    yield resized(op, mode, axes, "one", x, target=(1,) * axes)
    yield resized(op, mode, axes, "doubled", f32(1, 2, *SIZES[axes]), scales=(2.0,) * axes)
    if aligns:
        yield resized(op, mode, axes, "aligned", x, aligned=True, target=TARGETS[axes])
    if halves:
        yield resized(op, mode, axes, "half", f16(1, 2, *SIZES[axes]), target=TARGETS[axes])


OPS = [("upsample_nearest{}d", "nearest", (1, 2, 3)), ("upsample_linear{}d", "linear", (1,)),
       ("upsample_bilinear{}d", "bilinear", (2,)), ("upsample_trilinear{}d", "trilinear", (3,)),
       ("upsample_bicubic{}d", "bicubic", (2,))]  # fmt: skip

CASES = [
    made
    for name, mode, dimensions in OPS
    for axes in dimensions
    for overload in ("vec", "default")
    if (name, overload) not in {("upsample_bilinear{}d", "vec")} and (name, axes, overload) != ("upsample_nearest{}d", 2, "vec")
    for made in family(f"aten.{name.format(axes)}.{overload}", mode, axes)
] + [made for axes in (1, 2, 3) for made in family(f"aten._upsample_nearest_exact{axes}d.vec", "nearest-exact", axes)] + [
    case("upsample_bicubic2d_lists/dynamic", lambda x: F.interpolate(x, scale_factor=(1.5, 2.0), mode="bicubic"), f32(n, 2, h, w),
         live=[{"n": 2, "h": 6, "w": 5}, {"n": 1, "h": 4, "w": 8}], expect_ops="aten.upsample_bicubic2d.vec", beyond=True),
    case("upsample_linear1d_lists/dynamic", lambda x: F.interpolate(x, scale_factor=1.5, mode="linear"), f32(n, 2, w),
         live=[{"n": 2, "w": 5}, {"n": 1, "w": 8}], expect_ops="aten.upsample_linear1d.vec", beyond=True),
    case("upsample_nearest1d_lists/dynamic", lambda x: F.interpolate(x, scale_factor=2.0), f32(n, 2, w),
         live=[{"n": 2, "w": 5}, {"n": 1, "w": 8}], expect_ops="aten.upsample_nearest1d.vec", beyond=True),
]  # fmt: skip
