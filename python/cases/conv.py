# SPDX-License-Identifier: BSD-3-Clause
"""Convolutions of floating-point images. The exporter keeps batches of images out of the delegate."""
from torch import nn

from cases.case import case, dim, f16, f32

h, w = dim("h", 4, 11), dim("w", 4, 13)

CONV, CLAMPED = "aten.convolution.default", "et_vk.conv_with_clamp.default"

HALF = {"force_fp16": True}
LIVE = [{"h": 4, "w": 4}, {"h": 8, "w": 5}, {"h": 5, "w": 13}]


def conv(name, maker, *inputs, **rest):
    return case(f"conv/{name}", maker, *inputs, expect_ops=CONV, **rest)


def clamped(name, maker, *inputs, **rest):
    return case(f"conv_with_clamp/{name}", maker, *inputs, expect_ops=CLAMPED, **rest)


PLAIN = [
    conv("odd", lambda: nn.Conv2d(3, 5, 3), f32(1, 3, 7, 9)),
    conv("fours", lambda: nn.Conv2d(8, 12, 3, padding=1), f32(1, 8, 8, 12)),
    conv("tiles", lambda: nn.Conv2d(6, 33, 3, padding=1), f32(1, 6, 9, 10)),
    conv("no_bias", lambda: nn.Conv2d(4, 3, 2, bias=False), f32(1, 4, 5, 6)),
    conv("pointwise", lambda: nn.Conv2d(8, 6, 1), f32(1, 8, 3, 5)),
    conv("pointwise_odd", lambda: nn.Conv2d(7, 5, 1), f32(1, 7, 3, 5)),
    conv("pointwise_strided", lambda: nn.Conv2d(4, 5, 1, stride=2), f32(1, 4, 5, 7)),
    conv("one_position", lambda: nn.Conv2d(9, 10, 3), f32(1, 9, 3, 3)),
    conv("stride_and_padding", lambda: nn.Conv2d(3, 4, (3, 5), stride=(2, 3), padding=(1, 2)), f32(1, 3, 9, 14)),
    conv("padding_beyond_the_image", lambda: nn.Conv2d(2, 3, 3, padding=4), f32(1, 2, 3, 2)),
    conv("grouped", lambda: nn.Conv2d(8, 12, 3, groups=4, padding=1), f32(1, 8, 5, 6)),
    conv("grouped_odd", lambda: nn.Conv2d(9, 6, 2, groups=3), f32(1, 9, 4, 5)),
    conv("depthwise", lambda: nn.Conv2d(5, 5, 3, groups=5, padding=1), f32(1, 5, 7, 6)),
    conv("depthwise_strided", lambda: nn.Conv2d(4, 4, 5, groups=4, stride=2, padding=2), f32(1, 4, 9, 11)),
    conv("depthwise_multiplied", lambda: nn.Conv2d(3, 6, 3, groups=3), f32(1, 3, 6, 7)),
    conv("depthwise_lines", lambda: nn.Conv2d(3, 3, 5, groups=3, padding=2), f32(1, 3, 6, 19)),
    conv("depthwise_lines_strided", lambda: nn.Conv2d(3, 3, (3, 4), groups=3, stride=2, padding=(0, 2)), f32(1, 3, 9, 23)),
    conv("depthwise_lines_dynamic", lambda: nn.Conv2d(4, 4, 3, groups=4, dilation=(2, 1), padding=(2, 1)), f32(1, 4, h, w), live=LIVE),
    conv("one_channel", lambda: nn.Conv2d(1, 17, (9, 1), stride=(4, 1)), f32(1, 1, 61, 1)),
    conv("one_channel_dynamic", lambda: nn.Conv2d(1, 18, (3, 2), padding=1), f32(1, 1, h, w), live=LIVE),
    conv("two_channels_half", lambda: nn.Conv2d(2, 19, 3, stride=2, padding=1).half(), f16(1, 2, 11, 13)),
    conv("many_filters", lambda: nn.Conv2d(7, 35, 3, stride=2, padding=2, dilation=(1, 2)), f32(1, 7, 15, 17)),
    conv("many_filters_dynamic", lambda: nn.Conv2d(6, 18, 3), f32(1, 6, h, w), live=LIVE),
    conv("half", lambda: nn.Conv2d(5, 6, 3, padding=1).half(), f16(1, 5, 6, 7)),
    conv("force_fp16", lambda: nn.Conv2d(4, 6, 3), f32(1, 4, 6, 7), compile=HALF),
    conv("force_fp16_depthwise", lambda: nn.Conv2d(4, 4, 3, groups=4), f32(1, 4, 6, 7), compile=HALF),
    conv("dynamic", lambda: nn.Conv2d(3, 5, 3, padding=1), f32(1, 3, h, w), live=LIVE),
    conv("dynamic_strided", lambda: nn.Conv2d(4, 6, 3, stride=2, padding=1), f32(1, 4, h, w), live=LIVE),
    conv("dynamic_depthwise", lambda: nn.Conv2d(4, 4, 3, groups=4), f32(1, 4, h, w), live=LIVE),
    conv("dynamic_pointwise", lambda: nn.Conv2d(8, 6, 1), f32(1, 8, h, w), live=LIVE),
]

LINES = [
    conv("line", lambda: nn.Conv1d(3, 5, 3), f32(2, 3, 9)),
    conv("line_strided", lambda: nn.Conv1d(4, 8, 5, stride=2, padding=2), f32(1, 4, 17)),
    conv("line_pointwise", lambda: nn.Conv1d(8, 6, 1), f32(2, 8, 7)),
    conv("line_depthwise", lambda: nn.Conv1d(5, 5, 3, groups=5, padding=1), f32(1, 5, 9)),
    conv("line_dilated", lambda: nn.Conv1d(3, 4, 3, dilation=2), f32(1, 3, 11)),
    conv("line_grouped", lambda: nn.Conv1d(6, 4, 3, groups=2), f32(1, 6, 9)),
    conv("line_dynamic", lambda: nn.Conv1d(4, 6, 3, padding=1), f32(1, 4, w), live=[4, 9]),
]

TRANSPOSED = [
    conv("transposed", lambda: nn.ConvTranspose2d(3, 5, 3), f32(1, 3, 5, 6)),
    conv("transposed_strided", lambda: nn.ConvTranspose2d(4, 6, 2, stride=2), f32(1, 4, 4, 5)),
    conv("transposed_padded", lambda: nn.ConvTranspose2d(5, 3, (3, 4), stride=(2, 3), padding=(1, 2)), f32(1, 5, 4, 5)),
    conv("transposed_output_padding", lambda: nn.ConvTranspose2d(4, 4, 3, stride=2, padding=1, output_padding=1),
         f32(1, 4, 4, 5)),
    conv("transposed_grouped", lambda: nn.ConvTranspose2d(4, 6, 3, stride=2, groups=2), f32(1, 4, 3, 4)),
    conv("transposed_no_bias", lambda: nn.ConvTranspose2d(2, 8, 3, bias=False), f32(1, 2, 3, 4)),
    conv("transposed_dynamic", lambda: nn.ConvTranspose2d(3, 4, 2, stride=2), f32(1, 3, h, w), live=LIVE),
]

CLAMPS = [
    clamped("relu", lambda: nn.Sequential(nn.Conv2d(3, 6, 3, padding=1), nn.ReLU()), f32(1, 3, 7, 6)),
    clamped("relu6", lambda: nn.Sequential(nn.Conv2d(4, 8, 3, stride=2), nn.ReLU6()), f32(1, 4, 9, 8)),
    clamped("hardtanh", lambda: nn.Sequential(nn.Conv2d(5, 4, 1), nn.Hardtanh(-0.5, 0.25)), f32(1, 5, 5, 5)),
    clamped("batch_norm", lambda: nn.Sequential(nn.Conv2d(3, 8, 3, bias=False), nn.BatchNorm2d(8), nn.ReLU()),
            f32(1, 3, 6, 7)),
    clamped("depthwise", lambda: nn.Sequential(nn.Conv2d(6, 6, 3, groups=6, padding=1), nn.ReLU6()), f32(1, 6, 5, 7)),
    clamped("grouped", lambda: nn.Sequential(nn.Conv2d(8, 4, 3, groups=2), nn.ReLU()), f32(1, 8, 5, 7)),
    clamped("force_fp16", lambda: nn.Sequential(nn.Conv2d(3, 6, 3), nn.ReLU()), f32(1, 3, 7, 6), compile=HALF),
    clamped("transposed", lambda: nn.Sequential(nn.ConvTranspose2d(3, 5, 2, stride=2), nn.ReLU()), f32(1, 3, 4, 5)),
    clamped("dynamic", lambda: nn.Sequential(nn.Conv2d(3, 5, 3, padding=1), nn.ReLU()), f32(1, 3, h, w), live=LIVE),
]

CASES = PLAIN + LINES + TRANSPOSED + CLAMPS
