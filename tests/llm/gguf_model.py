# SPDX-License-Identifier: BSD-3-Clause
"""Llama-like models in torch, straight from the dequantised weights of a GGUF file.

What converted programs are compared with. Plain and slow on purpose: no cache, everything in float32, angles in
float64. Written from the models' papers and GGUF's description, not from the converter.
"""
import math

import gguf
import torch


def field(reader, key, default=None):
    found = reader.fields.get(key)
    return default if found is None else found.contents()


class Model:
    def __init__(self, path):
        reader = gguf.GGUFReader(path)
        self.reader = reader
        self.arch = field(reader, "general.architecture")
        get = lambda key, default=None: field(reader, f"{self.arch}.{key}", default)
        self.tensors = {
            t.name: torch.from_numpy(gguf.quants.dequantize(t.data, t.tensor_type).copy()).float() for t in reader.tensors
        }
        self.layers = get("block_count")
        self.heads = get("attention.head_count")
        self.kv_heads = get("attention.head_count_kv", self.heads)
        width = get("embedding_length")
        self.head_width = get("attention.key_length", width // self.heads)
        self.eps = get("attention.layer_norm_rms_epsilon")
        self.scale = get("attention.scale", 1 / math.sqrt(self.head_width))
        self.context = get("context_length")
        self.rotated = get("rope.dimension_count", self.head_width)
        self.frequencies, self.magnitude = self.rope(get)
        self.interleaved = self.arch == "llama"

    def rope(self, get):
        """Radians per position of each pair, and what cosines and sines are multiplied with."""
        pairs = torch.arange(self.rotated // 2, dtype=torch.float64)
        base = get("rope.freq_base", 10000.0)
        frequencies = base ** (-2 * pairs / self.rotated)
        if "rope_freqs.weight" in self.tensors:
            frequencies = frequencies / self.tensors["rope_freqs.weight"].double()
        kind = get("rope.scaling.type", "none")
        factor = get("rope.scaling.factor", 1.0)
        if kind == "linear":
            return frequencies / factor, 1.0
        if kind != "yarn":
            return frequencies, 1.0
        # YaRN (Peng et al. 2023, section 3.2): waves that turn more than 32 times within the original context keep
        # their frequency, those that turn less than once are stretched.
        original = get("rope.scaling.original_context_length", self.context)
        pair_of = lambda turns: self.rotated * math.log(original / (turns * 2 * math.pi)) / (2 * math.log(base))
        low = max(math.floor(pair_of(32)), 0)
        high = min(math.ceil(pair_of(1)), self.rotated - 1)
        ramp = ((pairs - low) / max(high - low, 0.001)).clamp(0, 1)
        mixed = frequencies / factor * ramp + frequencies * (1 - ramp)
        return mixed, 1 + 0.1 * math.log(factor)

    def rotate(self, x):
        """x: [positions, heads, head width]"""
        angles = torch.arange(x.shape[0], dtype=torch.float64)[:, None] * self.frequencies
        cos = (angles.cos() * self.magnitude).float()[:, None, :]
        sin = (angles.sin() * self.magnitude).float()[:, None, :]
        turned, rest = x[..., : self.rotated], x[..., self.rotated :]
        if self.interleaved:
            a, b = turned[..., 0::2], turned[..., 1::2]
        else:
            a, b = turned.chunk(2, dim=-1)
        first, second = a * cos - b * sin, a * sin + b * cos
        if self.interleaved:
            turned = torch.stack([first, second], dim=-1).flatten(-2)
        else:
            turned = torch.cat([first, second], dim=-1)
        return torch.cat([turned, rest], dim=-1)

    def norm(self, x, name):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps) * self.tensors[name + ".weight"]

    def linear(self, x, name):
        y = x @ self.tensors[name + ".weight"].T
        bias = self.tensors.get(name + ".bias")
        return y if bias is None else y + bias

    def attention(self, x, prefix):
        positions = x.shape[0]
        q = self.linear(x, prefix + "q").view(positions, self.heads, self.head_width)
        k = self.linear(x, prefix + "k").view(positions, self.kv_heads, self.head_width)
        v = self.linear(x, prefix + "v").view(positions, self.kv_heads, self.head_width)
        if prefix + "q_norm.weight" in self.tensors:
            q, k = self.norm(q, prefix + "q_norm"), self.norm(k, prefix + "k_norm")
        q, k = self.rotate(q), self.rotate(k)
        shared = self.heads // self.kv_heads
        k, v = k.repeat_interleave(shared, dim=1), v.repeat_interleave(shared, dim=1)
        scores = torch.einsum("qhd,khd->hqk", q, k) * self.scale
        future = torch.ones(positions, positions, dtype=torch.bool).triu(1)
        weights = scores.masked_fill(future, float("-inf")).softmax(-1)
        y = torch.einsum("hqk,khd->qhd", weights, v).reshape(positions, -1)
        return self.linear(y, prefix + "output")

    def feed_forward(self, x, prefix):
        return self.linear(
            torch.nn.functional.silu(self.linear(x, prefix + "gate")) * self.linear(x, prefix + "up"), prefix + "down"
        )

    @torch.no_grad()
    def logits(self, tokens):
        """Of every position: [len(tokens), vocabulary]"""
        x = self.tensors["token_embd.weight"][torch.tensor(tokens)]
        for layer in range(self.layers):
            x = x + self.attention(self.norm(x, f"blk.{layer}.attn_norm"), f"blk.{layer}.attn_")
            x = x + self.feed_forward(self.norm(x, f"blk.{layer}.ffn_norm"), f"blk.{layer}.ffn_")
        x = self.norm(x, "output_norm")
        head = "output" if "output.weight" in self.tensors else "token_embd"
        return self.linear(x, head)
