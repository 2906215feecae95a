# SPDX-License-Identifier: BSD-3-Clause
"""Attention, its caches, and interleaved rotary embeddings."""
import math

import torch
from torch import nn

from cases.case import case, dim, f16, f32, i64

s, c = dim("s", 1, 9), dim("c", 1, 70)

SDPA, CACHED = "et_vk.sdpa.default", "sdpa_with_kv_cache.default"
UPDATE, ROTARY = "update_cache.default", "et_vk.apply_rotary_emb_interleaved.default"

HALF = {"compile": {"force_fp16": True}}


def some_hidden(shape):
    """A mask that hides about half of the keys, but never all of them."""
    generator = torch.Generator().manual_seed(sum(shape))
    hidden = torch.rand(shape, generator=generator) < 0.5
    hidden[..., 0] = False
    return torch.zeros(shape).masked_fill(hidden, -float("inf"))


def sdpa(q, k, v):
    return torch.ops.et_vk.sdpa(q, k, v)


def sdpa_scaled(q, k, v):
    return torch.ops.et_vk.sdpa(q, k, v, None, 1.0)


def sdpa_masked(q, k, v, mask):
    return torch.ops.et_vk.sdpa(q, k, v, mask, 0.25)


def heads(*shape, **values):
    return f32(2, 3, *shape, **values)


class Cached(nn.Module):
    """Writes keys and values into caches, then attends over them, as Llamas do."""

    def __init__(self, batch=1, capacity=11, kv_heads=2, width=6, scale=None):
        super().__init__()
        self.scale = scale
        self.register_buffer("k_cache", torch.zeros(batch, capacity, kv_heads, width))
        self.register_buffer("v_cache", torch.zeros(batch, capacity, kv_heads, width))

    def forward(self, q, k, v, position):
        start = position[0].item()
        torch._check_is_size(start)
        torch._check(start + k.shape[1] <= self.k_cache.shape[1])
        torch._check(start < self.k_cache.shape[1])
        torch.ops.llama.update_cache(k, self.k_cache, start)
        torch.ops.llama.update_cache(v, self.v_cache, start)
        return torch.ops.llama.custom_sdpa(q, self.k_cache, self.v_cache, start, None, 0.0, True, self.scale)


class CachedReference(Cached):
    def forward(self, q, k, v, position):
        start, count, groups = int(position[0]), q.shape[1], q.shape[2] // k.shape[2]
        self.k_cache[:, start : start + count] = k
        self.v_cache[:, start : start + count] = v
        keys, values = (
            cache[:, : start + count].transpose(1, 2).repeat_interleave(groups, 1)
            for cache in (self.k_cache, self.v_cache)
        )
        scores = q.transpose(1, 2) @ keys.transpose(-1, -2) * (self.scale or 1 / math.sqrt(q.shape[-1]))
        hidden = torch.arange(start + count)[None] > torch.arange(count)[:, None] + start
        scores = scores.masked_fill(hidden, -float("inf"))
        return (scores.softmax(-1) @ values).transpose(1, 2)


def cached_case(name, steps, heads=4, batch=1, positions=s, spec=f32, half=False, **options):
    settings = {"kv_heads": 2, "width": 6, "batch": batch} | options
    rest = {key: settings.pop(key) for key in ("compile",) if key in settings}
    make = (lambda: Cached(**settings).half()) if half else lambda: Cached(**settings)
    q = spec(batch, positions, heads, settings["width"])
    kv = spec(batch, positions, settings["kv_heads"], settings["width"])
    return case(
        f"sdpa_with_kv_cache/{name}", make, q, kv, kv, i64(1, low=0, high=1),
        steps=steps, reference=lambda: CachedReference(**settings), expect_ops=CACHED,
        edge={"_check_ir_validity": False, "_skip_dim_order": True}, **rest,
    )  # fmt: skip


def at(position, **sizes):
    return {"position": [position], **sizes}


DECODE = [at(0, s=5), at(5, s=1), at(6, s=1), at(7, s=4)]


class Update(nn.Module):
    """A cache of its own, from which it reads back."""

    def __init__(self, batch=1, capacity=9, heads=2, width=3):
        super().__init__()
        self.register_buffer("cache", torch.randn(batch, capacity, heads, width))

    def forward(self, value, position):
        start = position[0].item()
        torch._check_is_size(start)
        torch._check(start + value.shape[1] <= self.cache.shape[1])
        torch._check(start < self.cache.shape[1])
        torch.ops.llama.update_cache(value, self.cache, start)
        return self.cache + self.cache


class UpdateReference(Update):
    def forward(self, value, position):
        start = int(position[0])
        self.cache[:, start : start + value.shape[1]] = value
        return self.cache + self.cache


def update_case(name, steps, batch=1, positions=s, **rest):
    return case(
        f"update_cache/{name}", lambda: Update(batch), f32(batch, positions, 2, 3), i64(1, low=0, high=1),
        reference=lambda: UpdateReference(batch), steps=steps, expect_ops=UPDATE, **rest,
    )  # fmt: skip


def rotate(x, angles):
    return torch.ops.et_vk.apply_rotary_emb_interleaved(x, angles)


def rotate_reference(x, angles):
    batch, positions, width = x.shape
    pairs = torch.view_as_complex(x.reshape(batch, positions, width // 2, 2).contiguous())
    turns = torch.view_as_complex(angles.reshape(positions, width // 2, 2).contiguous())
    return torch.view_as_real(pairs * turns).reshape(x.shape)


def rotary_case(name, x, angles, **rest):
    return case(f"rotary_interleaved/{name}", rotate, x, angles, reference=rotate_reference, expect_ops=ROTARY, **rest)


CASES = [
    case("et_vk_sdpa/odd", sdpa, heads(5, 7), heads(11, 7), heads(11, 7), expect_ops=SDPA),
    case("et_vk_sdpa/one_query", sdpa, heads(1, 6), heads(131, 6), heads(131, 6), expect_ops=SDPA),
    case("et_vk_sdpa/scale_one", sdpa_scaled, heads(5, 6), heads(5, 6), heads(5, 6), expect_ops=SDPA),
    case("et_vk_sdpa/wide_values", sdpa, heads(5, 7), heads(11, 7), heads(11, 3), expect_ops=SDPA),
    case("et_vk_sdpa/no_batch", sdpa, f32(3, 5, 7), f32(3, 11, 7), f32(3, 11, 7), expect_ops=SDPA),
    case("et_vk_sdpa/one_head", sdpa, f32(5, 7), f32(11, 7), f32(11, 7), expect_ops=SDPA),
    case("et_vk_sdpa/five_axes", sdpa, f32(2, 2, 3, 5, 7), f32(2, 2, 3, 6, 7), f32(2, 2, 3, 6, 7), expect_ops=SDPA,
         beyond=True),
    case("et_vk_sdpa/mask", sdpa_masked, heads(5, 7), heads(11, 7), heads(11, 7), heads(5, 11, fill=some_hidden),
         expect_ops=SDPA),
    case("et_vk_sdpa/mask_for_all_heads", sdpa_masked, heads(5, 7), heads(11, 7), heads(11, 7),
         f32(2, 1, 5, 11, fill=some_hidden), expect_ops=SDPA),
    case("et_vk_sdpa/mask_for_all_batches", sdpa_masked, heads(5, 7), heads(11, 7), heads(11, 7),
         f32(3, 5, 11, fill=some_hidden), expect_ops=SDPA),
    case("et_vk_sdpa/mask_for_all", sdpa_masked, heads(5, 7), heads(11, 7), heads(11, 7),
         f32(5, 11, fill=some_hidden), expect_ops=SDPA),
    case("et_vk_sdpa/mask_for_all_queries", sdpa_masked, heads(5, 7), heads(11, 7), heads(11, 7),
         f32(2, 1, 1, 11, fill=some_hidden), expect_ops=SDPA),
    case("et_vk_sdpa/all_hidden", sdpa_masked, heads(2, 7), heads(3, 7), heads(3, 7),
         f32(of=[[0, 0, -float("inf")], [-float("inf")] * 3]), expect_ops=SDPA),
    case("et_vk_sdpa/all_far_down", sdpa_masked, heads(2, 7), heads(3, 7), heads(3, 7),
         f32(of=[[0, 0, -1e9], [torch.finfo(torch.float32).min] * 3]), reference=lambda q, k, v, mask:
         torch.ops.et_vk.sdpa(q, k, v, mask.clamp(min=-1e30), 0.25), expect_ops=SDPA),
    case("et_vk_sdpa/dynamic", sdpa, f32(1, 2, s, 6), f32(1, 2, c, 6), f32(1, 2, c, 6),
         live=[{"s": 4, "c": 66}, {"s": 1, "c": 1}, {"s": 9, "c": 3}, {"s": 1, "c": 70}], expect_ops=SDPA),
    case("et_vk_sdpa/dynamic_mask", sdpa_masked, f32(1, 2, s, 6), f32(1, 2, c, 6), f32(1, 2, c, 6),
         f32(s, c, fill=some_hidden), live=[{"s": 4, "c": 66}, {"s": 1, "c": 1}], expect_ops=SDPA),
    case("et_vk_sdpa/half", sdpa, f16(1, 2, 5, 8), f16(1, 2, 7, 8), f16(1, 2, 7, 8), expect_ops=SDPA),
    case("et_vk_sdpa/force_fp16", sdpa, f32(1, 2, 1, 8), f32(1, 2, 70, 8), f32(1, 2, 70, 8), expect_ops=SDPA, **HALF),
    cached_case("decode", DECODE),
    cached_case("one_head_each", [at(0, s=3), at(3, s=1)], kv_heads=4),
    cached_case("all_share_one", [at(0, s=3), at(3, s=1)], heads=3, kv_heads=1, width=5),
    cached_case("scale", DECODE, scale=1.0),
    cached_case("long", [at(0, s=9), at(9, s=9), at(60, s=9), at(69, s=1), at(70, s=5)], capacity=77),
    cached_case("two_batches", DECODE, batch=2),
    cached_case("fixed_positions", [at(0), at(3), at(6)], positions=3),
    cached_case("force_fp16", DECODE, **HALF),
    update_case("positions", [at(0, s=5), at(5, s=1), at(8, s=1), at(2, s=4), at(0, s=9)]),
    update_case("two_batches", [at(0, s=5), at(5, s=1), at(2, s=4)], batch=2),
    update_case("one_position", [at(0), at(8), at(3)], positions=1),
    update_case("force_fp16", [at(0, s=5), at(5, s=1)], **HALF),
    rotary_case("odd", f32(2, 5, 6), f32(5, 6)),
    rotary_case("angles_of_four_axes", f32(1, 5, 8), f32(1, 5, 4, 2)),
    rotary_case("one_pair", f32(3, 1, 2), f32(1, 2)),
    rotary_case("dynamic", f32(2, s, 6), f32(s, 6), live=[4, 1]),
    rotary_case("half", f16(2, 5, 6), f16(5, 6)),
]  # fmt: skip
