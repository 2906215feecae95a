# SPDX-License-Identifier: BSD-3-Clause
"""Attention over caches that the program keeps between calls."""
import math

import torch
from executorch.extension.llm.custom_ops import custom_ops  # noqa: F401  the llama ops
from torch import nn

from cases.case import case, dim, f32, i64

s = dim("s", 1, 9)

ATTENTION, UPDATE = "sdpa_with_kv_cache.default", "update_cache.default"


def start_of(position, count, capacity):
    start = position[-1].item()
    torch._check_is_size(start)
    torch._check(start + count <= capacity)
    return start


class Caches(nn.Module):
    def __init__(self, heads: int, width: int, capacity: int, scale: float | None = None, filled=False, batch=1):
        super().__init__()
        make = torch.randn if filled else torch.zeros
        self.register_buffer("k_cache", make(batch, capacity, heads, width))
        self.register_buffer("v_cache", make(batch, capacity, heads, width))
        self.capacity, self.scale = capacity, scale


class Fused(Caches):
    """One op that writes the caches and attends."""

    def forward(self, q, k, v, position):
        start = start_of(position, q.shape[1], self.capacity)
        return torch.ops.llama.sdpa_with_kv_cache(
            q, k, v, self.k_cache, self.v_cache, start, q.shape[1], None, 0.0, True, self.scale
        )


class Separate(Caches):
    """As in ExecuTorch's Llama; the exporter makes one op of it."""

    def forward(self, q, k, v, position):
        start = start_of(position, q.shape[1], self.capacity)
        torch.ops.llama.update_cache(k, self.k_cache, start)
        torch.ops.llama.update_cache(v, self.v_cache, start)
        return torch.ops.llama.custom_sdpa(q, self.k_cache, self.v_cache, start, None, 0, True, self.scale)


def attend(q, keys, values, start: int, scale: float | None):
    """Query i sees the keys up to start + i. [batch, position, head, width]."""
    queries, heads, width = q.shape[1:]
    repeat = heads // keys.shape[2]
    keys, values = (x[:, : start + queries].repeat_interleave(repeat, 2) for x in (keys, values))
    scores = torch.einsum("bqhd,bkhd->bhqk", q, keys) * (scale or 1 / math.sqrt(width))
    visible = torch.ones(queries, start + queries, dtype=torch.bool).tril(start)
    weights = scores.masked_fill(~visible, -torch.inf).softmax(-1)
    return torch.einsum("bhqk,bkhd->bqhd", weights, values)


class Reference(Caches):
    def forward(self, q, k, v, position):
        start = int(position[-1])
        self.k_cache[:, start : start + q.shape[1]] = k
        self.v_cache[:, start : start + q.shape[1]] = v
        return attend(q, self.k_cache, self.v_cache, start, self.scale)


def attention(
    name, module, heads, kv_heads, width, capacity, steps, *, batch=1, most=s, scale=None, filled=False, high=2, **rest
):
    """Steps are (tokens, position)."""

    def values(heads):
        return f32(batch, most, heads, width, low=-high, high=high)

    def make(kind):
        return lambda: kind(kv_heads, width, capacity, scale, filled, batch)

    size = most.__name__ if not isinstance(most, int) else None
    return case(
        f"sdpa/{name}", make(module), values(heads), values(kv_heads), values(kv_heads), i64(of=[0]),
        steps=[({size: tokens} if size else {}) | {"position": [start]} for tokens, start in steps],
        reference=make(Reference), expect_ops=ATTENTION, **rest,
    )


class TwoLayers(nn.Module):
    """Caches that begin with the same bytes must not share memory."""

    def __init__(self, layer):
        super().__init__()
        self.first, self.second = layer(2, 8, 12), layer(2, 8, 12)

    def forward(self, q, k, v, position):
        return self.second(self.first(q, k, v, position), v, k, position)


CHAT = [(5, 0), (1, 5), (3, 6), (1, 9), (6, 10)]
LONG = [(70, 0), (1, 70), (4, 71), (5, 75), (3, 80), (1, 83), (60, 84), (1, 144), (2, 148)]

CASES = [
    attention("prefill_and_decode", Fused, 6, 2, 8, 16, CHAT),
    attention("separate_ops", Separate, 6, 2, 8, 16, CHAT),
    attention("no_groups", Fused, 3, 3, 16, 16, CHAT),
    attention("one_kv_head", Separate, 5, 1, 4, 16, CHAT),
    attention("width_6", Fused, 4, 2, 6, 16, CHAT),
    attention("width_5", Fused, 2, 1, 5, 16, CHAT),
    attention("width_1", Fused, 2, 2, 1, 16, CHAT),
    attention("width_130", Fused, 2, 1, 130, 10, [(3, 0), (1, 3), (4, 4)]),
    attention("scale", Separate, 4, 2, 8, 16, CHAT, scale=0.75),
    attention("large_scores", Fused, 4, 2, 8, 16, CHAT, high=40),
    attention("context_full", Fused, 2, 1, 8, 9, [(9, 0), (1, 8), (8, 1), (9, 0)]),
    # Back to an earlier position: what was behind it must not be seen again.
    attention("rewound", Separate, 4, 2, 8, 16, [(9, 0), (1, 9), (3, 2), (1, 5), (2, 0)]),
    attention("filled_caches", Fused, 4, 2, 8, 16, [(2, 7), (1, 15), (9, 0)], filled=True),
    attention("long_context", Fused, 4, 2, 8, 150, LONG, most=dim("s", 1, 70)),
    attention("long_context_width_6", Separate, 2, 1, 6, 150, LONG, most=dim("s", 1, 70)),
    attention("one_token", Fused, 6, 2, 8, 16, [(1, 0), (1, 1), (1, 15), (1, 2)], most=1),
    attention("three_tokens", Separate, 6, 2, 8, 16, [(3, 0), (3, 3), (3, 13)], most=3),
    attention("two_batches", Separate, 6, 2, 6, 16, CHAT, batch=2),
    attention("force_fp16", Fused, 6, 2, 8, 16, CHAT, compile={"force_fp16": True}),
    case("sdpa/two_layers", lambda: TwoLayers(Separate), f32(1, s, 4, 8), f32(1, s, 2, 8), f32(1, s, 2, 8), i64(of=[0]),
         steps=[{"s": 5, "position": [0]}, {"s": 1, "position": [5]}, {"s": 6, "position": [6]}],
         reference=lambda: TwoLayers(Reference), expect_ops=ATTENTION),
]


def with_caches_as_inputs(q, k, v, k_cache, v_cache):
    return torch.ops.llama.sdpa_with_kv_cache(q, k, v, k_cache, v_cache, 3, q.shape[1], None, 0.0, True, None)


def reference_with_caches_as_inputs(q, k, v, k_cache, v_cache):
    for cache, new in ((k_cache, k), (v_cache, v)):
        cache[:, 3 : 3 + q.shape[1]] = new
    return attend(q, k_cache, v_cache, 3, None)


CASES.append(
    case("sdpa/caches_are_inputs", with_caches_as_inputs, f32(1, 5, 6, 6), f32(1, 5, 2, 6), f32(1, 5, 2, 6),
         f32(1, 9, 2, 6), f32(1, 9, 2, 6), reference=reference_with_caches_as_inputs, expect_ops=ATTENTION)
)


class Update(nn.Module):
    def __init__(self, capacity: int, heads: int, width: int, start: int | None = None, batch: int = 1):
        super().__init__()
        self.register_buffer("cache", torch.randn(batch, capacity, heads, width))
        self.capacity, self.start = capacity, start

    def forward(self, value, position):
        start = start_of(position, value.shape[1], self.capacity)
        torch.ops.llama.update_cache(value, self.cache, start)
        return self.cache * 1.5


def update_input(start):
    return lambda value, cache: torch.ops.llama.update_cache(value, cache, start)


CASES += [
    case("update_cache/odd", lambda: Update(16, 3, 5), f32(1, s, 3, 5), i64(of=[0]),
         steps=[{"s": tokens, "position": [start]} for tokens, start in CHAT], expect_ops=UPDATE),
    case("update_cache/one_token", lambda: Update(7, 2, 4), f32(1, 1, 2, 4), i64(of=[0]),
         steps=[{"position": [start]} for start in (0, 6, 3, 4)], expect_ops=UPDATE),
    case("update_cache/two_batches", lambda: Update(9, 2, 3, batch=2), f32(2, s, 2, 3), i64(of=[0]),
         steps=[{"s": 5, "position": [0]}, {"s": 1, "position": [5]}, {"s": 4, "position": [2]}], expect_ops=UPDATE),
    case("update_cache/force_fp16", lambda: Update(9, 2, 3), f32(1, s, 2, 3), i64(of=[0]),
         steps=[{"s": 5, "position": [0]}, {"s": 1, "position": [5]}], expect_ops=UPDATE, compile={"force_fp16": True}),
    case("update_cache/input_from_start", update_input(0), f32(1, 3, 2, 5), f32(1, 9, 2, 5), output_unspecified=True,
         expect_ops=UPDATE),
    case("update_cache/input_to_end", update_input(4), f32(1, 5, 1, 7), f32(1, 9, 1, 7), output_unspecified=True,
         expect_ops=UPDATE),
]
