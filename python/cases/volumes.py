# SPDX-License-Identifier: BSD-3-Clause
"""Convolutions and pools that the exporter's own partitioner leaves out: in three dimensions, in batches, with filters
that are no constants, with windows as large as the image."""
import torch
import torch.nn.functional as F
from torch import nn

from cases.case import case, dim, f16, f32
from cases.direct import direct

n, d, h, w = dim("n", 1, 3), dim("d", 3, 6), dim("h", 5, 9), dim("w", 5, 11)
LIVE = [{"n": 2, "h": 7, "w": 6}, {"n": 1, "h": 5, "w": 5}]
DEEP = [{"n": 2, "d": 4, "w": 6}, {"n": 1, "d": 3, "w": 5}]

CONV = "aten.convolution.default"
MAX2, MAX3 = "aten.max_pool2d_with_indices.default", "aten.max_pool3d_with_indices.default"
AVERAGE1, AVERAGE2, AVERAGE3 = (f"aten.avg_pool{axes}d.default" for axes in (1, 2, 3))
ADAPTIVE1, ADAPTIVE2, ADAPTIVE3 = "aten.adaptive_avg_pool1d.default", "aten._adaptive_avg_pool2d.default", "aten._adaptive_avg_pool3d.default"


def conv(name, module, *inputs, **rest):
    return case(f"conv/{name}", module, *inputs, expect_ops=CONV, beyond=True, **rest)


def given(function, *args, **options):
    """The filter is an input."""
    return lambda x, filter: function(x, filter, *args, **options)


CONVOLUTIONS = [
    conv("volume", lambda: nn.Conv3d(3, 5, 3, padding=1), f32(1, 3, 4, 5, 6)),
    conv("volume_fours", lambda: nn.Conv3d(8, 12, 2), f32(2, 8, 4, 5, 4)),
    conv("volume_uneven", lambda: nn.Conv3d(2, 3, (1, 2, 3), stride=(2, 1, 2), padding=(0, 1, 1), dilation=(1, 2, 1)),
         f32(2, 2, 5, 6, 7)),
    conv("volume_grouped", lambda: nn.Conv3d(4, 6, 2, groups=2, bias=False), f32(2, 4, 3, 4, 5)),
    conv("volume_depthwise", lambda: nn.Conv3d(3, 6, 3, groups=3, padding=1), f32(1, 3, 4, 5, 5)),
    conv("volume_pointwise", lambda: nn.Conv3d(8, 4, 1), f32(1, 8, 3, 3, 3)),
    conv("volume_half", lambda: nn.Conv3d(4, 3, 2).half(), f16(1, 4, 3, 4, 5)),
    conv("volume_dynamic", lambda: nn.Conv3d(3, 4, 3, stride=(1, 1, 2), padding=1), f32(n, 3, d, 4, w), live=DEEP),
    conv("volume_transposed", lambda: nn.ConvTranspose3d(3, 4, (2, 3, 2), stride=(1, 2, 2), padding=(0, 1, 0),
                                                         output_padding=(0, 1, 0)), f32(2, 3, 3, 4, 3)),
    conv("volume_transposed_grouped", lambda: nn.ConvTranspose3d(4, 6, 2, stride=2, groups=2, dilation=2),
         f32(1, 4, 2, 3, 2)),
    conv("batch", lambda: nn.Conv2d(3, 5, 3, padding=1), f32(4, 3, 5, 7)),
    conv("batch_dynamic", lambda: nn.Conv2d(3, 5, 3, stride=2, padding=1), f32(n, 3, h, w), live=LIVE),
    conv("batch_depthwise", lambda: nn.Conv2d(4, 8, 3, groups=4, padding=2, dilation=2), f32(n, 4, h, w), live=LIVE),
    conv("batch_grouped", lambda: nn.Conv2d(6, 4, 3, groups=2), f32(n, 6, h, w), live=LIVE),
    conv("batch_transposed", lambda: nn.ConvTranspose2d(4, 6, 3, stride=2, padding=1, output_padding=1, groups=2,
                                                        dilation=2), f32(n, 4, h, w), live=LIVE),
    conv("no_batch", lambda: nn.Conv2d(3, 4, 3, padding="same"), f32(3, 5, 6)),
    conv("filter_even_same", lambda: nn.Conv2d(3, 4, (2, 4), padding="same"), f32(2, 3, 5, 6)),
    conv("filter_given", given(F.conv2d, padding=1), f32(2, 4, 5, 6), f32(8, 4, 3, 3)),
    conv("filter_given_grouped", given(F.conv2d, groups=2, stride=2), f32(1, 4, 7, 6), f32(6, 2, 3, 2)),
    conv("filter_given_depthwise", given(F.conv2d, groups=3), f32(2, 3, 5, 6), f32(3, 1, 3, 3)),
    conv("filter_given_transposed", given(F.conv_transpose2d, stride=2), f32(2, 3, 4, 5), f32(3, 2, 3, 3)),
    conv("line_batch_dilated", lambda: nn.Conv1d(4, 6, 3, dilation=3, groups=2), f32(n, 4, w + 4),
         live=[{"n": 2, "w": 6}, {"n": 1, "w": 5}]),
    conv("line_transposed_batch", lambda: nn.ConvTranspose1d(4, 6, 4, stride=2, padding=1, groups=2), f32(n, 4, w),
         live=[{"n": 2, "w": 6}, {"n": 1, "w": 5}]),
    conv("line_given", given(F.conv1d, padding=2), f32(2, 3, 9), f32(4, 3, 5)),
    direct("conv/no_images", CONV, lambda x, f: F.conv2d(x, f), f32(0, 3, 5, 6), f32(4, 3, 3, 3),
           args=[None, [1, 1], [0, 0], [1, 1], False, [0, 0], 1]),
]


def average(axes, name, *args, x, **options):
    function = getattr(F, f"avg_pool{axes}d")
    return case(f"avg_pool{axes}d/{name}", lambda x: function(x, *args, **options), x,
                expect_ops=f"aten.avg_pool{axes}d.default", beyond=True)


def line_average(name, x, kernel, stride=None, padding=0, ceil=False, include=True, **rest):
    return direct(f"avg_pool1d/{name}", AVERAGE1, lambda x: F.avg_pool1d(x, kernel, stride, padding, ceil, include), x,
                  args=[[kernel], [stride] if stride else [], [padding], ceil, include], **rest)


AVERAGES = [
    line_average("odd", f32(2, 3, 9), 3, 2, 1),
    line_average("no_batch", f32(3, 9), 2),
    line_average("ceil", f32(1, 2, 8), 3, 2, 1, True, False),
    line_average("long", f32(1, 2, 3001), 2999, 1),
    line_average("half", f16(1, 2, 9), 4, 1, 2),
    line_average("dynamic", f32(n, 2, w), 3, 2, 1, live=[{"n": 2, "w": 6}, {"n": 1, "w": 5}]),
    average(2, "window_of_all", 640, 1, 320, x=f32(1, 2, 7, 5)),
    average(2, "window_of_all_ceil", 640, ceil_mode=True, x=f32(1, 3, 7, 5)),
    average(2, "window_of_all_without_padding", 64, 3, 30, count_include_pad=False, x=f32(2, 2, 33, 37)),
    average(2, "large_window", (40, 50), (2, 3), (20, 1), x=f32(1, 2, 45, 61)),
    average(2, "large_window_divisor", (40, 50), 7, divisor_override=9, x=f32(1, 2, 45, 61)),
    average(2, "large_window_half", 40, 5, x=f16(1, 2, 45, 61)),
    average(3, "odd", 3, 2, 1, x=f32(2, 3, 5, 7, 6)),
    average(3, "uneven", (1, 2, 3), (2, 1, 2), (0, 1, 1), x=f32(1, 2, 5, 6, 7)),
    average(3, "no_batch", 2, x=f32(3, 4, 5, 6)),
    average(3, "ceil_without_padding", 3, 2, 1, ceil_mode=True, count_include_pad=False, x=f32(1, 2, 4, 6, 8)),
    average(3, "divisor", 2, divisor_override=3, x=f32(1, 2, 4, 5, 6)),
    average(3, "large_window", (4, 30, 30), (1, 3, 4), x=f32(1, 2, 5, 33, 34)),
]


def adaptive(axes, name, sizes, x, **rest):
    op = {1: ADAPTIVE1, 2: ADAPTIVE2, 3: ADAPTIVE3}[axes]
    function = getattr(F, f"adaptive_avg_pool{axes}d")
    return direct(f"adaptive_avg_pool{axes}d/{name}", op, lambda x: function(x, sizes), x, args=[list(sizes)], **rest)


LINES = [{"n": 2, "w": 6}, {"n": 1, "w": 5}]
ADAPTIVES = [
    adaptive(1, "odd", [4], f32(2, 3, 9)),
    adaptive(1, "more", [11], f32(3, 4)),
    adaptive(1, "one", [1], f32(1, 2, 3001)),
    adaptive(1, "dynamic", [3], f32(n, 2, w), live=LINES),
    adaptive(2, "odd", [3, 4], f32(2, 3, 7, 9)),
    adaptive(2, "one", [1, 1], f32(2, 3, 7, 9)),
    adaptive(2, "more", [9, 5], f32(3, 4, 5)),
    adaptive(2, "large", [2, 1], f32(1, 2, 71, 83)),
    adaptive(2, "half", [3, 2], f16(1, 2, 7, 9)),
    adaptive(2, "dynamic", [3, 4], f32(n, 2, h, w), live=LIVE),
    case("adaptive_avg_pool2d/exported", lambda x: F.adaptive_avg_pool2d(x, (3, None)), f32(2, 3, 7, 9),
         expect_ops=ADAPTIVE2, beyond=True),
    adaptive(3, "odd", [2, 3, 4], f32(2, 3, 5, 7, 9)),
    adaptive(3, "one", [1, 1, 1], f32(1, 3, 5, 7, 9)),
    adaptive(3, "no_batch", [3, 2, 5], f32(2, 4, 5, 6)),
    adaptive(3, "large", [1, 2, 1], f32(1, 2, 5, 41, 43)),
    adaptive(3, "dynamic", [2, 2, 3], f32(n, 2, d, 4, w), live=DEEP),
]


def deepest(name, *args, x, **options):
    rest = {"live": options.pop("live")} if "live" in options else {}
    return case(f"max_pool3d/{name}", lambda x: F.max_pool3d(x, *args, return_indices=True, **options), x,
                expect_ops=MAX3, beyond=True, **rest)


def with_nans(shape):
    x = torch.randint(-2, 3, shape, generator=torch.Generator().manual_seed(sum(shape))).float()
    x[..., 0:2, 0:2] = -torch.inf
    x[..., 3, 1::2] = torch.nan
    return x


MAXIMA = [
    deepest("odd", 3, 2, 1, x=f32(2, 3, 5, 7, 6)),
    deepest("uneven", (1, 2, 3), (2, 1, 2), (0, 1, 1), x=f32(1, 2, 5, 6, 7)),
    deepest("dilated", 2, 1, 1, (2, 1, 3), x=f32(1, 2, 5, 6, 7)),
    deepest("ceil", 3, 2, 1, ceil_mode=True, x=f32(1, 2, 4, 6, 8)),
    deepest("no_batch", 2, x=f32(2, 4, 5, 6)),
    deepest("nan", 2, 1, x=f32(1, 2, 3, 5, 5, fill=with_nans)),
    deepest("half", 2, 1, x=f16(1, 2, 3, 4, 5)),
    deepest("dynamic", 3, 2, 1, x=f32(n, 2, d, 4, w), live=DEEP),
    case("max_pool2d_indices/window_of_all", lambda x: F.max_pool2d(x, 640, 1, 320, return_indices=True),
         f32(1, 2, 7, 5), expect_ops=MAX2),
]

CASES = [*CONVOLUTIONS, *AVERAGES, *ADAPTIVES, *MAXIMA]  # fmt: skip
