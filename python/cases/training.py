# SPDX-License-Identifier: BSD-3-Clause
"""What fine-tuning needs: the loss with its gradient, gradients of linears, an optimiser's step, new 4-bit weights.
Goldens come from torch's autograd and torch.optim."""
import torch
from torch import nn
from torch.nn import functional as F

from cases.case import case, dim, f32, i32
from cases.graph import Graph, Value

s = dim("s", 1, 9)
VK = torch.ops.et_vk

LOSS, WEIGHT_GRADIENT = "et_vk.fused_ce.default", "et_vk.linear_dW.default"
INPUT_GRADIENT, REQUANT, STEP = "et_vk.linear_q4gsw_backward.default", "et_vk.q4gsw_requant.default", "et_vk.adamw_step.default"


def gradients(function, *tensors):
    """The result, and its gradients."""
    with torch.enable_grad():
        leaves = [t.detach().requires_grad_() for t in tensors]
        result = function(*leaves)
        return result, torch.autograd.grad(result.sum() if result.dim() else result, leaves)


def loss(name, logits, labels, count, **rest):
    def reference(x, y):
        value, (gradient,) = gradients(lambda x: F.cross_entropy(x, y.long(), ignore_index=-1, reduction="sum") / count, x)
        return value, gradient

    return case(f"fused_ce/{name}", lambda x, y: VK.fused_ce(x, y, count), logits, labels, reference=reference,
                expect_ops=LOSS, atol=1e-6, rtol=1e-4, **rest)


LOSSES = [
    loss("odd", f32(5, 7), i32(5, low=0, high=7), 5.0),
    loss("ignored_rows", f32(5, 11), i32(of=[3, -1, 0, 10, -1]), 3.0),
    loss("all_ignored", f32(2, 5), i32(of=[-1, -1]), 1.0),
    loss("one_row", f32(1, 1031), i32(of=[1030]), 1.0),
    loss("large_logits", f32(3, 9, low=-99, high=99), i32(3, low=0, high=9), 3.0),
    loss("dynamic", f32(s, 12), i32(s, low=0, high=12), 4.0, live=[4, 1], beyond=True),
]


def weight_gradient(name, dy, x, **rest):
    def reference(x, y):
        """Of a linear whose result has the gradient x."""
        weight = torch.zeros(x.shape[-1], y.shape[-1], dtype=y.dtype)
        return gradients(lambda w: (F.linear(y, w) * x).sum(), weight)[1][0]

    return case(f"linear_dw/{name}", lambda x, y: VK.linear_dW(x, y), dy, x, reference=reference,
                expect_ops=WEIGHT_GRADIENT, **rest)


WEIGHT_GRADIENTS = [
    weight_gradient("odd", f32(5, 7), f32(5, 3)),
    weight_gradient("fours", f32(8, 12), f32(8, 16)),
    weight_gradient("one_row", f32(1, 7), f32(1, 5)),
    weight_gradient("batch", f32(2, 3, 5), f32(2, 3, 4)),
    weight_gradient("tiles", f32(37, 66), f32(37, 35)),
    weight_gradient("dynamic", f32(s, 6), f32(s, 5), live=[4, 1], beyond=True),
]


class Packed(nn.Module):
    """4-bit weights [columns, depth], the even value of a byte in its low half, with scales [groups, columns]."""

    def __init__(self, depth, columns, group, exact=False):
        super().__init__()
        self.register_buffer("weight", torch.randint(0, 256, (columns, depth // 2), dtype=torch.uint8))
        self.register_buffer("scales", torch.rand(depth // group, columns) * 0.1 + 0.01)
        self.group, self.exact = group, exact

    def forward(self, x):
        if not self.exact:
            return VK.linear_q4gsw_backward(x, self.weight, self.scales, self.group)
        values = torch.stack([self.weight & 15, self.weight >> 4], -1).flatten(1).double() - 8
        weight = values * self.scales.double().t().repeat_interleave(self.group, 1)
        inputs = torch.zeros(*x.shape[:-1], weight.shape[1], dtype=x.dtype)
        return gradients(lambda i: (F.linear(i, weight) * x).sum(), inputs)[1][0]


def input_gradient(name, depth, columns, group, dy, **rest):
    return case(f"linear_q4gsw_backward/{name}", lambda: Packed(depth, columns, group), dy, expect_ops=INPUT_GRADIENT,
                reference=lambda: Packed(depth, columns, group, exact=True), beyond=True, **rest)


INPUT_GRADIENTS = [
    input_gradient("one_row", 64, 12, 32, f32(1, 12)),
    input_gradient("odd_columns", 32, 7, 8, f32(5, 7)),
    input_gradient("small_groups", 16, 8, 4, f32(3, 8)),
    input_gradient("batch", 24, 8, 24, f32(2, 3, 8)),
    input_gradient("dynamic", 64, 12, 32, f32(s, 12), live=[4, 1]),
]


def requantized(name, columns, depth, group, zero_scale=False, **rest):
    def scales(shape):
        values = torch.rand(shape, generator=torch.Generator().manual_seed(2)) * 0.3 + 0.05
        return values * (torch.arange(shape[1]) > 0) if zero_scale else values

    def reference(x, y):
        whole = torch.arange(depth) // group
        codes = torch.nan_to_num(x / y.t()[:, whole], nan=0, posinf=0, neginf=0).round().clamp(-8, 7).long() + 8
        codes = F.pad(codes, (0, depth % 2))
        high = codes[:, 1::2] * (torch.arange(codes.shape[1] // 2) * 2 + 1 < depth)
        return (codes[:, ::2] + 16 * high).to(torch.uint8)

    return case(f"q4gsw_requant/{name}", lambda x, y: VK.q4gsw_requant(x, y, group), f32(columns, depth),
                f32(-(-depth // group), columns, fill=scales), reference=reference, expect_ops=REQUANT, beyond=True, **rest)


REQUANTS = [
    requantized("groups", 8, 32, 8),
    requantized("one_group", 5, 12, 12),
    requantized("odd_depth", 3, 7, 4),
    requantized("scale_of_zero", 4, 8, 4, zero_scale=True),
    requantized("tiles", 33, 64, 32),
]

BETAS, EPS = (0.9, 0.99), 1e-8


def adamw(rate, decay, steps):
    """A step of torch.optim.AdamW at a given count of steps; the moments are inputs."""

    def step(p, m, v, g):
        with torch.enable_grad():
            leaf = nn.Parameter(p.detach().clone())
            optimizer = torch.optim.AdamW([leaf], rate, BETAS, EPS, decay)
            leaf.grad = g.detach().clone()
            count = torch.tensor(float(steps - 1))
            optimizer.state[leaf] = {"step": count, "exp_avg": m.detach().clone(), "exp_avg_sq": v.detach().clone()}
            optimizer.step()
        state = optimizer.state[leaf]
        return leaf.detach(), state["exp_avg"], state["exp_avg_sq"]

    return step


def stepped(name, *shape, rate=0.01, decay=0.1, steps=1, **rest):
    corrections = [1 - beta**steps for beta in BETAS]

    def meaning(p, m, v, g):
        m = BETAS[0] * m + (1 - BETAS[0]) * g
        v = BETAS[1] * v + (1 - BETAS[1]) * g * g
        p = p * (1 - rate * decay) - rate * (m / corrections[0]) / ((v / corrections[1]).sqrt() + EPS)
        return p, m, v

    def draw(g: Graph, *inputs: Value):
        out = [g.tensor(torch.float32, *g.shape(inputs[0])) for _ in range(3)]
        g.call(STEP, *inputs, rate, *BETAS, EPS, decay, *corrections, out=out)
        p, m, v = out
        return m, v, p  # in the order in which torch's program has them

    tensors = [f32(*shape), f32(*shape), f32(*shape, low=0, high=1), f32(*shape)]
    return case(f"adamw_step/{name}", meaning, *tensors, graph=draw, reference=adamw(rate, decay, steps),
                expect_ops=STEP, atol=1e-6, rtol=1e-5, **rest)


STEPS = [
    stepped("odd", 3, 7),
    stepped("first_of_many", 67, rate=0.001, decay=0.0),
    stepped("later", 5, 3, steps=20),
    stepped("whole_numbers", 4, 4, rate=1.0, decay=1.0, steps=3),
    stepped("rank0"),
]

CASES = LOSSES + WEIGHT_GRADIENTS + INPUT_GRADIENTS + REQUANTS + STEPS
