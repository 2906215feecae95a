# SPDX-License-Identifier: BSD-3-Clause
"""Layer, group, batch and root-mean-square norm."""
import torch
from torch import nn

from cases.case import case, dim, f16, f32

s, t = dim("s", 1, 9), dim("t", 1, 5)

LAYER, GROUP = "aten.native_layer_norm.default", "aten.native_group_norm.default"
BATCH, RMS = "aten._native_batch_norm_legit_no_training.default", "et_vk.rms_norm.default"

HALF = {"compile": {"force_fp16": True}}
TIMES = [{"s": 4, "t": 3}, {"s": 1, "t": 1}]


def trained(norm: nn.Module) -> nn.Module:
    """With weights and statistics other than the initial ones."""
    for name, tensor in [*norm.named_parameters(), *norm.named_buffers()]:
        if tensor.is_floating_point():
            tensor.data.normal_() if "var" not in name else tensor.data.uniform_(0.5, 2)
    return norm


def layer(*shape, **options):
    return lambda: trained(nn.LayerNorm(shape, **options))


def group(groups, channels, **options):
    return lambda: trained(nn.GroupNorm(groups, channels, **options))


def batch(norm, channels, **options):
    return lambda: trained(norm(channels, **options))


def half(make):
    return lambda: make().half()


def layer_parts(*shape, weight=True, bias=True, eps=1e-5):
    """With mean and reciprocal deviation, and perhaps without weight or bias."""

    class Parts(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = nn.Parameter(torch.randn(shape)) if weight else None
            self.bias = nn.Parameter(torch.randn(shape)) if bias else None

        def forward(self, x):
            return torch.native_layer_norm(x, shape, self.weight, self.bias, eps)

    return Parts


def group_parts(groups, channels):
    class Parts(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = nn.Parameter(torch.randn(channels))

        def forward(self, x):
            n, c, spatial = x.shape[0], x.shape[1], x[0, 0].numel()
            return torch.native_group_norm(x, self.weight, None, n, c, spatial, groups, 1e-5)

    return Parts


class Rms(nn.Module):
    def __init__(self, width=7, eps=1e-5):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(width))
        self.eps = eps

    def forward(self, x):
        return torch.ops.et_vk.rms_norm(x, self.weight, self.eps)


class RmsReference(Rms):
    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps) * self.weight


def rms_case(name, width, x, eps=1e-5, half=False, **rest):
    make = lambda: Rms(width, eps).half() if half else Rms(width, eps)
    return case(f"rms_norm/{name}", make, x, reference=lambda: RmsReference(width, eps), expect_ops=RMS, **rest)


def far_from_zero(shape):
    """A small variance around a large mean."""
    generator = torch.Generator().manual_seed(sum(shape))
    return 1000 + torch.randn(shape, generator=generator)


CASES = [
    case("layer_norm/odd", layer(7), f32(3, 5, 7), expect_ops=LAYER),
    case("layer_norm/two_axes", layer(5, 7), f32(3, 5, 7), expect_ops=LAYER),
    case("layer_norm/all_axes", layer(3, 5, 7), f32(3, 5, 7), expect_ops=LAYER),
    case("layer_norm/one_element", layer(1), f32(3, 1), expect_ops=LAYER),
    case("layer_norm/statistics", layer_parts(37), f32(3, 37), expect_ops=LAYER),
    case("layer_norm/statistics_of_two_axes", layer_parts(5, 7, bias=False), f32(2, 5, 7), expect_ops=LAYER),
    case("layer_norm/without_bias", layer(13, bias=False), f32(5, 13), expect_ops=LAYER),
    case("layer_norm/without_weight", layer_parts(13, weight=False), f32(5, 13), expect_ops=LAYER),
    case("layer_norm/plain", layer(13, elementwise_affine=False), f32(5, 13), expect_ops=LAYER),
    case("layer_norm/far_from_zero", layer(67), f32(3, 67, fill=far_from_zero), expect_ops=LAYER, atol=1e-3, nmse=1e-6),
    case("layer_norm/large_eps", layer(7, eps=1.0), f32(3, 7), expect_ops=LAYER),
    case("layer_norm/dynamic_rows", layer(7), f32(s, t, 7), live=TIMES, expect_ops=LAYER),
    case("layer_norm/half", half(layer(37)), f16(3, 37), expect_ops=LAYER),
    case("layer_norm/force_fp16", layer(37), f32(3, 37), expect_ops=LAYER, **HALF),
    case("group_norm/image", group(3, 6), f32(2, 6, 5, 7), expect_ops=GROUP),
    case("group_norm/sequence", group(2, 6), f32(2, 6, 7), expect_ops=GROUP),
    case("group_norm/volume", group(2, 4), f32(2, 4, 3, 2, 5), expect_ops=GROUP, beyond=True),
    case("group_norm/each_channel", group(5, 5), f32(1, 5, 3, 3), expect_ops=GROUP),
    case("group_norm/one_group", group(1, 5), f32(2, 5, 3, 3), expect_ops=GROUP),
    case("group_norm/plain", group(2, 6, affine=False), f32(2, 6, 5, 7), expect_ops=GROUP),
    case("group_norm/statistics", group_parts(3, 6), f32(2, 6, 5), expect_ops=GROUP),
    case("group_norm/dynamic", group(3, 6), f32(s, 6, t, 3), live=TIMES, expect_ops=GROUP),
    case("group_norm/half", half(group(2, 6)), f16(2, 6, 5, 7), expect_ops=GROUP),
    case("batch_norm/image", batch(nn.BatchNorm2d, 5), f32(2, 5, 3, 7), expect_ops=BATCH),
    case("batch_norm/sequence", batch(nn.BatchNorm1d, 5), f32(2, 5, 7), expect_ops=BATCH),
    case("batch_norm/features", batch(nn.BatchNorm1d, 5), f32(3, 5), expect_ops=BATCH),
    case("batch_norm/volume", batch(nn.BatchNorm3d, 3), f32(2, 3, 3, 2, 5), expect_ops=BATCH, beyond=True),
    case("batch_norm/plain", batch(nn.BatchNorm2d, 5, affine=False), f32(2, 5, 3, 7), expect_ops=BATCH),
    case("batch_norm/eps_one", batch(nn.BatchNorm2d, 5, eps=1.0), f32(2, 5, 3, 7), expect_ops=BATCH),
    case("batch_norm/dynamic", batch(nn.BatchNorm2d, 5), f32(s, 5, t, 3), live=TIMES, expect_ops=BATCH),
    case("batch_norm/half", half(batch(nn.BatchNorm2d, 5)), f16(2, 5, 3, 7), expect_ops=BATCH),
    rms_case("four_axes", 5, f32(2, 3, 2, 5)),
    rms_case("half", 37, f16(3, 37), half=True),
]
