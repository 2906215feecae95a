# SPDX-License-Identifier: BSD-3-Clause
"""Writes tests/data/gguf: small random models of every architecture and block format with torch's logits, and blocks of
every format with their dequantised values.

usage: make_tiny_models.py OUTPUT_FOLDER      (needs the groups export and llm of pins.txt)
"""
import json
import pathlib
import sys

import gguf
import numpy as np
from gguf import GGMLQuantizationType as Type

from gguf_model import Model

K_TYPES = {Type.Q4_K, Type.Q5_K, Type.Q6_K}
CALLS = [[5, 17, 3, 42, 9, 9, 61], [8], [33], [1, 2, 60], [0]]  # tokens of successive calls


def half_bytes(values):
    return np.asarray(values, dtype=np.float16).view(np.uint8).reshape(len(values), 2)


def random_blocks(random, kind, count, spread):
    """Blocks of a format that the package can't quantise to: any bits are valid, scales must be reasonable."""
    size = gguf.GGML_QUANT_SIZES[kind][1]
    blocks = random.integers(0, 256, (count, size), dtype=np.uint8)
    halves = half_bytes(spread * random.uniform(0.5, 1.5, count))
    if kind == Type.Q6_K:
        blocks[:, -2:] = half_bytes(spread / 2000 * random.uniform(0.5, 1.5, count))
    elif kind in (Type.Q4_K, Type.Q5_K):
        blocks[:, 0:2] = half_bytes(spread / 300 * random.uniform(0.5, 1.5, count))
        blocks[:, 2:4] = half_bytes(spread / 40 * random.uniform(0.5, 1.5, count))
    else:
        blocks[:, 0:2] = halves
        if kind in (Type.Q4_1, Type.Q5_1):
            blocks[:, 2:4] = half_bytes(-8 * spread * random.uniform(0.5, 1.5, count))
    return blocks


class TinyModel:
    """A random model. `kinds` maps a part of a tensor's name to its type; the first match counts."""

    def __init__(self, path, arch, seed, kinds, width=64, heads=4, kv_heads=2, hidden=96, vocabulary=67, layers=2,
                 head_width=None, context=64, tied=False, bias=False, norms=False, rope=None, rope_freqs=None, scale=None):
        self.random = np.random.default_rng(seed)
        self.kinds = kinds
        head_width = head_width or width // heads
        writer = self.writer = gguf.GGUFWriter(path, arch)
        writer.add_name(f"tiny {arch}")
        writer.add_license("bsd-3-clause")
        writer.add_block_count(layers)
        writer.add_context_length(context)
        writer.add_embedding_length(width)
        writer.add_feed_forward_length(hidden)
        writer.add_head_count(heads)
        writer.add_head_count_kv(kv_heads)
        writer.add_layer_norm_rms_eps(1e-5)
        writer.add_key_length(head_width)
        writer.add_value_length(head_width)
        if scale:
            writer.add_float32(f"{arch}.attention.scale", scale)
        for key, value in (rope or {}).items():
            add = {str: writer.add_string, int: writer.add_uint32, float: writer.add_float32}[type(value)]
            add(f"{arch}.rope.{key}", value)
        writer.add_bos_token_id(1)
        writer.add_eos_token_id(2)
        writer.add_tokenizer_model("gpt2")
        writer.add_tokenizer_pre("default")
        writer.add_token_list([f"t{i}" for i in range(vocabulary)])
        writer.add_chat_template("{{ messages[0]['content'] }}")
        if rope_freqs is not None:
            writer.add_tensor("rope_freqs.weight", np.asarray(rope_freqs, dtype=np.float32))

        self.matrix("token_embd", vocabulary, width, gain=None if tied else 1)
        for layer in range(layers):
            prefix = f"blk.{layer}."
            self.vector(prefix + "attn_norm.weight", width, 1)
            self.matrix(prefix + "attn_q", heads * head_width, width, bias)
            self.matrix(prefix + "attn_k", kv_heads * head_width, width, bias)
            self.matrix(prefix + "attn_v", kv_heads * head_width, width, bias)
            self.matrix(prefix + "attn_output", width, heads * head_width)
            if norms:
                self.vector(prefix + "attn_q_norm.weight", head_width, 1)
                self.vector(prefix + "attn_k_norm.weight", head_width, 1)
            self.vector(prefix + "ffn_norm.weight", width, 1)
            self.matrix(prefix + "ffn_gate", hidden, width)
            self.matrix(prefix + "ffn_up", hidden, width)
            self.matrix(prefix + "ffn_down", width, hidden)
        self.vector("output_norm.weight", width, 1)
        if not tied:
            self.matrix("output", vocabulary, width)
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
        writer.close()

    def vector(self, name, size, centre):
        self.writer.add_tensor(name, (centre + 0.3 * self.random.standard_normal(size)).astype(np.float32))

    def matrix(self, name, rows, columns, bias=False, gain=None):
        kind = next(kind for part, kind in self.kinds.items() if part in name)
        spread = gain or 1 / np.sqrt(columns)
        if kind in K_TYPES:
            data = random_blocks(self.random, kind, rows * columns // 256, spread).reshape(rows, -1)
        else:
            values = (spread * self.random.standard_normal((rows, columns))).astype(np.float32)
            data = gguf.quants.quantize(values, kind)
        self.writer.add_tensor(name + ".weight", data, raw_dtype=kind)
        if bias:
            self.vector(name + ".bias", rows, 0)


MODELS = {
    "llama_f32": dict(arch="llama", kinds={"": Type.F32}, width=32, heads=2, kv_heads=1, layers=1),
    "llama_bf16_bias_scale": dict(arch="llama", kinds={"": Type.BF16}, width=32, tied=True, bias=True, layers=1,
                                  scale=0.2),
    "llama_q4_0": dict(arch="llama", kinds={"": Type.Q4_0}, tied=True),
    "llama_q4_1": dict(arch="llama", kinds={"token_embd": Type.Q8_0, "": Type.Q4_1}, tied=True),
    "llama_q8_0_linear_rope": dict(arch="llama", kinds={"": Type.Q8_0}, layers=1,
                                   rope={"scaling.type": "linear", "scaling.factor": 4.0, "freq_base": 500000.0}),
    "llama_q5_partial_rope": dict(arch="llama", kinds={"attn": Type.Q5_0, "token_embd": Type.Q4_1, "": Type.Q5_1},
                                  layers=1, rope={"dimension_count": 8}),
    "llama_q6_k_llama3_rope": dict(arch="llama", kinds={"down": Type.Q8_0, "attn_output": Type.F16, "": Type.Q6_K},
                                   width=256, heads=4, head_width=16, hidden=64, layers=1, tied=True,
                                   rope_freqs=[1, 1, 1.5, 2.5, 4, 6, 8, 8]),
    "llama_k_m": dict(arch="llama", kinds={"down": Type.Q4_0, "attn_output": Type.Q5_0, "attn_v": Type.Q6_K,
                                           "ffn_up": Type.Q5_K, "token_embd": Type.Q5_K, "": Type.Q4_K},
                      width=256, heads=4, head_width=16, hidden=64, layers=1),
    "qwen2_q4_0": dict(arch="qwen2", kinds={"token_embd": Type.F16, "": Type.Q4_0}, bias=True, tied=True,
                       rope={"freq_base": 1000000.0}),
    "qwen2_q4_1_yarn": dict(arch="qwen2", kinds={"token_embd": Type.Q8_0, "": Type.Q4_1}, bias=True, layers=1,
                            rope={"scaling.type": "yarn", "scaling.factor": 4.0,
                                  "scaling.original_context_length": 16, "freq_base": 10000.0}),
    "qwen3_q8_0": dict(arch="qwen3", kinds={"": Type.Q8_0}, head_width=32, norms=True, tied=True, layers=1),
}

FORMATS = [Type.F32, Type.F16, Type.BF16, Type.Q4_0, Type.Q4_1, Type.Q5_0, Type.Q5_1, Type.Q8_0, Type.Q4_K, Type.Q5_K,
           Type.Q6_K]


def write_models(folder):
    manifest = {"calls": CALLS, "models": []}
    for seed, (name, options) in enumerate(MODELS.items()):
        path = folder / f"{name}.gguf"
        TinyModel(path, seed=seed, **options)
        sequence = sum(CALLS, [])
        logits = Model(path).logits(sequence)
        ends = np.cumsum([len(call) for call in CALLS]) - 1
        logits.numpy().astype("<f4").tofile(folder / f"{name}.logits.bin")
        manifest["models"].append({"name": name, "vocabulary": logits.shape[1]})
        print(f"{name}: {path.stat().st_size} bytes, logits up to {logits[ends].abs().max():.2f}")
    (folder / "models.json").write_text(json.dumps(manifest, indent=1) + "\n")


def write_blocks(folder):
    random = np.random.default_rng(99)
    index, blob = [], bytearray()
    for kind in FORMATS:
        if kind in (Type.F32, Type.F16, Type.BF16):
            blocks = gguf.quants.quantize(random.standard_normal((4, 8)).astype(np.float32), kind).view(np.uint8)
        else:
            blocks = random_blocks(random, kind, 4, 0.1)
        values = gguf.quants.dequantize(blocks.view({Type.F32: np.float32, Type.F16: np.float16}.get(kind, np.uint8)), kind)
        values = values.astype("<f4").reshape(-1)
        index.append({"type": int(kind), "name": kind.name, "offset": len(blob), "bytes": blocks.nbytes,
                      "values": len(values)})
        blob += blocks.tobytes() + values.tobytes()
    (folder / "blocks.bin").write_bytes(blob)
    (folder / "blocks.json").write_text(json.dumps(index, indent=1) + "\n")


if __name__ == "__main__":
    output = pathlib.Path(sys.argv[1])
    output.mkdir(parents=True, exist_ok=True)
    write_models(output)
    write_blocks(output)
