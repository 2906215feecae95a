# SPDX-License-Identifier: BSD-3-Clause
"""Pooling, and images at other sizes and places."""
import torch
import torch.nn.functional as F
from executorch.exir.dialects._ops import ops as exir_ops
from torch.fx.passes.infra.pass_base import PassBase, PassResult

from cases.case import case, dim, f16, f32

n, h, w = dim("n", 1, 3), dim("h", 5, 9), dim("w", 5, 11)
LIVE = [{"n": 2, "h": 7, "w": 6}, {"n": 1, "h": 5, "w": 5}]

MAX_INDICES, MAX = "aten.max_pool2d_with_indices.default", "aten.max_pool2d.default"
AVERAGE = "aten.avg_pool2d.default"
NEAREST, BILINEAR = "aten.upsample_nearest2d.vec", "aten.upsample_bilinear2d.vec"
SAMPLER, PRIORS = "aten.grid_sampler_2d.default", "et_vk.grid_priors.default"

INF, NAN = float("inf"), float("nan")


def max_pool(*args, **options):
    return lambda x: F.max_pool2d(x, *args, **options)


def max_pool_indices(*args, **options):
    return lambda x: F.max_pool2d(x, *args, return_indices=True, **options)


def average(*args, **options):
    return lambda x: F.avg_pool2d(x, *args, **options)


def resize(**options):
    return lambda x: F.interpolate(x, **options)


def size_of_other(x, y):
    return F.interpolate(x, size=y.shape[-2:]) + y


class ValuesOnly(PassBase):
    """Pools without indices where nobody reads them; torch.export always asks for them."""

    def call(self, graph_module):
        graph, edge = graph_module.graph, exir_ops.edge.aten
        for pool in graph.find_nodes(op="call_function", target=edge.max_pool2d_with_indices.default):
            (values,) = pool.users
            with graph.inserting_before(pool):
                alone = graph.call_function(edge.max_pool2d.default, pool.args, pool.kwargs)
            alone.meta = dict(values.meta)
            values.replace_all_uses_with(alone)
        graph.eliminate_dead_code()
        return PassResult(graph_module, True)


VALUES = {"passes": (ValuesOnly(),), "edge": {"_check_ir_validity": False}}


def with_nans(shape):
    """Windows with a NaN, with several, with nothing but −inf, and with equal elements."""
    generator = torch.Generator().manual_seed(sum(shape))
    x = torch.randint(-2, 3, shape, generator=generator).float()
    x[..., 0:2, 0:2] = -INF
    x[..., 3, 1::2] = NAN
    x[..., 4, 4] = INF
    return x


def within(low, high):
    return {"low": low, "high": high}


def sampled(mode, padding, align):
    return lambda x, grid: F.grid_sample(x, grid, mode, padding, align)


def sampler_cases():
    # Points far outside of the image, on its edges and corners, and on pixels.
    for mode in ("bilinear", "nearest", "bicubic"):
        for padding in ("zeros", "border", "reflection"):
            for align in (False, True):
                name = f"grid_sampler/{mode}_{padding}{'_aligned' if align else ''}"
                yield case(name, sampled(mode, padding, align), f32(2, 3, 5, 7), f32(2, 4, 6, 2, **within(-3.3, 3.3)),
                           expect_ops=SAMPLER, beyond=True)  # fmt: skip
    corners = [[[[-1, -1], [1, 1], [-1, 1], [0, 0]], [[0.5, -0.25], [1, -1], [-1.2, 0.3], [0.1, 1.4]]]]
    for mode in ("bilinear", "bicubic"):
        yield case(f"grid_sampler/corners_{mode}", sampled(mode, "zeros", True), f32(1, 2, 5, 3), f32(of=corners),
                   expect_ops=SAMPLER, beyond=True)  # fmt: skip
    yield case("grid_sampler/one_pixel", sampled("bilinear", "reflection", True), f32(1, 2, 1, 1), f32(1, 3, 2, 2),
               expect_ops=SAMPLER, beyond=True)  # fmt: skip
    yield case("grid_sampler/dynamic", sampled("bilinear", "border", True), f32(n, 2, h, w), f32(n, w, 3, 2),
               live=LIVE, expect_ops=SAMPLER)  # fmt: skip
    yield case("grid_sampler/half", sampled("bilinear", "border", True), f32(1, 2, 5, 7), f32(1, 3, 4, 2),
               compile={"force_fp16": True}, expect_ops=SAMPLER)  # fmt: skip


def priors(x, stride, offset):
    columns, rows = ((torch.arange(size, dtype=torch.float64) + offset) * stride for size in (x.shape[-1], x.shape[-2]))
    return torch.stack((columns.repeat(len(rows)), rows.repeat_interleave(len(columns))), -1)


def priors_case(name, x, stride, offset, **rest):
    return case(f"grid_priors/{name}", lambda x: torch.ops.et_vk.grid_priors(x, stride, offset), x,
                reference=lambda x: priors(x, stride, offset), expect_ops=PRIORS, **rest)  # fmt: skip


CASES = [
    case("max_pool2d_indices/odd", max_pool_indices(3, 2, 1), f32(2, 3, 7, 9), expect_ops=MAX_INDICES),
    case("max_pool2d_indices/uneven", max_pool_indices((2, 3), (1, 2), (0, 1)), f32(2, 3, 7, 9), expect_ops=MAX_INDICES),
    case("max_pool2d_indices/dilated", max_pool_indices(3, 1, 1, (2, 1)), f32(1, 2, 9, 7), expect_ops=MAX_INDICES),
    case("max_pool2d_indices/ceil", max_pool_indices(3, 2, 1, ceil_mode=True), f32(1, 2, 6, 8), expect_ops=MAX_INDICES),
    case("max_pool2d_indices/last_window_dropped", max_pool_indices(2, 3, 1, ceil_mode=True), f32(1, 2, 5, 6),
         expect_ops=MAX_INDICES),
    case("max_pool2d_indices/default_stride", max_pool_indices(2), f32(1, 2, 7, 7), expect_ops=MAX_INDICES),
    case("max_pool2d_indices/three_axes", max_pool_indices(3, 2, 1), f32(3, 7, 9), expect_ops=MAX_INDICES),
    case("max_pool2d_indices/nan", max_pool_indices(2, 1, 1), f32(1, 2, 7, 7, fill=with_nans), expect_ops=MAX_INDICES),
    case("max_pool2d_indices/no_tap_inside", max_pool_indices(2, 1, 1, 2), f32(1, 2, 1, 3), expect_ops=MAX_INDICES),
    case("max_pool2d_indices/dynamic", max_pool_indices(3, 2, 1), f32(n, 2, h, w), live=LIVE, expect_ops=MAX_INDICES),
    case("max_pool2d_indices/half", max_pool_indices(3, 2, 1), f16(1, 2, 7, 9), expect_ops=MAX_INDICES),
    case("max_pool2d/odd", max_pool(3, 2, 1), f32(2, 3, 7, 9), expect_ops=MAX, **VALUES),
    case("max_pool2d/nan", max_pool(2, 1, 1), f32(1, 2, 7, 7, fill=with_nans), expect_ops=MAX, **VALUES),
    case("max_pool2d/three_axes", max_pool((3, 2), 1, ceil_mode=True), f32(3, 7, 9), expect_ops=MAX, **VALUES),
    case("max_pool2d/dynamic", max_pool(3, 2, 1), f32(n, 2, h, w), live=LIVE, expect_ops=MAX, **VALUES),
    case("max_pool2d/half", max_pool(3, 2, 1), f16(1, 2, 7, 9), expect_ops=MAX, **VALUES),
    case("avg_pool2d/odd", average(3, 2, 1), f32(2, 3, 7, 9), expect_ops=AVERAGE),
    case("avg_pool2d/uneven", average((2, 3), (1, 2), (0, 1)), f32(2, 3, 7, 9), expect_ops=AVERAGE),
    case("avg_pool2d/without_padding", average(3, 2, 1, count_include_pad=False), f32(1, 2, 7, 9), expect_ops=AVERAGE),
    case("avg_pool2d/ceil", average(3, 2, 1, ceil_mode=True), f32(1, 2, 6, 8), expect_ops=AVERAGE),
    case("avg_pool2d/ceil_without_padding", average(3, 2, 1, ceil_mode=True, count_include_pad=False), f32(1, 2, 6, 8),
         expect_ops=AVERAGE),
    case("avg_pool2d/last_window_dropped", average(2, 3, 1, ceil_mode=True), f32(1, 2, 5, 6), expect_ops=AVERAGE),
    case("avg_pool2d/divisor", average(3, 2, 1, divisor_override=-5), f32(1, 2, 7, 9), expect_ops=AVERAGE),
    case("avg_pool2d/default_stride", average(2), f32(1, 2, 7, 7), expect_ops=AVERAGE),
    case("avg_pool2d/three_axes", average(3, 2, 1), f32(3, 7, 9), expect_ops=AVERAGE),
    case("avg_pool2d/dynamic", average(3, 2, 1), f32(n, 2, h, w), live=LIVE, expect_ops=AVERAGE),
    case("avg_pool2d/half", average(3, 2, 1), f16(1, 2, 7, 9), expect_ops=AVERAGE),
    case("upsample_nearest/size", resize(size=(7, 11)), f32(2, 3, 5, 4), expect_ops=NEAREST),
    case("upsample_nearest/smaller", resize(size=(3, 2)), f32(2, 3, 7, 5), expect_ops=NEAREST),
    case("upsample_nearest/scale", resize(scale_factor=2.0), f32(2, 3, 5, 4), expect_ops=NEAREST),
    case("upsample_nearest/odd_scales", resize(scale_factor=(2.1, 1.7)), f32(1, 3, 4, 7), expect_ops=NEAREST),
    case("upsample_nearest/scale_of_one_size", resize(scale_factor=(1.3, 2.4)), f32(1, 2, 3, 4), expect_ops=NEAREST),
    case("upsample_nearest/whole_scale", resize(scale_factor=3), f32(1, 2, 3, 4), expect_ops=NEAREST),
    case("upsample_nearest/recomputed_scale", resize(scale_factor=1.7, recompute_scale_factor=True), f32(1, 2, 5, 4),
         expect_ops=NEAREST),
    case("upsample_nearest/dynamic", resize(scale_factor=(2.0, 1.5)), f32(n, 2, h, w), live=LIVE, expect_ops=NEAREST),
    case("upsample_nearest/dynamic_size", size_of_other, f32(n, 2, 3, 4), f32(n, 2, h, w), live=LIVE, expect_ops=NEAREST),
    case("upsample_nearest/half", resize(size=(7, 11)), f16(1, 3, 5, 4), expect_ops=NEAREST),
    case("upsample_bilinear/size", resize(size=(7, 11), mode="bilinear"), f32(2, 3, 5, 4), expect_ops=BILINEAR),
    case("upsample_bilinear/smaller", resize(size=(3, 2), mode="bilinear"), f32(2, 3, 7, 5), expect_ops=BILINEAR),
    case("upsample_bilinear/aligned", resize(size=(7, 11), mode="bilinear", align_corners=True), f32(2, 3, 5, 4),
         expect_ops=BILINEAR),
    case("upsample_bilinear/aligned_to_one", resize(size=(1, 3), mode="bilinear", align_corners=True), f32(1, 2, 5, 4),
         expect_ops=BILINEAR),
    case("upsample_bilinear/odd_scales", resize(scale_factor=(2.1, 0.7), mode="bilinear"), f32(1, 3, 4, 7),
         expect_ops=BILINEAR),
    case("upsample_bilinear/aligned_scales", resize(scale_factor=(2.1, 0.7), mode="bilinear", align_corners=True),
         f32(1, 3, 4, 7), expect_ops=BILINEAR),
    case("upsample_bilinear/dynamic", resize(scale_factor=1.5, mode="bilinear"), f32(n, 2, h, w), live=LIVE,
         expect_ops=BILINEAR),
    case("upsample_bilinear/dynamic_aligned", resize(scale_factor=1.5, mode="bilinear", align_corners=True),
         f32(n, 2, h, w), live=LIVE, expect_ops=BILINEAR),
    case("upsample_bilinear/half", resize(size=(7, 11), mode="bilinear"), f16(1, 3, 5, 4), expect_ops=BILINEAR),
    *sampler_cases(),
    priors_case("odd", f32(1, 2, 5, 7), 8, 0.5),
    priors_case("offset_zero", f32(1, 2, 5, 7), 16, 0.0),
    priors_case("offset_one", f32(3, 4), 1, 1.0),
    priors_case("dynamic", f32(n, 2, h, w), 4, 0.25, live=LIVE),
]  # fmt: skip
