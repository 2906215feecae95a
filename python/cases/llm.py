# SPDX-License-Identifier: BSD-3-Clause
"""The ops of language models: norms, 4-bit linears and embeddings, rotary embeddings, attention with caches."""
import functools

import torch
from executorch.examples.models.llama.rope import apply_rotary_emb, hf_apply_rotary_emb
from torch import nn
from torch.nn import functional
from torchao.quantization.granularity import PerGroup
from torchao.quantization.quant_api import IntxWeightOnlyConfig, quantize_

from cases.case import case, dim, f32, i32, i64

s = dim("s", 1, 9)
HALF = {"force_fp16": True}

RMS_NORM, LINEAR, EMBEDDING = "et_vk.rms_norm.default", "et_vk.linear_q4gsw.default", "et_vk.embedding_q4gsw.default"
ROTARY, ROTARY_HF = "et_vk.apply_rotary_emb.default", "et_vk.apply_rotary_emb_hf.default"
SELECT = "et_vk.select_as_symint.default"


class RmsNorm(nn.Module):
    def __init__(self, width: int, eps: float = 1e-5, squared=torch.square):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(width))
        self.eps, self.squared = eps, squared

    def forward(self, x):
        return x * torch.rsqrt(self.squared(x).mean(-1, keepdim=True) + self.eps) * self.weight


class Residual(nn.Module):
    def __init__(self, width: int):
        super().__init__()
        self.norm = RmsNorm(width)

    def forward(self, x, y):
        z = x + y
        return z, self.norm(z)


NORMS = [
    case("rms_norm/odd", lambda: RmsNorm(7), f32(3, 5, 7), expect_ops=RMS_NORM),
    case("rms_norm/one_row", lambda: RmsNorm(67), f32(67), expect_ops=RMS_NORM),
    case("rms_norm/one_column", lambda: RmsNorm(1), f32(5, 1), expect_ops=RMS_NORM),
    case("rms_norm/wide", lambda: RmsNorm(1031), f32(2, 1031), expect_ops=RMS_NORM),
    case("rms_norm/power", lambda: RmsNorm(13, 1e-6, lambda x: x.pow(2)), f32(2, 3, 1, 13), expect_ops=RMS_NORM),
    case("rms_norm/large_eps", lambda: RmsNorm(8, 1.0), f32(3, 8), expect_ops=RMS_NORM),
    case("rms_norm/tiny_values", lambda: RmsNorm(9), f32(3, 9, low=-1e-4, high=1e-4), atol=1e-6, expect_ops=RMS_NORM),
    case("rms_norm/large_values", lambda: RmsNorm(9), f32(3, 9, low=-1e6, high=1e6), expect_ops=RMS_NORM),
    case("rms_norm/dynamic", lambda: RmsNorm(67), f32(1, s, 67), live=[4, 1], expect_ops=RMS_NORM),
    case("rms_norm/residual", lambda: Residual(12), f32(1, s, 12), f32(1, s, 12), live=[4, 1], expect_ops=RMS_NORM),
    case("rms_norm/force_fp16", lambda: RmsNorm(67), f32(1, s, 67), live=[4, 1], compile=HALF, expect_ops=RMS_NORM),
]


def weighted_parts(module: nn.Module) -> list[nn.Module]:
    return [part for part in module.modules() if isinstance(part, (nn.Linear, nn.Embedding))]


def quantized(module: nn.Module, group: int, half: bool = False) -> nn.Module:
    """4-bit weights in groups, with scales that float16 can hold if `half`."""
    config = IntxWeightOnlyConfig(weight_dtype=torch.int4, granularity=PerGroup(group))
    quantize_(module, config, lambda part, name: isinstance(part, (nn.Linear, nn.Embedding)))
    for part in weighted_parts(module) if half else ():
        part.weight.scale = part.weight.scale.half().float()
    return module


def dequantized(module: nn.Module, group: int, half: bool = False) -> nn.Module:
    """The same weights as ordinary numbers, to compute with in float64."""
    for part in weighted_parts(quantized(module, group, half)):
        part.weight = nn.Parameter(part.weight.dequantize())
    return module


def q4(name, make, group, *inputs, **rest):
    half = rest.get("compile") == HALF
    return case(name, lambda: quantized(make(), group, half), *inputs,
                reference=lambda: dequantized(make(), group, half), **rest)


def linear(name, depth, columns, group, *inputs, bias=False, **rest):
    make = functools.partial(nn.Linear, depth, columns, bias)
    return q4(f"linear_q4gsw/{name}", make, group, *inputs, expect_ops=LINEAR, **rest)


class SwiGlu(nn.Module):
    def __init__(self, width: int, hidden: int):
        super().__init__()
        self.gate, self.up = nn.Linear(width, hidden, False), nn.Linear(width, hidden, False)
        self.down = nn.Linear(hidden, width, False)

    def forward(self, x):
        return self.down(functional.silu(self.gate(x)) * self.up(x))


class Projections(nn.Module):
    """Three linears on one input, as in front of attention."""

    def __init__(self, width: int, columns: int):
        super().__init__()
        self.q = nn.Linear(width, width, False)
        self.k, self.v = nn.Linear(width, columns, False), nn.Linear(width, columns, False)

    def forward(self, x):
        return self.q(x), self.k(x), self.v(x)


LINEARS = [
    linear("one_row", 64, 12, 32, f32(1, 64)),
    linear("two_groups", 64, 12, 32, f32(3, 64)),
    linear("small_groups", 16, 8, 4, f32(5, 16)),
    linear("bias", 32, 20, 16, f32(3, 32), bias=True),
    # The exporter pads the depth to whole words.
    linear("depth_12", 12, 8, 4, f32(1, 12)),
    linear("depth_20_bias", 20, 12, 20, f32(3, 20), bias=True),
    linear("depth_36", 36, 8, 12, f32(5, 36)),
    linear("depth_100_dynamic", 100, 4, 20, f32(1, s, 100), live=[4, 1]),
    linear("many_columns", 32, 404, 32, f32(2, 32)),
    linear("many_rows", 64, 36, 32, f32(1, dim("rows", 1, 70), 64), live=[33, 17, 2, 1]),
    linear("deep", 1056, 4, 32, f32(3, 1056)),
    linear("rank_4", 32, 8, 32, f32(2, 3, 1, 32)),
    linear("dynamic", 64, 12, 32, f32(1, s, 64), live=[4, 1]),
    linear("dynamic_bias", 32, 12, 8, f32(s, 32), live=[4, 1], bias=True),
    linear("force_fp16", 64, 12, 32, f32(1, s, 64), live=[4, 1], compile=HALF),
    linear("external_weights", 64, 12, 32, f32(3, 64), compile={"external_constants_max_data_bytes": 400}),
    q4("linear_q4gsw/swiglu", lambda: SwiGlu(32, 44), 4, f32(1, s, 32), live=[4, 1], expect_ops=LINEAR),
    q4("linear_q4gsw/projections", lambda: Projections(32, 8), 32, f32(1, s, 32), live=[4, 1], expect_ops=LINEAR),
]


class TiedEmbedding(nn.Module):
    """One 4-bit table, looked up and multiplied with."""

    def __init__(self, vocabulary: int, width: int):
        super().__init__()
        self.table = nn.Embedding(vocabulary, width)
        self.head = nn.Linear(width, vocabulary, False)
        self.head.weight = self.table.weight

    def forward(self, tokens):
        return self.head(self.table(tokens))


def embedding(name, vocabulary, width, group, *inputs, **rest):
    make = functools.partial(nn.Embedding, vocabulary, width)
    return q4(f"embedding_q4gsw/{name}", make, group, *inputs, expect_ops=EMBEDDING, **rest)


EMBEDDINGS = [
    embedding("int64", 11, 64, 32, i64(5, low=0, high=11)),
    embedding("int32", 11, 32, 32, i32(1, 3, low=0, high=11)),
    embedding("three_groups", 7, 96, 32, i64(of=[[6, 0], [3, 6]])),
    embedding("small_groups", 5, 32, 8, i64(2, 1, 3, low=0, high=5)),
    embedding("one_token", 300, 64, 64, i64(of=[299])),
    embedding("rank0", 5, 32, 32, i64(of=4)),
    embedding("dynamic", 13, 64, 32, i64(1, s, low=0, high=13), live=[4, 1]),
    embedding("force_fp16", 13, 64, 32, i64(1, s, low=0, high=13), live=[4, 1], compile=HALF),
    q4("embedding_q4gsw/tied", lambda: TiedEmbedding(12, 64), 32, i64(1, s, low=0, high=12), live=[4, 1],
       expect_ops=[EMBEDDING, LINEAR]),
]


def angles(positions: int, width: int, repeat: int = 1) -> tuple[torch.Tensor, torch.Tensor]:
    """Cosines and sines as a model has them."""
    frequencies = 10000.0 ** (-torch.arange(width) / width)
    table = torch.outer(torch.arange(positions), frequencies).repeat(1, repeat)
    return table.cos(), table.sin()


class RotaryTable(nn.Module):
    """Tables inside of the model, read from a position on that is an input."""

    def __init__(self, apply, width: int, repeat: int):
        super().__init__()
        cosines, sines = angles(32, width, repeat)
        self.register_buffer("cosines", cosines)
        self.register_buffer("sines", sines)
        self.apply_rotary = apply

    def forward(self, q, k, position):
        start, count = position[-1].item(), q.shape[1]
        torch._check_is_size(start)
        torch._check(start + count <= self.cosines.shape[0])
        return self.apply_rotary(q, k, self.cosines.narrow(0, start, count), self.sines.narrow(0, start, count))


def rotate(q, k, cosines, sines):
    return apply_rotary_emb(q, k, cosines, sines)


def rotate_hf(q, k, cosines, sines):
    return hf_apply_rotary_emb(q, k, cosines, sines)


def rotate_hf_from_3(q, k, cosines, sines):
    return hf_apply_rotary_emb(q, k, cosines[3 : 3 + q.shape[1]], sines[3 : 3 + q.shape[1]])


def rotate_hf_table(q, k, cosines, sines, position):
    start, count = position[-1].item(), q.shape[1]
    torch._check_is_size(start)
    torch._check(start + count <= cosines.shape[0])
    return hf_apply_rotary_emb(q, k, cosines.narrow(0, start, count), sines.narrow(0, start, count))


def rotate_heads_first(q, k, cosines, sines):
    """x [batch, heads, positions, dim] and tables [batch, positions, rotated]: models that transpose before they rotate."""
    cosines, sines = cosines.unsqueeze(1), sines.unsqueeze(1)
    width = cosines.shape[-1]

    def turned(x):
        rotated, rest = x[..., :width], x[..., width:]
        low, high = rotated[..., : width // 2], rotated[..., width // 2 :]
        return torch.cat([rotated * cosines + torch.cat((-high, low), -1) * sines, rest], -1)

    return turned(q), turned(k)


def heads_first(name, q, k, tables, **rest):
    return case(f"rotary_hf/{name}", rotate_heads_first, q, k, tables, tables, expect_ops=ROTARY_HF, **rest)


def rotary_by_hand(op, *more):
    def draw(g, q, k, cosines, sines):
        outputs = [g.like(q), g.like(k)]
        g.call(op, q, k, cosines, sines, *more, out=outputs)
        return outputs

    return draw


def as_defined(name, q, k, tables, start, **rest):
    """The op as its library defines it."""
    define = lambda q, k, c, s: torch.ops.et_vk.apply_rotary_emb_hf(q, k, c, s, start)  # noqa: E731
    return case(f"rotary_hf/{name}", define, q, k, tables, tables, graph=rotary_by_hand(ROTARY_HF, start),
                expect_ops=ROTARY_HF, **rest)


MOVING = [{"s": 4, "position": [0]}, {"s": 1, "position": [31]}, {"s": 1, "position": [7]}]


def moving(name, width, repeat, rotary, op, **rest):
    """Positions move through a table of 32."""
    return case(name, lambda: RotaryTable(rotary, width, repeat), f32(1, s, 6, 10), f32(1, s, 2, 10), i64(of=[11]),
                live=MOVING, expect_ops=[op, SELECT], **rest)


ROTARIES = [
    case("rotary/odd", rotate, f32(1, 5, 6, 10), f32(1, 5, 2, 10), f32(5, 5), f32(5, 5), expect_ops=ROTARY),
    case("rotary/one_pair", rotate, f32(1, 3, 2, 2), f32(1, 3, 1, 2), f32(3, 1), f32(3, 1), expect_ops=ROTARY),
    case("rotary/batch", rotate, f32(2, 3, 3, 6), f32(2, 3, 1, 6), f32(3, 3), f32(3, 3), expect_ops=ROTARY),
    case("rotary/one_token", rotate, f32(1, 1, 8, 64), f32(1, 1, 2, 64), f32(1, 32), f32(1, 32), expect_ops=ROTARY),
    case("rotary/dynamic", rotate, f32(1, s, 6, 10), f32(1, s, 2, 10), f32(s, 5), f32(s, 5), live=[4, 1],
         expect_ops=ROTARY),
    case("rotary/force_fp16", rotate, f32(1, s, 6, 10), f32(1, s, 2, 10), f32(s, 5), f32(s, 5), live=[4, 1],
         compile=HALF, expect_ops=ROTARY),
    moving("rotary/position", 5, 1, apply_rotary_emb, ROTARY),
    case("rotary_hf/odd", rotate_hf, f32(1, 5, 6, 10), f32(1, 5, 2, 10), f32(5, 10), f32(5, 10), expect_ops=ROTARY_HF),
    case("rotary_hf/batch", rotate_hf, f32(2, 3, 3, 6), f32(2, 3, 1, 6), f32(3, 6), f32(3, 6), expect_ops=ROTARY_HF),
    case("rotary_hf/partial", rotate_hf, f32(1, 5, 6, 10), f32(1, 5, 2, 10), f32(5, 6), f32(5, 6),
         expect_ops=ROTARY_HF),
    case("rotary_hf/one_pair_of_many", rotate_hf, f32(1, 2, 3, 16), f32(1, 2, 1, 16), f32(2, 2), f32(2, 2),
         expect_ops=ROTARY_HF),
    case("rotary_hf/constant_start", rotate_hf_from_3, f32(1, 5, 4, 8), f32(1, 5, 2, 8), f32(9, 8), f32(9, 8),
         expect_ops=ROTARY_HF),
    case("rotary_hf/dynamic", rotate_hf, f32(1, s, 6, 10), f32(1, s, 2, 10), f32(s, 10), f32(s, 10), live=[4, 1],
         expect_ops=ROTARY_HF),
    case("rotary_hf/table_is_input", rotate_hf_table, f32(1, s, 6, 10), f32(1, s, 2, 10), f32(32, 10), f32(32, 10),
         i64(of=[11]), live=MOVING, expect_ops=[ROTARY_HF, SELECT]),
    heads_first("heads_first", f32(1, 4, 24, 16), f32(1, 2, 24, 16), f32(1, 24, 16)),
    heads_first("heads_first_partial", f32(1, 4, 7, 10), f32(1, 2, 7, 10), f32(1, 7, 6)),
    heads_first("heads_first_batch", f32(2, 4, 5, 8), f32(2, 2, 5, 8), f32(2, 5, 8)),
    heads_first("heads_first_batch_shares", f32(3, 2, 5, 8), f32(3, 2, 5, 8), f32(1, 5, 6)),
    heads_first("heads_first_few_positions", f32(1, 8, 3, 6), f32(1, 4, 3, 6), f32(1, 3, 6)),
    heads_first("heads_first_dynamic", f32(1, 4, s, 10), f32(1, 2, s, 10), f32(1, s, 10), live=[4, 1]),
    as_defined("one_row_for_all", f32(2, 5, 3, 6), f32(2, 5, 1, 6), f32(1, 4), 0),
    as_defined("one_position_for_all", f32(2, 3, 5, 6), f32(2, 1, 5, 6), f32(2, 1, 6), 0),
    case("rotary/angles_of_heads", lambda q, k, c, s: torch.ops.et_vk.apply_rotary_emb(q, k, c, s), f32(2, 5, 3, 6),
         f32(2, 5, 3, 6), f32(5, 3, 3), f32(5, 3, 3), graph=rotary_by_hand(ROTARY), expect_ops=ROTARY),
    moving("rotary_hf/position", 5, 2, hf_apply_rotary_emb, ROTARY_HF),
    moving("rotary_hf/partial_position", 3, 2, hf_apply_rotary_emb, ROTARY_HF),
    moving("rotary_hf/force_fp16", 5, 2, hf_apply_rotary_emb, ROTARY_HF, compile=HALF),
]

CASES = NORMS + LINEARS + EMBEDDINGS + ROTARIES
