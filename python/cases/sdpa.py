# SPDX-License-Identifier: BSD-3-Clause
"""Attention without caches, and interleaved rotary embeddings."""
import torch

from cases.case import case, dim, f16, f32

s, c = dim("s", 1, 9), dim("c", 1, 70)

SDPA, ROTARY = "et_vk.sdpa.default", "et_vk.apply_rotary_emb_interleaved.default"

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
    rotary_case("odd", f32(2, 5, 6), f32(5, 6)),
    rotary_case("angles_of_four_axes", f32(1, 5, 8), f32(1, 5, 4, 2)),
    rotary_case("one_pair", f32(3, 1, 2), f32(1, 2)),
    rotary_case("dynamic", f32(2, s, 6), f32(s, 6), live=[4, 1]),
    rotary_case("half", f16(2, 5, 6), f16(5, 6)),
]  # fmt: skip
