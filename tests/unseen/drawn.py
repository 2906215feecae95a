# SPDX-License-Identifier: BSD-3-Clause
"""Random models: a few inputs of random types and shapes, a few ops of random kinds, all results are outputs."""
import random

import torch
import torch.nn.functional as F
from torch import nn

from unseen.samples import Sample

DTYPES = [torch.float32] * 6 + [torch.float16, torch.int64, torch.int64, torch.int32, torch.bool, torch.uint8, torch.int8]
DYNAMIC, LOWEST, HIGHEST = 5, 1, 7  # the size of axis 0 of dynamic models at first, and its limits

SMOOTH = [
    torch.sin, torch.cos, torch.tanh, torch.sigmoid, torch.relu, torch.abs, torch.neg, torch.square, torch.erf, torch.atan,
    F.gelu, F.silu, F.elu, F.leaky_relu, F.softplus, F.hardswish, F.hardsigmoid, F.mish, F.logsigmoid, F.selu,
    lambda x: F.gelu(x, approximate="tanh"), lambda x: x.clamp(-2, 1.5), lambda x: x.clamp(min=-0.5), lambda x: (x.abs() + 1).log(),
    lambda x: (x.abs() + 1).rsqrt(), lambda x: 1 / (x.abs() + 1), lambda x: (x.abs() + 1) ** 1.5, lambda x: x**2, lambda x: 2.0 ** x.tanh(),
    lambda x: x.tanh().exp(), lambda x: x * 2, lambda x: 3 - x, lambda x: x / 4, lambda x: x + 1, lambda x: torch.rsub(x, 2), lambda x: x.expm1().tanh(),
]  # fmt: skip
STEPS = [
    torch.floor, torch.ceil, torch.round, torch.sign, torch.trunc, torch.isnan, lambda x: x > 0, lambda x: x != 1, lambda x: x.to(torch.int64),
    lambda x: x.to(torch.int32), lambda x: x.bool(), lambda x: x // 0.75, lambda x: torch.fmod(x, 0.75), lambda x: torch.remainder(x, 0.75),
    lambda x: x.masked_fill(x > 0.5, -1.0), lambda x: torch.where(x > 0, x, 0.5), lambda x: torch.nan_to_num(x),
]  # fmt: skip
WHOLE = [
    lambda x: x + 3, lambda x: x * 2, lambda x: x - 1, lambda x: x // 2, lambda x: x % 3, lambda x: x / 2, lambda x: x > 1, lambda x: x == 2,
    lambda x: x & 6, lambda x: x | 1, lambda x: x ^ 3, lambda x: ~x, lambda x: x.float(), lambda x: x.to(torch.int32), lambda x: x.clamp(1, 4),
    lambda x: x * 0.5, lambda x: x + 1.5, lambda x: x.half(), lambda x: -x, lambda x: x.abs(), lambda x: x << 1, lambda x: x.bool(),
    lambda x: torch.where(x > 2, x, 0), lambda x: x.float().sin(), lambda x: torch.div(x, 3, rounding_mode="trunc"), lambda x: x**2,
]  # fmt: skip
TRUTHS = [torch.logical_not, lambda b: ~b, lambda b: b.float(), lambda b: b.long(), lambda b: b & b, lambda b: b * 2.5, lambda b: b + 1,
          lambda b: torch.where(b, 1.0, -1.0), lambda b: b.to(torch.uint8)]  # fmt: skip
PAIRS = [torch.add, torch.sub, torch.mul, torch.maximum, torch.minimum, lambda a, b: torch.where(a > 0, a, b), lambda a, b: a + 2 * b,
         lambda a, b: torch.add(a, b, alpha=3)]  # fmt: skip
REAL_PAIRS = [torch.atan2, lambda a, b: a / (b.abs() + 1), lambda a, b: (a.abs() + 1) ** b.clamp(-2, 2), lambda a, b: torch.lerp(a, b, 0.3),
              lambda a, b: torch.addcmul(a, a, b, value=0.5), lambda a, b: F.mse_loss(a, b, reduction="none")]  # fmt: skip
WHOLE_PAIRS = [lambda a, b: a // (b.abs() + 1), lambda a, b: a % (b.abs() + 1), torch.bitwise_and, torch.bitwise_or, torch.bitwise_xor]
ORDERS = [torch.lt, torch.le, torch.gt, torch.ge, torch.eq, torch.ne]


def axis_of(r, x, first=0):
    return r.randrange(first, x.dim())


def reduction(r, x, first):
    """Along one axis or several."""
    d, keep = axis_of(r, x, first), r.random() < 0.5
    dims = sorted(r.sample(range(first, x.dim()), r.randint(1, x.dim() - first)))
    choices = [lambda x: x.sum(d, keep), lambda x: x.amax(dims, keep), lambda x: x.amin(dims, keep), lambda x: x.sum(dims, keep), lambda x: x.cumsum(d),
               lambda x: x.flip(dims)]  # fmt: skip
    if x.is_floating_point():
        choices += [lambda x: x.mean(dims, keep), lambda x: x.softmax(d), lambda x: x.log_softmax(d), lambda x: x.logsumexp(d, keep),
                    lambda x: x.var(dims, unbiased=False, keepdim=keep), lambda x: torch.linalg.vector_norm(x, dim=dims, keepdim=keep),
                    lambda x: F.normalize(x, dim=d), lambda x: F.layer_norm(x, x.shape[-1:]), lambda x: x.prod(d, keep)]  # fmt: skip
    if x.dtype == torch.bool:
        choices = [lambda x: x.any(d, keep), lambda x: x.all(d, keep), lambda x: x.sum(d, keep), lambda x: x.any(), lambda x: x.cumsum(d)]
    return r.choice(choices)


def ranking(r, x, first):
    """What depends on an order, which must not hang on the last bit."""
    d, keep = axis_of(r, x, first), r.random() < 0.5
    k = r.randint(1, x.shape[d])
    return r.choice([lambda x: x.argmax(d, keep), lambda x: x.argmin(d), lambda x: x.topk(k, d)[0], lambda x: x.sort(d, descending=keep)[0],
                     lambda x: x.max(d)[0], lambda x: x.amax(d)])  # fmt: skip


def movement(r, x, first):
    d = axis_of(r, x, first)
    order = r.sample(range(x.dim()), x.dim())
    if first:
        order = [0] + r.sample(range(1, x.dim()), x.dim() - 1)
    size = x.shape[d]
    low = r.randrange(size)
    high, step = r.randint(low + 1, size), r.randint(1, 2)
    index = torch.tensor([r.randrange(size) for _ in range(r.randint(1, 4))])
    return r.choice([
        lambda x: x.permute(order), lambda x: x.unsqueeze(d), lambda x: x.narrow(d, low, high - low), lambda x: x[(slice(None),) * d + (slice(low, high, step),)],
        lambda x: x.select(d, low), lambda x: x.flatten(d), lambda x: torch.cat([x, x.flip(d)], d), lambda x: torch.stack([x, x], d),
        lambda x: x.roll(low + 1, d), lambda x: x.index_select(d, index), lambda x: x.unsqueeze(d).expand([-1] * d + [3] + [-1] * (x.dim() - d)),
        lambda x: x.repeat([1] * d + [2] + [1] * (x.dim() - 1 - d)), lambda x: x.repeat_interleave(2, d), lambda x: x.chunk(2, d)[0],
        lambda x: x.unbind(d)[-1], lambda x: x.unfold(d, 1 + low, 1), lambda x: F.pad(x, (1, 2)), lambda x: F.pad(x, (-1, 1)), lambda x: x.movedim(d, -1),
        lambda x: x[..., None], lambda x: x[(slice(None),) * d + (index,)], lambda x: x.swapaxes(d, -1), lambda x: x.clone(), lambda x: x.contiguous(),
        lambda x: x.split([low + 1, size - low - 1], d)[0], lambda x: torch.zeros_like(x) + x[..., :1], lambda x: x.tril() if x.dim() > 1 else x,
        lambda x: x.new_ones(3) * x[..., :1], lambda x: x.squeeze(d), lambda x: x.reshape(x.shape[0], -1), lambda x: x[..., ::2],
    ])  # fmt: skip


def layer(r, x, first):
    """With weights of its own."""
    c, wide = x.shape[-1], r.randint(1, 9)
    made = [nn.Linear(c, wide, bias=r.random() < 0.7), nn.LayerNorm(c)]
    if x.dim() == 3:
        k = r.randint(1, min(3, c))
        made += [nn.Conv1d(x.shape[1], wide, k, padding=r.randint(0, 1)), nn.GroupNorm(1, x.shape[1]), nn.ConvTranspose1d(x.shape[1], wide, 3, stride=2),
                 nn.GRU(c, 4, batch_first=True), nn.MultiheadAttention(c, 1, batch_first=True), nn.BatchNorm1d(x.shape[1])]  # fmt: skip
    if x.dim() == 4:
        made += [nn.Conv2d(x.shape[1], wide, (1, 1)), nn.Conv2d(x.shape[1], x.shape[1], (min(3, x.shape[2]), 1), groups=x.shape[1]), nn.BatchNorm2d(x.shape[1]),
                 nn.AdaptiveAvgPool2d(1), nn.MaxPool2d(2, ceil_mode=True), nn.AvgPool2d((1, 2)), nn.InstanceNorm2d(x.shape[1]), nn.Upsample(scale_factor=2.0),
                 nn.Upsample(scale_factor=2.0, mode="bilinear"), nn.ReflectionPad2d(1)]  # fmt: skip
    return r.choice(made).to(x.dtype).eval()


def product(r, x, first):
    if x.dim() < 2:
        return lambda x: torch.outer(x, x)
    return r.choice([lambda x: x @ x.transpose(-1, -2), lambda x: x.transpose(-1, -2) @ x, lambda x: F.scaled_dot_product_attention(x, x, x),
                     lambda x: F.scaled_dot_product_attention(x, x, x, is_causal=True), lambda x: torch.einsum("...ij,...kj->...ik", x, x * 2)])  # fmt: skip


class Drawn(nn.Module):
    def __init__(self, seed: int):
        super().__init__()
        self.r, self.layers, self.steps = random.Random(seed), nn.ModuleList(), []
        torch.manual_seed(seed)
        self.first = 1 if self.r.random() < 0.35 else 0  # the first axis that is not dynamic
        self.inputs = tuple(self.input() for _ in range(self.r.randint(1, 2)))
        self.values = [(x, True) for x in self.inputs]  # and whether they are exact
        while len(self.steps) < self.r.randint(2, 6):
            self.grow()
        del self.values

    def input(self) -> torch.Tensor:
        r, dtype = self.r, self.r.choice(DTYPES)
        shape = [r.randint(1, 6) for _ in range(r.randint(1 + self.first, 4))]
        if self.first:
            shape[0] = DYNAMIC
        if dtype == torch.bool:
            return torch.rand(shape) > 0.5
        return torch.randn(shape).to(dtype) if dtype.is_floating_point else torch.randint(0, 9, shape).to(dtype)

    def choose(self, x, exact):
        """A function of a value, and whether it keeps it exact."""
        r, real, deep = self.r, x.is_floating_point(), x.dim() > self.first
        choices = [(lambda: movement(r, x, self.first), exact)] * 3 * deep
        if x.dtype == torch.bool:
            choices += [(lambda: r.choice(TRUTHS), exact)] * 2
        elif real:
            choices += [(lambda: r.choice(SMOOTH), False)] * 3 + [(lambda: r.choice(STEPS), True)] * 2 * exact
            choices += [(lambda: layer(r, x, self.first), False)] * 2 * deep + [(lambda: product(r, x, self.first), False)] * deep
        else:
            choices += [(lambda: r.choice(WHOLE), exact)] * 3
        if deep and (exact or real):
            choices += [(lambda: reduction(r, x, self.first), exact and not real)] * 2
        if deep and exact and x.dtype != torch.bool and x.unique().numel() == x.numel():
            choices += [(lambda: ranking(r, x, self.first), True)]
        draw, keeps = r.choice(choices)
        return draw(), keeps

    def grow(self):
        """One step more, if torch can do it."""
        r = self.r
        (at, (x, exact)), other = r.choice(list(enumerate(self.values))), r.randrange(len(self.values))
        y, other_exact = self.values[other]
        try:
            if r.random() < 0.3:
                real, whole = x.is_floating_point() and y.is_floating_point(), not (x.is_floating_point() or y.is_floating_point())
                choices = PAIRS + (REAL_PAIRS if real else []) + (ORDERS if exact and other_exact else []) + (WHOLE_PAIRS if whole and exact and other_exact else [])
                function, keeps = r.choice(choices), False
                if torch.bool in (x.dtype, y.dtype):
                    function = r.choice([torch.mul, torch.logical_and, torch.logical_xor])
                self.take(function, (at, other), keeps)
            else:
                function, keeps = self.choose(x, exact)
                self.take(function, (at,), keeps)
        except (RuntimeError, ValueError, TypeError, IndexError, NotImplementedError, AssertionError):
            return

    def take(self, function, places, exact):
        with torch.no_grad():
            out = function(*((self.values[i][0] for i in places) if not isinstance(function, nn.MultiheadAttention) else [self.values[places[0]][0]] * 3))
        out = out[0] if isinstance(out, tuple) else out
        if not 0 < out.numel() < 4096 or (out.is_floating_point() and not (out.abs() < 1e3).all()) or out.dim() > 6 or out.dtype == torch.float64:
            return
        if not out.is_floating_point() and out.dtype != torch.bool and out.abs().max() > 10**6:
            return
        if self.first and (out.dim() == 0 or out.shape[0] != DYNAMIC):
            exact = False
            if out.dim():  # nothing may be built on an axis that has moved
                return
        if isinstance(function, nn.Module):
            self.layers.append(function)
        self.steps.append((function, places))
        self.values.append((out, exact))

    def forward(self, *inputs):
        values = list(inputs)
        for function, places in self.steps:
            given = [values[i] for i in places]
            out = function(*(given * 3 if isinstance(function, nn.MultiheadAttention) else given))
            values.append(out[0] if isinstance(out, tuple) else out)
        return tuple(values[len(inputs) :])


def drawn(seed: int) -> Sample:
    module = Drawn(seed).eval()
    dynamic = tuple({0: (LOWEST, HIGHEST)} for _ in module.inputs) if module.first else None
    return Sample(f"random {seed}", lambda: Drawn(seed).eval(), module.inputs, dynamic, whole=False)
