# SPDX-License-Identifier: BSD-3-Clause
"""Small models as people write them. Each is a line: a name, a function of a module and its inputs, and the inputs."""
import torch
import torch.nn.functional as F
from torch import nn

from unseen.samples import Sample


class Written(nn.Module):
    """A function of inputs, with parts that it may use."""

    def __init__(self, function, parts):
        super().__init__()
        self.function = function
        for name, part in parts.items():
            if isinstance(part, torch.Tensor):
                self.register_buffer(name, part)
            else:
                setattr(self, name, part)

    def forward(self, *inputs):
        return self.function(self, *inputs)


SAMPLES: list[Sample] = []


def sample(name, function, *inputs, dynamic=None, whole=True, steps=1, half=False, **parts):
    def make():
        torch.manual_seed(len(name))
        built = {key: part() if callable(part) and not isinstance(part, nn.Module) else part for key, part in parts.items()}
        module = Written(function, built).eval()
        return module.half() if half else module

    if half:
        inputs = tuple(x.half() if x.is_floating_point() else x for x in inputs)
    SAMPLES.append(Sample(name, make, inputs, dynamic, whole, steps))


def net(name, make, *inputs, **rest):
    """A module as it stands, in single and in half precision."""
    sample(name, lambda m, *x: m.net(*x), *inputs, net=make, **rest)
    if not rest:
        sample(f"{name}, half", lambda m, *x: m.net(*x), *inputs, half=True, net=make)


def rand(*shape):
    return torch.randn(shape, generator=torch.Generator().manual_seed(sum(shape) + len(shape)))


def ints(*shape, low=0, high=9, dtype=torch.int64):
    return torch.randint(low, high, shape, generator=torch.Generator().manual_seed(sum(shape)), dtype=dtype)


def bools(*shape):
    return rand(*shape) > 0


def spread(norm):
    """With statistics that matter."""
    with torch.no_grad():
        norm.running_mean.copy_(rand(norm.num_features))
        norm.running_var.copy_(rand(norm.num_features).abs() + 0.5)
        norm.weight.copy_(rand(norm.num_features) + 1)
    return norm


N = (1, 6)
x35, x234, image = rand(3, 5), rand(2, 3, 4), rand(2, 3, 8, 10)

# Inputs and outputs of every kind.
sample("an output that is an input", lambda m, x: (x, x + 1), x35)
sample("an input that is not used", lambda m, x, y: x * 2, x35, x35)
sample("an output and its copies", lambda m, x: (y := x * 2, y.clone(), y.contiguous(), x.clone()), x35)
sample("the same output twice", lambda m, x: (y := x * 2, y), x35)
sample("a parameter as an output", lambda m, x: (x + m.w, m.w), x35, w=rand(5), whole=False)
sample("a constant as an output", lambda m, x: (x + 1, torch.arange(4)), x35, whole=False)
sample("no inputs in a part", lambda m, x: x + torch.ones(3, 5).cumsum(0).sin(), x35)
sample("bool outputs", lambda m, x: (x > 0, x.isnan(), (x > 0) & (x < 1), ~(x > 0)), x35)
sample("bool inputs", lambda m, x, y: (x & y, x | y, x ^ y, ~x, x.sum(), x.float(), x.any(), x.all(1)), bools(3, 5), bools(3, 5))
sample("int64 inputs", lambda m, i: (i + 1, i * i, i // 2, i % 3, i.float() / 2, i / 2, i.sum(), i.max(), -i), ints(3, 5))
sample("int32 inputs", lambda m, i: (i + 1, i * i, i // 2, i % 3, i / 2, i.sum(0), i.amax(1), i.abs()), ints(3, 5, low=-9, dtype=torch.int32))
sample("uint8 images", lambda m, i: (i.float() / 255.0, (i / 255.0 - 0.5) / 0.25, i.permute(0, 3, 1, 2).float()), ints(1, 6, 7, 3, high=256, dtype=torch.uint8))
sample("uint8 numbers", lambda m, i: (i + 1, i * 2, i >> 1, i & 15, i.sum(), i > 3, torch.clamp(i, 2, 5)), ints(3, 7, high=256, dtype=torch.uint8))
sample("int8 numbers", lambda m, i: (i + 1, i * 2, -i, i.abs(), i.float(), i.sum(1), i.amax(), torch.clamp(i, -2, 5)), ints(3, 7, low=-50, high=50, dtype=torch.int8))
sample("numbers of many types", lambda m, x, i, b: (x + i, x * b, i + b, torch.where(b, x, i), x.half() + x, i.to(torch.int32) + i), x35, ints(3, 5), bools(3, 5))
sample("a double", lambda m, x: (x.double() * 2).float() + torch.tensor(0.5, dtype=torch.float64), x35)
sample("a number without axes", lambda m, x, y: (x + y, x * 2, y.expand(3), y.view(1)), torch.tensor(2.5), torch.tensor(1.5))
sample("eight axes", lambda m, x: x.view(1, 1, 3, 1, 1, 5, 1, 1).permute(7, 5, 3, 1, 0, 2, 4, 6).contiguous() + 1, x35)
sample("empty tensors", lambda m, x: (torch.cat([x, x[:0]]), x[:0] + 1, x[:0].sum()), x35)

# State.
sample("a counter", lambda m, x: (m.count.add_(1), x * m.count)[1], x35, count=torch.zeros(1), steps=3)
sample("an integer counter", lambda m, x: (m.count.add_(1), x * m.count)[1], x35, count=torch.zeros((), dtype=torch.int64), steps=3, whole=False)
sample("a window of what came before", lambda m, x: (m.past.copy_(torch.cat([m.past[1:], x[None]])), m.past.mean(0))[1], rand(5), past=torch.zeros(4, 5), steps=6)


def cached(m, x, position):
    m.keys.index_copy_(1, position, x)
    return m.keys * 2, m.keys.sum()


sample("a cache by index_copy", cached, rand(2, 1, 4), torch.tensor([3]), keys=torch.zeros(2, 6, 4), steps=2)


def cached_put(m, x, position):
    m.keys[:, position] = x
    return m.keys * 2


sample("a cache by index_put", cached_put, rand(2, 1, 4), torch.tensor([3]), keys=torch.zeros(2, 6, 4), steps=2)
sample("a cache by a slice", lambda m, x: (m.keys[:, 2:3].copy_(x), m.keys + 1)[1], rand(2, 1, 4), keys=torch.zeros(2, 6, 4), steps=2)

# Masks and indices.
sample("where masks", lambda m, x: (torch.where(x > 0, x, 0.0), x.masked_fill(x < 0, float("-inf")).softmax(-1), torch.where(x > 0, 1, 0)), x35)
sample("causal mask", lambda m, x: (x @ x.T).masked_fill(torch.triu(torch.ones(3, 3), 1).bool(), -1e9).softmax(-1), x35)
sample("tril and triu", lambda m, x: (torch.tril(x), torch.triu(x, 1), torch.tril(torch.ones(3, 3)) @ x), x35)
sample("gather and scatter", lambda m, x, i: (x.gather(1, i), torch.zeros(3, 5).scatter(1, i, x), torch.zeros(3, 5).scatter_add(1, i, x)), x35, ints(3, 4, high=5))
sample("scatter a number", lambda m, i: torch.zeros(3, 5).scatter_(1, i, 1.0), ints(3, 2, high=5))
sample("scatter_reduce", lambda m, x, i: (torch.ones(3, 5).scatter_reduce(1, i, x, "amax"), torch.ones(3, 5).scatter_reduce(1, i, x, "sum")), x35, ints(3, 4, high=5))
sample("one hot", lambda m, i: F.one_hot(i, 9), ints(3, 5))
sample("index_select", lambda m, x, i: (x.index_select(0, i), x.index_select(1, i)), rand(5, 5), ints(3, high=5))
sample("take_along_dim", lambda m, x, i: torch.take_along_dim(x, i, 1), x35, ints(3, 4, high=5))
sample("an index", lambda m, x, i: (x[i], x[:, i]), rand(5, 5), ints(3, high=5))
sample("two indices", lambda m, x, i, j: x[i, j], rand(5, 6), ints(4, high=5), ints(4, high=6))
sample("three indices", lambda m, x, i, j: x[i, j, i], rand(5, 6, 5), ints(4, high=5), ints(4, high=6))
sample("four indices that spread", lambda m, x, i, j: x[i[:, None], j, i[:, None], j], rand(5, 6, 5, 6), ints(4, high=5), ints(3, high=6))
sample("indices with an axis between", lambda m, x, i, j: (x[i, :, j], x[:, i, j], x[i, :, j, :]), rand(5, 5, 6, 6), ints(4, high=5), ints(4, high=6, ))
sample("negative indices", lambda m, x, i: x[i], rand(5, 5), ints(3, low=-5, high=5))
sample("index of a matrix", lambda m, x, i: x[i], rand(5, 5), ints(3, 2, high=5))
sample("flip and roll", lambda m, x: (x.flip(0), x.flip([0, 1]), x.roll(2, 1), x.roll((1, -1), (0, 1))), x35)
sample("sort", lambda m, x: tuple(torch.sort(x, 1)), x35)
sample("sort downwards", lambda m, x: (*torch.sort(x, 0, descending=True), torch.argsort(x, 1)), x35)
sample("topk", lambda m, x: (*torch.topk(x, 3), *torch.topk(x, 2, 0, largest=False)), x35)
sample("argmax", lambda m, x: (x.argmax(), x.argmax(1), x.argmin(0, keepdim=True), *x.max(1), *x.min(0)), x35)
sample("cumulative", lambda m, x: (x.cumsum(0), x.cumsum(-1), x.cumprod(1)), x35)
sample("cumulative of integers", lambda m, i: (i.cumsum(1), (i != 0).cumsum(1), (i != 0).long().cumsum(1) * i), ints(3, 5))
sample("positions from a mask", lambda m, b: (b.long().cumsum(-1) - 1).masked_fill(~b, 0), bools(2, 7))
sample("unfold", lambda m, x: (x.unfold(1, 3, 2), x.unfold(0, 2, 1)), rand(4, 9))
sample("unbind, chunk, split", lambda m, x: (*x.unbind(0), *x.chunk(2, 1), *x.split([1, 2, 2], 1)), x35)
sample("stack and cat", lambda m, x: (torch.stack([x, x * 2], 1), torch.cat([x, x, x], -1), torch.hstack([x, x])), x35)
sample("repeat", lambda m, x: (x.repeat(2, 3), x.repeat_interleave(2, 1), x.tile(2), x.expand(2, 3, 5)), x35)
sample("meshgrid", lambda m, x: torch.stack(torch.meshgrid(x, x * 2, indexing="ij")), rand(4))
sample("searchsorted", lambda m, x: torch.bucketize(x, m.edges), x35, edges=torch.linspace(-1, 1, 5))
sample("pads", lambda m, x: (F.pad(x, (1, 2)), F.pad(x, (1, 2, 0, 3), value=2.0), F.pad(x, (2, 1), mode="reflect"), F.pad(x, (2, 1), mode="replicate"), F.pad(x, (2, 1), mode="circular"), F.pad(x, (-1, 1))), x234)

# Arithmetic.
sample("elementwise", lambda m, x: (x.exp(), x.abs().log(), x.sin(), x.tanh(), x.sigmoid(), x.erf(), x.abs().sqrt(), x.abs().rsqrt(), x.reciprocal(), x.sign(), x.floor(), x.ceil(), x.round(), x.trunc(), x.frac()), x35)
sample("elementwise of half", lambda m, x: (x.exp(), x.sin(), x.tanh(), x.sigmoid(), x.abs().sqrt(), x + 1, x * x, x / 3, x ** 2, x.clamp(0), -x), x35, half=True)
sample("more elementwise", lambda m, x: (x.atan(), x.clamp(-1, 1).asin(), x.sinh(), x.cosh(), x.expm1(), x.abs().log1p(), x.abs().log2(), x.abs().log10(), x.square(), torch.exp2(x), x.neg()), x35)
sample("two operands", lambda m, x, y: (torch.atan2(x, y), torch.maximum(x, y), torch.minimum(x, y), torch.fmod(x, y), torch.remainder(x, y), x.abs() ** y, torch.lerp(x, y, 0.3)), x35, rand(3, 1))
sample("powers", lambda m, x: (x ** 2, x ** 3, x.abs() ** 0.5, 2.0 ** x, x.abs() ** -1.5, torch.pow(x, 0)), x35)
sample("divisions", lambda m, x: (x / 3, x // 0.7, torch.div(x, 0.3, rounding_mode="trunc"), torch.div(x, 2, rounding_mode="floor"), 1 / x, 3 - x), x35)
sample("comparisons", lambda m, x, y: (x == y, x != y, x < y, x <= y, x > y, x >= y, x == 0, x.eq(1)), x35, rand(5))
sample("activations", lambda m, x: (F.relu(x), F.gelu(x), F.gelu(x, approximate="tanh"), F.silu(x), F.elu(x), F.selu(x), F.celu(x), F.leaky_relu(x), F.softplus(x), F.mish(x), F.hardswish(x), F.hardsigmoid(x), F.hardtanh(x), F.relu6(x), F.softsign(x), F.tanhshrink(x), F.logsigmoid(x), F.hardshrink(x), F.softshrink(x), F.threshold(x, 0.1, 2.0), F.glu(torch.cat([x, x], 1), 1)), rand(3, 6))
net("prelu", lambda: nn.PReLU(3), image)
sample("reductions", lambda m, x: (x.sum(), x.mean(), x.sum(1), x.mean((0, 2)), x.amax(-1), x.amin((0, 1)), x.prod(), x.prod(1), x.var(), x.std(1), x.var((0, 2), unbiased=False), x.norm(), x.norm(dim=1), x.logsumexp(1), torch.var_mean(x, 1)[1]), x234)
sample("reductions of half", lambda m, x: (x.sum(), x.mean(1), x.amax(-1), x.var(1), x.softmax(-1), x.log_softmax(1)), x234, half=True)
sample("softmax", lambda m, x: (x.softmax(0), x.softmax(-1), x.log_softmax(1), F.softmin(x, 1), F.normalize(x, dim=1), F.cosine_similarity(x, x * 2 + 1, dim=1)), x234)
sample("any and all", lambda m, x: ((x > 0).any(), (x > 0).all(), (x > 0).any(1), (x > 0).all((0, 2)), (x != 0).sum(1)), x234)
sample("clamps", lambda m, x, y: (x.clamp(min=0), x.clamp(max=y), torch.clamp(x, y, y + 1), x.clip(-0.5, 0.5), F.hardtanh(x, -2, 3)), x35, rand(5))
sample("nan and inf", lambda m, x: (torch.nan_to_num(x / 0), (x / 0).isinf(), (x.sqrt()).isnan(), torch.isfinite(x / 0)), x35)
sample("bits", lambda m, i: (i & 3, i | 8, i ^ 5, ~i, i << 2, i >> 1, torch.bitwise_and(i, i + 1)), ints(3, 5, low=-9))
sample("bits of int32", lambda m, i: (i & 3, i | 8, i ^ 5, ~i, i << 2, i >> 1), ints(3, 5, low=-9, dtype=torch.int32))
sample("integer division", lambda m, i, j: (i // j, i % j, torch.div(i, j, rounding_mode="trunc"), torch.fmod(i, j), i / j, torch.remainder(i, -3)), ints(3, 5, low=-20, high=20), ints(5, low=1, high=5))
sample("casts", lambda m, x: (x.long(), x.int(), x.half(), x.bool(), x.abs().to(torch.uint8), x.to(torch.int8), x.double().float()), x35 * 5)
sample("made tensors", lambda m, x: (torch.zeros_like(x), torch.ones(2, 3), torch.full((2,), 3.5), torch.arange(5), torch.linspace(0, 1, 4), torch.eye(3), x.new_full((2, 2), 7), torch.full_like(x, 2, dtype=torch.int64)), x35, whole=False)
sample("made tensors in use", lambda m, x: (torch.zeros_like(x) + x, x * torch.full((5,), 3.5), torch.arange(5) + x, torch.linspace(0, 1, 5) * x, x @ torch.eye(5), x + x.new_full((3, 1), 7)), x35)

# Products.
sample("products", lambda m, x, y: (x @ y, torch.matmul(x[0], y), torch.mv(y.T, x[0]), torch.dot(x[0], x[1]), torch.outer(x[0], x[1]), x[0] @ x[1]), x35, rand(5, 4))
sample("batched products", lambda m, x, y: (torch.bmm(x, y), x @ y[0], torch.baddbmm(torch.ones(2, 3, 6), x, y, beta=0.5, alpha=2), x.unsqueeze(1) @ y), x234, rand(2, 4, 6))
sample("addmm", lambda m, x, y: (torch.addmm(torch.ones(4), x, y), torch.addmm(torch.ones(3, 4), x, y, beta=2, alpha=0.5)), x35, rand(5, 4))
sample("integer products", lambda m, i, j: (i @ j, torch.addmm(i[:, :4], i, j), torch.addmm(i[:, :4], i, j, beta=2, alpha=3), torch.bmm(i[None], j[None]), i[0] @ j), ints(3, 5), ints(5, 4))
sample("int32 products", lambda m, i, j: (i @ j, torch.addmm(i[:, :4], i, j)), ints(3, 5, dtype=torch.int32), ints(5, 4, dtype=torch.int32))
sample("ops that torch takes apart", lambda m, x, y: (torch.addmv(torch.ones(3), x, y[0]) * 2, x + y), x35, rand(3, 5) * 2)
sample("einsum", lambda m, x, y: (torch.einsum("bij,bjk->bik", x, y), torch.einsum("bij,bij->b", x, x), torch.einsum("bij->bji", x), torch.einsum("bij,cjk->bcik", x, y), torch.einsum("bii->bi", y[:, :, :4]), torch.einsum("i,j->ij", x[0, 0], x[0, 1])), x234, rand(2, 4, 6))
sample("tensordot and kron", lambda m, x, y: (torch.tensordot(x, y, dims=([2], [1])), torch.kron(x[0], y[0])), x234, rand(2, 4, 6))
sample("cdist", lambda m, x, y: (torch.cdist(x, y), torch.cdist(x, y, p=1)), x35, rand(4, 5))
sample("traces", lambda m, x: (torch.diagonal(x), torch.diag(x[0]), torch.diag_embed(x), torch.trace(x)), rand(4, 4))
sample("cross", lambda m, x, y: torch.linalg.cross(x, y), rand(4, 3), rand(4, 3) + 1)
net("linear", lambda: nn.Linear(5, 7), x35)
net("linear without bias", lambda: nn.Linear(5, 7, bias=False), x35)
net("linear of a vector", lambda: nn.Linear(5, 7), rand(5))
net("linear of many axes", lambda: nn.Linear(5, 7), rand(2, 3, 4, 5))

# Convolutions.
for each in (
    ("conv1d", nn.Conv1d, (3, 6, 3), rand(2, 3, 12), {}), ("conv1d strided", nn.Conv1d, (3, 6, 3), rand(2, 3, 12), {"stride": 2, "padding": 1}),
    ("conv1d dilated", nn.Conv1d, (3, 6, 3), rand(2, 3, 12), {"dilation": 2}), ("conv1d grouped", nn.Conv1d, (4, 8, 3), rand(2, 4, 12), {"groups": 2}),
    ("conv1d depthwise", nn.Conv1d, (4, 4, 3), rand(2, 4, 12), {"groups": 4, "padding": "same"}), ("conv1d without batch", nn.Conv1d, (3, 6, 3), rand(3, 12), {}),
    ("conv1d reflecting", nn.Conv1d, (3, 6, 3), rand(2, 3, 12), {"padding": 2, "padding_mode": "reflect"}),
    ("conv2d", nn.Conv2d, (3, 6, 3), image, {}), ("conv2d pointwise", nn.Conv2d, (3, 6, 1), image, {}), ("conv2d strided", nn.Conv2d, (3, 6, (3, 2)), image, {"stride": (2, 1), "padding": (1, 0)}),
    ("conv2d same", nn.Conv2d, (3, 6, 4), image, {"padding": "same"}), ("conv2d dilated", nn.Conv2d, (3, 6, 3), image, {"dilation": 2, "bias": False}),
    ("conv2d grouped", nn.Conv2d, (4, 8, 3), rand(2, 4, 8, 8), {"groups": 2}), ("conv2d depthwise", nn.Conv2d, (4, 4, 3), rand(2, 4, 8, 8), {"groups": 4, "padding": 1}),
    ("conv2d depthwise, more channels", nn.Conv2d, (4, 8, 3), rand(2, 4, 8, 8), {"groups": 4, "padding": 1}), ("conv2d circular", nn.Conv2d, (3, 6, 3), image, {"padding": 1, "padding_mode": "circular"}),
    ("conv2d without batch", nn.Conv2d, (3, 6, 3), rand(3, 8, 8), {}),
    ("conv3d", nn.Conv3d, (3, 6, 3), rand(2, 3, 5, 6, 7), {"padding": 1}), ("conv3d grouped", nn.Conv3d, (4, 4, 2), rand(1, 4, 5, 6, 7), {"groups": 2, "stride": 2}),
    ("transposed 1d", nn.ConvTranspose1d, (3, 6, 3), rand(2, 3, 12), {"stride": 2}), ("transposed 1d grouped", nn.ConvTranspose1d, (4, 8, 4), rand(2, 4, 12), {"stride": 2, "padding": 1, "groups": 2}),
    ("transposed 2d", nn.ConvTranspose2d, (3, 6, 3), image, {"stride": 2, "padding": 1, "output_padding": 1}), ("transposed 2d grouped", nn.ConvTranspose2d, (4, 8, 3), rand(1, 4, 5, 5), {"groups": 2, "dilation": 2}),
    ("transposed 3d", nn.ConvTranspose3d, (3, 4, 2), rand(1, 3, 3, 4, 5), {"stride": 2}),
):  # fmt: skip
    net(each[0], lambda each=each: each[1](*each[2], **each[4]), each[3])
for name, make, x in (
    ("conv1d", lambda: nn.Conv1d(4, 6, 3), rand(2, 4, 12)), ("conv3d", lambda: nn.Conv3d(4, 6, 2), rand(1, 4, 3, 4, 5)),
    ("conv2d grouped", lambda: nn.Conv2d(4, 6, 3, groups=2), rand(2, 4, 6, 6)), ("transposed 1d", lambda: nn.ConvTranspose1d(4, 6, 3, stride=2), rand(2, 4, 12)),
    ("transposed 2d grouped", lambda: nn.ConvTranspose2d(4, 6, 3, groups=2), rand(2, 4, 6, 6)),
):  # fmt: skip
    norm = nn.BatchNorm1d if x.dim() == 3 else nn.BatchNorm2d if x.dim() == 4 else nn.BatchNorm3d
    net(f"{name}, relu", lambda make=make: nn.Sequential(make(), nn.ReLU()), x, whole=True)
    net(f"{name}, norm, relu6", lambda make=make, norm=norm: nn.Sequential(make(), spread(norm(6)), nn.ReLU6()), x, whole=True)
sample("conv of a computed weight, relu", lambda m, x, w: F.relu(F.conv2d(x, w * 2)), image, rand(4, 3, 3, 3))
sample("a product with a bias of one number", lambda m, x: torch.addmm(m.b, x, m.w.t()), x35, b=rand(1), w=rand(4, 5))
sample("a product with a matrix as it is", lambda m, x: x @ m.w.permute(0, 1), rand(3, 4), w=rand(4, 4))
net("conv, norm, relu", lambda: nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.Conv2d(8, 4, 1), nn.ReLU6(), nn.Conv2d(4, 4, 3), nn.Hardtanh(-1, 0.5)), image)
net("norm before conv", lambda: nn.Sequential(nn.BatchNorm2d(3), nn.Conv2d(3, 4, 3, padding=1), nn.BatchNorm2d(4), nn.SiLU()), image)
sample("conv with a weight that is computed", lambda m, x, w: F.conv2d(x, w * 2, padding=1), image, rand(4, 3, 3, 3))
sample("conv weight norm", lambda m, x: m.net(x), rand(2, 3, 12), net=lambda: nn.utils.parametrizations.weight_norm(nn.Conv1d(3, 4, 3)))
sample("conv shared by two", lambda m, x: m.conv(F.relu(m.conv(x))), rand(1, 4, 8, 8), conv=lambda: nn.Conv2d(4, 4, 3, padding=1))

# Pooling, resizing, norms.
net("max_pool2d", lambda: nn.MaxPool2d(2), image)
net("max_pool2d padded", lambda: nn.MaxPool2d(3, 2, 1, ceil_mode=True), image)
net("max_pool2d dilated", lambda: nn.MaxPool2d(2, 1, dilation=2), image)
sample("max_pool2d with indices", lambda m, x: F.max_pool2d(x, 2, return_indices=True), image)
net("max_pool1d", lambda: nn.MaxPool1d(3, 2), rand(2, 3, 12))
net("max_pool3d", lambda: nn.MaxPool3d(2), rand(1, 2, 4, 6, 6), whole=False)
net("avg_pool2d", lambda: nn.AvgPool2d(3, 2, 1), image)
net("avg_pool2d without pads", lambda: nn.AvgPool2d(3, 2, 1, count_include_pad=False, ceil_mode=True), image)
net("avg_pool1d", lambda: nn.AvgPool1d(3, 2), rand(2, 3, 12))
net("avg_pool3d", lambda: nn.AvgPool3d(2), rand(1, 2, 4, 6, 6), whole=True)
net("adaptive_avg_pool2d", lambda: nn.AdaptiveAvgPool2d(1), image)
net("adaptive_avg_pool2d odd", lambda: nn.AdaptiveAvgPool2d((3, 4)), image)
net("adaptive_avg_pool1d", lambda: nn.AdaptiveAvgPool1d(5), rand(2, 3, 12))
net("adaptive_max_pool2d", lambda: nn.AdaptiveMaxPool2d((2, 5)), image)
net("lp_pool", lambda: nn.LPPool2d(2, 3), image)
for mode in ("nearest", "nearest-exact", "bilinear", "bicubic", "area"):
    sample(f"interpolate {mode}", lambda m, x, mode=mode: (F.interpolate(x, scale_factor=2.0, mode=mode), F.interpolate(x, size=(5, 13), mode=mode)), image, whole=mode != "area")
sample("interpolate aligned", lambda m, x: (F.interpolate(x, scale_factor=2.0, mode="bilinear", align_corners=True), F.interpolate(x, size=(5, 13), mode="bicubic", align_corners=True)), image)
sample("interpolate antialiased", lambda m, x: F.interpolate(x, size=(4, 5), mode="bilinear", antialias=True), image, whole=False)
sample("interpolate 1d", lambda m, x: (F.interpolate(x, scale_factor=2.0), F.interpolate(x, size=7, mode="linear")), rand(2, 3, 12))
sample("interpolate 3d", lambda m, x: (F.interpolate(x, scale_factor=2.0), F.interpolate(x, size=(3, 4, 5), mode="trilinear")), rand(1, 2, 3, 4, 5))
sample("interpolate half", lambda m, x: (F.interpolate(x, scale_factor=2.0), F.interpolate(x, size=(5, 13), mode="bilinear")), image, half=True)
sample("grid_sample", lambda m, x, g: F.grid_sample(x, g.tanh(), align_corners=False), image, rand(2, 4, 5, 2), whole=False)
sample("pixel shuffle", lambda m, x: (F.pixel_shuffle(x, 2), F.pixel_unshuffle(x, 2)), rand(1, 8, 4, 6))
sample("channel shuffle", lambda m, x: F.channel_shuffle(x, 2), rand(1, 8, 4, 6))
sample("unfold and fold", lambda m, x: F.fold(F.unfold(x, 3, padding=1), (8, 10), 3, padding=1), image)
net("group_norm", lambda: nn.GroupNorm(2, 6), rand(2, 6, 5, 4))
net("group_norm 1d", lambda: nn.GroupNorm(3, 6, affine=False), rand(2, 6, 5))
net("instance_norm", lambda: nn.InstanceNorm2d(3), image)
net("instance_norm affine", lambda: nn.InstanceNorm1d(3, affine=True), rand(2, 3, 12))
net("layer_norm", lambda: nn.LayerNorm(5), x35)
net("layer_norm two axes", lambda: nn.LayerNorm((3, 4)), x234)
net("layer_norm without weights", lambda: nn.LayerNorm(5, elementwise_affine=False), x35)
net("rms_norm", lambda: nn.RMSNorm(5), x35)
net("batch_norm 1d", lambda: nn.BatchNorm1d(5), x35)
net("batch_norm 3d", lambda: nn.BatchNorm3d(2), rand(1, 2, 3, 4, 5))
net("batch_norm without statistics", lambda: nn.BatchNorm2d(3, track_running_stats=False), image)
net("local_response_norm", lambda: nn.LocalResponseNorm(3), image, whole=True)
sample("rms norm by hand", lambda m, x: x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * m.w, x35, w=rand(5))
sample("rms norm by hand, half", lambda m, x: m.w * (x.float() * torch.rsqrt(x.float().pow(2).mean(-1, keepdim=True) + 1e-6)).half(), x35, half=True, w=rand(5))

# Embeddings, recurrence, attention.
net("embedding", lambda: nn.Embedding(9, 6), ints(3, 5))
net("embedding int32", lambda: nn.Embedding(9, 6), ints(3, 5, dtype=torch.int32))
net("embedding with padding", lambda: nn.Embedding(9, 6, padding_idx=0), ints(3, 5))
net("embedding_bag", lambda: nn.EmbeddingBag(9, 6, mode="sum"), ints(3, 5))
sample("embedding_bag with offsets", lambda m, i, o: m.net(i, o), ints(10), torch.tensor([0, 3, 7]), net=lambda: nn.EmbeddingBag(9, 6, mode="mean"))
sample("tied embedding", lambda m, i: m.e(i) @ m.e.weight.T, ints(3, 5), e=lambda: nn.Embedding(9, 6))
for kind in (nn.LSTM, nn.GRU, nn.RNN):
    net(kind.__name__, lambda kind=kind: kind(4, 5, batch_first=True), x234)
    net(f"{kind.__name__} deep, both ways", lambda kind=kind: kind(4, 5, 2, bidirectional=True), x234, whole=True)
sample("LSTM with a state", lambda m, x, h, c: m.net(x, (h, c)), x234, rand(1, 2, 5), rand(1, 2, 5) / 2, net=lambda: nn.LSTM(4, 5, batch_first=True))
sample("cells", lambda m, x, h: (m.gru(x, h), *m.lstm(x, (h, h))), rand(3, 4), rand(3, 5), gru=lambda: nn.GRUCell(4, 5), lstm=lambda: nn.LSTMCell(4, 5))
net("encoder layer", lambda: nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), rand(2, 5, 8))
net("encoder layer, norm first", lambda: nn.TransformerEncoderLayer(8, 2, 16, norm_first=True, activation="gelu"), rand(5, 2, 8))
sample("decoder layer", lambda m, x, y: m.net(x, y, tgt_mask=nn.Transformer.generate_square_subsequent_mask(4)), rand(2, 4, 8), rand(2, 5, 8), net=lambda: nn.TransformerDecoderLayer(8, 2, 16, batch_first=True))
sample("multi-head attention", lambda m, x: m.net(x, x, x), rand(2, 5, 8), net=lambda: nn.MultiheadAttention(8, 2, batch_first=True))
sample("multi-head attention with padding", lambda m, x, b: m.net(x, x, x, key_padding_mask=b, need_weights=False)[0], rand(2, 5, 8), torch.tensor([[False] * 5, [False] * 3 + [True] * 2]), net=lambda: nn.MultiheadAttention(8, 2, batch_first=True))
sample("attention", lambda m, q: (F.scaled_dot_product_attention(q, q, q), F.scaled_dot_product_attention(q, q, q, is_causal=True), F.scaled_dot_product_attention(q, q, q, scale=0.2)), rand(2, 3, 5, 8))
sample("attention with masks", lambda m, q, a, b: (F.scaled_dot_product_attention(q, q, q, a), F.scaled_dot_product_attention(q, q, q, b)), rand(2, 3, 5, 8), rand(5, 5), torch.ones(5, 5).tril().bool())
sample("attention with shared keys", lambda m, q, k: F.scaled_dot_product_attention(q, k, k, enable_gqa=True, is_causal=True), rand(2, 4, 5, 8), rand(2, 2, 5, 8))
sample("attention of wide heads", lambda m, q: F.scaled_dot_product_attention(q, q, q), rand(1, 1, 3, 600))
sample("attention of more keys", lambda m, q, k: (F.scaled_dot_product_attention(q, k[:1], k[:1]), F.scaled_dot_product_attention(q[:1], k, k)), rand(2, 3, 5, 8), rand(2, 3, 7, 8))
sample("attention half", lambda m, q: F.scaled_dot_product_attention(q, q, q, is_causal=True), rand(2, 3, 5, 8), half=True)
sample("attention by hand", lambda m, q: ((q @ q.transpose(-1, -2)) * 8**-0.5 + torch.full((5, 5), float("-inf")).triu(1)).softmax(-1) @ q, rand(2, 3, 5, 8))
sample("attention dynamic", lambda m, q: F.scaled_dot_product_attention(q, q, q, is_causal=True), rand(2, 3, 5, 8), dynamic=({0: N, 2: (1, 9)},))


def rotated(m, x, positions):
    angles = positions[:, :, None].float() * m.frequencies
    cosines, sines = torch.cat([angles, angles], -1).cos()[:, None], torch.cat([angles, angles], -1).sin()[:, None]
    return x * cosines + torch.cat([-x[..., 4:], x[..., :4]], -1) * sines


sample("rotary embedding", rotated, rand(2, 3, 5, 8), torch.arange(5)[None].repeat(2, 1), frequencies=10000 ** (-torch.arange(4) / 4))
sample("rotary embedding dynamic", rotated, rand(2, 3, 5, 8), torch.arange(5)[None].repeat(2, 1), frequencies=10000 ** (-torch.arange(4) / 4), dynamic=({2: (1, 9)}, {1: (1, 9)}))


def halves(x, middle=4, turned=lambda a, b: (-b, a)):
    return torch.cat(turned(x[..., :middle], x[..., middle:]), -1)


def rotating(name, axis=1, q=(2, 3, 5, 8), k=(2, 2, 5, 8), middle=4, turned=lambda a, b: (-b, a), tables=lambda t: t, dynamic=None):
    """Queries and keys, as `transformers` and others rotate them; not all of that is what a fused op computes."""

    def both(m, q, k, c, s):
        c, s = tables(c).unsqueeze(axis), tables(s).unsqueeze(axis)
        return q * c + halves(q, middle, turned) * s, k * c + halves(k, middle, turned) * s

    table = rand(2, 5, 8) if axis < 3 else rand(5, 8)
    sample(f"rotation: {name}", both, rand(*q), rand(*k), table, rand(2, 5, 8) * 2, dynamic=dynamic)


rotating("heads first")
rotating("heads last", axis=2, q=(2, 5, 3, 8), k=(2, 5, 2, 8))
rotating("backwards", turned=lambda a, b: (b, -a))
rotating("no halves", middle=2, turned=lambda a, b: (-b, a))
rotating("swapped only", turned=lambda a, b: (b, a))
rotating("scaled tables", tables=lambda t: t * 0.5)
rotating("dynamic", dynamic=({2: (1, 9)}, {2: (1, 9)}, {1: (1, 9)}, {1: (1, 9)}))


def partly(m, q, k, c, s):
    c, s = c.unsqueeze(1), s.unsqueeze(1)
    turn = lambda x: torch.cat([x[..., :8] * c + halves(x[..., :8]) * s, x[..., 8:]], -1)  # noqa: E731
    return turn(q), turn(k)


sample("rotation: a part of a head", partly, rand(2, 3, 5, 12), rand(2, 3, 5, 12), rand(2, 5, 8), rand(2, 5, 8) * 2)


def paired(m, q, k, c, s):
    def turn(x):
        a, b = x.float().reshape(x.shape[:-1] + (-1, 2)).unbind(-1)
        c4, s4 = c.view(1, 5, 1, 4), s.view(1, 5, 1, 4)
        return torch.stack([a * c4 - b * s4, a * s4 + b * c4], -1).flatten(3).type_as(x)

    return turn(q), turn(k)


sample("rotation: neighbours", paired, rand(1, 5, 3, 8), rand(1, 5, 2, 8), rand(5, 4), rand(5, 4) * 2)
sample("experts", lambda m, x: (F.one_hot(m.gate(x).argmax(-1), 2).float()[..., None] * torch.stack([m.a(x), m.b(x)], -2)).sum(-2), rand(3, 4, 5), gate=lambda: nn.Linear(5, 2), a=lambda: nn.Linear(5, 6), b=lambda: nn.Linear(5, 6))
sample("topk experts", lambda m, x: (lambda w, i: (m.table[i] * w.softmax(-1)[..., None]).sum(1))(*torch.topk(m.gate(x), 2)), x35, gate=lambda: nn.Linear(5, 4), table=rand(4, 6))

# Dynamic sizes.
sample("dynamic rows", lambda m, x: (m.net(x), x.softmax(-1), x.sum(0), x.mean()), x35, net=lambda: nn.Linear(5, 7), dynamic=({0: N},))
sample("dynamic both", lambda m, x: (x.T, x.flatten(), x.reshape(-1, 1) * 2, x[:1], x[-1], x.sum(0)), x35, dynamic=({0: N, 1: (2, 9)},))
sample("dynamic image", lambda m, x: F.interpolate(m.conv(x), scale_factor=2.0, mode="bilinear"), image, conv=lambda: nn.Conv2d(3, 4, 3, padding=1, stride=2), dynamic=({0: N, 2: (6, 12), 3: (7, 13)},))
sample("dynamic pooling", lambda m, x: F.adaptive_avg_pool2d(F.max_pool2d(x, 2), 1).flatten(1), image, dynamic=({0: N, 2: (6, 12), 3: (7, 13)},))
sample("dynamic positions", lambda m, i: m.e(i) + m.p(torch.arange(i.shape[1]))[None], ints(2, 5), e=lambda: nn.Embedding(9, 6), p=lambda: nn.Embedding(16, 6), dynamic=({0: N, 1: (1, 16)},))
sample("dynamic mask", lambda m, x: torch.where(torch.arange(x.shape[1])[None] <= torch.arange(x.shape[1])[:, None], x @ x.transpose(1, 2), -1e9).softmax(-1), rand(2, 5, 4), dynamic=({1: (2, 9)},))
sample("dynamic views", lambda m, x: (x.view(x.shape[0], -1, 2, 2), x.view(-1, 4), x.transpose(0, 1).reshape(-1, x.shape[0] * 4), x.unsqueeze(1).expand(-1, 2, -1, -1)), rand(2, 5, 4), dynamic=({0: N, 1: (2, 9)},))
sample("dynamic cat and split", lambda m, x: (torch.cat([x, x], 1), x[:, 1:], x[:, -1:], torch.stack([x, x])), rand(2, 6, 4), dynamic=({1: (2, 9)},))
sample("dynamic padding", lambda m, x: F.pad(x, (0, 0, 0, 16 - x.shape[1])), rand(2, 6, 4), dynamic=({1: (2, 9)},))
sample("dynamic ones", lambda m, x: (torch.ones(x.shape[0], x.shape[1]), torch.zeros_like(x) + x, torch.tril(torch.ones(x.shape[1], x.shape[1])), torch.arange(x.shape[1]) * 2), rand(2, 6, 4), dynamic=({1: (2, 9)},))
sample("dynamic half", lambda m, x: m.net(x).relu(), x35, net=lambda: nn.Linear(5, 7), dynamic=({0: N},), half=True)
sample("dynamic conv1d", lambda m, x: m.b(F.gelu(m.a(x))), rand(2, 3, 16), a=lambda: nn.Conv1d(3, 4, 3, padding=1), b=lambda: nn.Conv1d(4, 4, 3, stride=2, padding=1), dynamic=({2: (4, 24)},))
sample("dynamic transposed", lambda m, x: m.a(x), rand(2, 3, 16), a=lambda: nn.ConvTranspose1d(3, 4, 4, stride=2, padding=1), dynamic=({2: (4, 24)},))
sample("dynamic groups", lambda m, x: m.a(x), rand(2, 4, 6, 6), a=lambda: nn.GroupNorm(2, 4), dynamic=({0: N, 2: (2, 9)},))
sample("dynamic sort", lambda m, x: (*x.sort(1), *x.topk(2, 1), x.argmax(1), x.cumsum(1)), x35, dynamic=({0: N, 1: (2, 9)},))
sample("dynamic size as a number", lambda m, x: (x / x.shape[1], x * x.shape[0] ** 0.5, x.sum(1) / (x.shape[1] - 1)), x35, dynamic=({0: N, 1: (2, 9)},))
sample("dynamic layer", lambda m, x: m.net(x), rand(2, 5, 8), net=lambda: nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), dynamic=({0: N, 1: (2, 9)},))
sample("dynamic outer", lambda m, x, y: (x[:, None] - y[None]).pow(2).sum(-1), x35, rand(4, 5), dynamic=({0: N}, {0: (1, 7)}))
sample("dynamic roll and flip", lambda m, x: (x.roll(1, 0), x.flip(0), x.repeat(2, 1), x.repeat_interleave(2, 0)), x35, dynamic=({0: N},))
