# SPDX-License-Identifier: BSD-3-Clause
"""Layer, group, batch and root-mean-square norm."""
import torch
from torch import nn

from cases.case import case, dim, f16, f32

s, t = dim("s", 1, 9), dim("t", 1, 5)

LAYER, GROUP = "aten.native_layer_norm.default", "aten.native_group_norm.default"
BATCH, RMS = "aten._native_batch_norm_legit_no_training.default", "et_vk.rms_norm.default"

OWN, LEGIT = "aten._native_batch_norm_legit.no_stats", "aten._native_batch_norm_legit.default"

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


def instance(norm, channels, **options):
    """A norm that has no statistics but those of its input."""
    return lambda: trained(norm(channels, track_running_stats=False, **options))


def own_statistics(name, x, affine=(True, True), eps=1e-5, **rest):
    """Batch norm without running statistics: mean and deviation come back."""
    channels = [f32(x.shape[1])] * sum(affine)

    def norm(x, *given):
        given = list(given)
        weight, bias = (given.pop(0) if one else None for one in affine)
        return torch.ops.aten._native_batch_norm_legit.no_stats(x, weight, bias, True, 0.1, eps)

    def draw(g, x, *given):
        given = list(given)
        weight, bias = (given.pop(0) if one else None for one in affine)
        size = g.shape(x)[1]
        outputs = [g.like(x), g.tensor(torch.float32, size), g.tensor(torch.float32, size)]
        g.call(OWN, x, weight, bias, True, 0.1, eps, out=outputs)
        return outputs

    function = {0: lambda x: norm(x), 1: lambda x, a: norm(x, a), 2: lambda x, a, b: norm(x, a, b)}[len(channels)]
    return case(f"batch_norm_own/{name}", function, x, *channels, graph=draw, expect_ops=OWN, **rest)


def with_statistics(name, x, affine=True, eps=1e-5, **rest):
    """As a call of torch's op that may update statistics, but does not."""
    size = x.shape[1]
    given = [f32(size), f32(size)] if affine else []

    def norm(x, mean, variance, *affine):
        return torch.ops.aten._native_batch_norm_legit_no_training(x, *(affine or (None, None)), mean, variance, 0.1, eps)[0]

    def draw(g, x, mean, variance, *affine):
        outputs = [g.like(x), g.tensor(torch.float32, 0), g.tensor(torch.float32, 0)]
        g.call(LEGIT, x, *(affine or (None, None)), mean, variance, False, 0.1, eps, out=outputs)
        return outputs[0]

    function = (lambda x, m, v, a, b: norm(x, m, v, a, b)) if affine else (lambda x, m, v: norm(x, m, v))
    return case(f"batch_norm_legit/{name}", function, x, f32(size), f32(size, low=0.5, high=2), *given, graph=draw,
                expect_ops=LEGIT, **rest)


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
    own_statistics("image", f32(3, 5, 3, 7)),
    own_statistics("sequence", f32(2, 5, 7), (True, False)),
    own_statistics("features", f32(9, 5), (False, False)),
    own_statistics("volume", f32(2, 3, 3, 2, 5), (True, False), eps=0.5),
    own_statistics("dynamic", f32(s, 5, t, 3), live=TIMES),
    case("batch_norm_own/instance", instance(nn.InstanceNorm2d, 5, affine=True), f32(2, 5, 3, 7), expect_ops=OWN,
         beyond=True),
    with_statistics("image", f32(2, 5, 3, 7)),
    with_statistics("plain", f32(2, 5, 3, 7), affine=False),
    with_statistics("features", f32(3, 5), eps=1.0),
    with_statistics("dynamic", f32(s, 5, t, 3), live=TIMES),
    case("batch_norm/half", half(batch(nn.BatchNorm2d, 5)), f16(2, 5, 3, 7), expect_ops=BATCH),
    rms_case("four_axes", 5, f32(2, 3, 2, 5)),
    rms_case("half", 37, f16(3, 37), half=True),
]
