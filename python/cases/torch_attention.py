# SPDX-License-Identifier: BSD-3-Clause
"""Attention as torch has it: masks of numbers or of truth values, causal, scaled, with heads that share keys."""
import torch
import torch.nn.functional as F

from cases.case import boolean, case, dim, f16, f32

s, t = dim("s", 1, 9), dim("t", 1, 5)
LIVE = [{"s": 4, "t": 3}, {"s": 1, "t": 1}, {"s": 1, "t": 5}]
SDPA = "aten.scaled_dot_product_attention.default"


def attend(name, q, k, v, mask=None, causal=False, scale=None, gqa=False, **rest):
    def function(q, k, v, *mask):
        return F.scaled_dot_product_attention(q, k, v, *mask, is_causal=causal, scale=scale, enable_gqa=gqa)

    def draw(g, q, k, v, mask=None):
        return g.call(SDPA, q, k, v, mask, 0.0, causal, scale, gqa, out=g.tensor(dtype, *g.shape(q)[:-1], g.shape(v)[-1]))

    dtype = q.dtype
    inputs = [q, k, v] if mask is None else [q, k, v, mask]
    module = (lambda q, k, v: function(q, k, v)) if mask is None else (lambda q, k, v, mask: function(q, k, v, mask))
    return case(f"aten_sdpa/{name}", module, *inputs, graph=draw, expect_ops=SDPA, **rest)


def masked(q, k, v, mask):
    return F.scaled_dot_product_attention(q, k, v, mask)


def causal(q, k, v):
    return F.scaled_dot_product_attention(q, k, v, is_causal=True)


def exported(name, function, *inputs, **rest):
    """As the partitioner takes it."""
    return case(f"aten_sdpa/{name}", function, *inputs, expect_ops=SDPA, own=True, **rest)


def some_hidden(shape):
    """Every query sees a key, but the first one of each head none."""
    mask = torch.rand(shape, generator=torch.Generator().manual_seed(sum(shape))) < 0.6
    mask[..., 0] = True
    mask[..., 0, :] = False
    return mask


def some_far(shape):
    """As numbers, with a query that sees nothing."""
    return torch.zeros(shape).masked_fill(~some_hidden(shape), -float("inf"))


def band(shape):
    return torch.ones(shape, dtype=torch.bool).tril(2)


HEADS = f32(2, 3, 5, 8)
CASES = [
    attend("plain", HEADS, f32(2, 3, 7, 8), f32(2, 3, 7, 8)),
    attend("odd", f32(1, 3, 5, 7), f32(1, 3, 11, 7), f32(1, 3, 11, 5)),
    attend("causal", HEADS, HEADS, HEADS, causal=True),
    attend("causal_more_keys", HEADS, f32(2, 3, 9, 8), f32(2, 3, 9, 6), causal=True),
    attend("causal_fewer_keys", HEADS, f32(2, 3, 3, 8), f32(2, 3, 3, 8), causal=True),
    attend("scaled", HEADS, HEADS, HEADS, scale=0.3),
    attend("mask", HEADS, f32(2, 3, 7, 8), f32(2, 3, 7, 8), mask=f32(5, 7)),
    attend("mask_of_keys", HEADS, f32(2, 3, 7, 8), f32(2, 3, 7, 8), mask=f32(2, 1, 1, 7)),
    attend("mask_with_infinities", HEADS, f32(2, 3, 7, 8), f32(2, 3, 7, 8), mask=f32(1, 1, 5, 7, fill=some_far)),
    attend("boolean_mask", HEADS, f32(2, 3, 7, 8), f32(2, 3, 7, 8), mask=boolean(2, 1, 5, 7, fill=some_hidden)),
    attend("boolean_mask_of_heads", f32(1, 3, 5, 8), f32(1, 3, 7, 8), f32(1, 3, 7, 8), mask=boolean(3, 5, 7, fill=some_hidden)),
    attend("boolean_mask_long", f32(1, 2, 2, 8), f32(1, 2, 301, 8), f32(1, 2, 301, 8), mask=boolean(1, 1, 2, 301, fill=some_hidden)),
    attend("boolean_mask_long_odd", f32(1, 2, 2, 6), f32(1, 2, 301, 6), f32(1, 2, 301, 6), mask=boolean(2, 301, fill=some_hidden)),
    attend("many_queries", f32(1, 2, 70, 8), f32(1, 2, 70, 8), f32(1, 2, 70, 8), mask=boolean(70, 70, fill=some_hidden)),
    attend("grouped", f32(2, 6, 5, 8), f32(2, 2, 7, 8), f32(2, 2, 7, 8), gqa=True),
    attend("grouped_causal", f32(1, 4, 6, 8), f32(1, 1, 6, 8), f32(1, 1, 6, 8), gqa=True, causal=True),
    attend("half", f16(1, 2, 5, 8), f16(1, 2, 7, 8), f16(1, 2, 7, 8)),
    attend("three_axes", f32(3, 5, 8), f32(3, 7, 8), f32(3, 7, 8)),
    attend("dynamic", f32(1, 2, s, 8), f32(1, 2, t, 8), f32(1, 2, t, 8), mask=boolean(s, t, fill=band), live=LIVE),
    attend("dynamic_causal", f32(1, 2, s, 8), f32(1, 2, s, 8), f32(1, 2, s, 8), causal=True, live=[4, 1]),
    exported("exported", masked, HEADS, f32(2, 3, 7, 8), f32(2, 3, 7, 8), boolean(2, 1, 5, 7, fill=some_hidden)),
    exported("exported_dynamic", causal, f32(1, 2, s, 8), f32(1, 2, s, 8), f32(1, 2, s, 8), live=[4, 1]),
]  # fmt: skip
