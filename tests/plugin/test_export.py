# SPDX-License-Identifier: BSD-3-Clause
"""python -m pteron.export against the same models written out in torch.

usage: test_export.py
"""
import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import numpy as np
import torch
from torch.nn import functional
from torchao.quantization.granularity import PerGroup
from torchao.quantization.quant_api import IntxWeightOnlyConfig, quantize_

import pteron
from pteron.export import Unsupported, export

WIDTH, HIDDEN, HEADS, KV_HEADS, HEAD, VOCABULARY, LAYERS, GROUP = 64, 96, 4, 2, 16, 256, 2, 32
CONFIG = {
    "hidden_size": WIDTH, "intermediate_size": HIDDEN, "num_attention_heads": HEADS, "num_key_value_heads": KV_HEADS,
    "num_hidden_layers": LAYERS, "vocab_size": VOCABULARY, "rms_norm_eps": 1e-5, "bos_token_id": 1, "eos_token_id": 2,
}  # fmt: skip
LLAMA3 = {"rope_type": "llama3", "factor": 32.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
          "original_max_position_embeddings": 8192}  # fmt: skip


def random_weights(config: dict) -> dict[str, torch.Tensor]:
    torch.manual_seed(3)
    shapes = {"model.embed_tokens.weight": (VOCABULARY, WIDTH), "model.norm.weight": (WIDTH,)}
    if not config.get("tie_word_embeddings"):
        shapes["lm_head.weight"] = (VOCABULARY, WIDTH)
    for layer in range(LAYERS):
        prefix = f"model.layers.{layer}."
        for name, heads in (("q", HEADS), ("k", KV_HEADS), ("v", KV_HEADS)):
            shapes[f"{prefix}self_attn.{name}_proj.weight"] = (heads * HEAD, WIDTH)
            if config["model_type"] == "qwen2":
                shapes[f"{prefix}self_attn.{name}_proj.bias"] = (heads * HEAD,)
            if config["model_type"] == "qwen3" and name != "v":
                shapes[f"{prefix}self_attn.{name}_norm.weight"] = (HEAD,)
        shapes[f"{prefix}self_attn.o_proj.weight"] = (WIDTH, HEADS * HEAD)
        for name, shape in (("gate", (HIDDEN, WIDTH)), ("up", (HIDDEN, WIDTH)), ("down", (WIDTH, HIDDEN))):
            shapes[f"{prefix}mlp.{name}_proj.weight"] = shape
        shapes[f"{prefix}input_layernorm.weight"] = shapes[f"{prefix}post_attention_layernorm.weight"] = (WIDTH,)
    return {name: 1 + torch.randn(s) / 5 if "norm" in name else torch.randn(s) / 4 for name, s in shapes.items()}


def write_folder(folder: Path, config: dict, weights: dict) -> None:
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(config))
    header, data = {}, b""
    for name, tensor in weights.items():
        header[name] = {"dtype": "F32", "shape": list(tensor.shape), "data_offsets": [len(data), len(data) + tensor.nbytes]}
        data += tensor.numpy().tobytes()
    text = json.dumps(header).encode()
    (folder / "model.safetensors").write_bytes(len(text).to_bytes(8, "little") + text + data)


def rounded(weight: torch.Tensor) -> torch.Tensor:
    """To 4 bits and back."""
    linear = torch.nn.Linear(weight.shape[1], weight.shape[0], bias=False)
    linear.weight = torch.nn.Parameter(weight)
    quantize_(linear, IntxWeightOnlyConfig(weight_dtype=torch.int4, granularity=PerGroup(GROUP)))
    return linear.weight.dequantize().double()


class Reference:
    """The model as its paper has it: no cache, halves of heads rotated with each other, float64."""

    def __init__(self, config: dict, weights: dict):
        self.config = config
        self.w = {name: rounded(w) if w.dim() == 2 else w.double() for name, w in weights.items()}
        self.frequencies = config.get("rope_theta", 10000.0) ** (-torch.arange(0, HEAD, 2, dtype=torch.float64) / HEAD)
        if config.get("rope_scaling"):
            waves = 2 * torch.pi / self.frequencies
            blend = ((8192 / waves - 1) / (4 - 1)).clamp(0, 1)
            self.frequencies = self.frequencies * (blend + (1 - blend) / 32)

    def norm(self, x, name):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-5) * self.w[name + ".weight"]

    def heads(self, x, prefix, name, count):
        y = x @ self.w[f"{prefix}{name}_proj.weight"].T + self.w.get(f"{prefix}{name}_proj.bias", 0)
        y = y.view(len(x), count, HEAD)
        return self.norm(y, f"{prefix}{name}_norm") if f"{prefix}{name}_norm.weight" in self.w else y

    def rotate(self, x):
        angles = torch.arange(len(x), dtype=torch.float64)[:, None] * self.frequencies
        cos, sin = angles.cos()[:, None], angles.sin()[:, None]
        a, b = x.chunk(2, -1)
        return torch.cat([a * cos - b * sin, b * cos + a * sin], -1)

    def attention(self, x, prefix):
        q, k = self.rotate(self.heads(x, prefix, "q", HEADS)), self.rotate(self.heads(x, prefix, "k", KV_HEADS))
        v = self.heads(x, prefix, "v", KV_HEADS)
        k, v = (t.repeat_interleave(HEADS // KV_HEADS, 1).transpose(0, 1) for t in (k, v))
        y = functional.scaled_dot_product_attention(q.transpose(0, 1), k, v, is_causal=True)
        return y.transpose(0, 1).reshape(len(x), -1) @ self.w[prefix + "o_proj.weight"].T

    def logits(self, tokens):
        x = self.w["model.embed_tokens.weight"][tokens]
        for layer in range(LAYERS):
            prefix = f"model.layers.{layer}."
            x = x + self.attention(self.norm(x, prefix + "input_layernorm"), prefix + "self_attn.")
            h, mlp = self.norm(x, prefix + "post_attention_layernorm"), prefix + "mlp."
            gate, up = (h @ self.w[f"{mlp}{name}_proj.weight"].T for name in ("gate", "up"))
            x = x + (functional.silu(gate) * up) @ self.w[mlp + "down_proj.weight"].T
        head = self.w.get("lm_head.weight", self.w["model.embed_tokens.weight"])
        return self.norm(x, "model.norm")[-1] @ head.T


class Export(unittest.TestCase):
    def setUp(self):
        self.work = Path(self.enterContext(tempfile.TemporaryDirectory()))

    def check(self, **settings):
        config = CONFIG | settings
        weights = random_weights(config)
        write_folder(self.work / "hf", config, weights)
        export(self.work / "hf", self.work / "m.pte", context=64, max_tokens=32)
        reference = Reference(config, weights)
        forward = pteron.load(self.work / "m.pte").method("forward")
        tokens = [5, 77, 130, 9, 255, 0, 41, 42, 18, 199, 3]
        for start, end in ((0, 7), (7, 8), (8, 11)):
            (logits,) = forward(np.array([tokens[start:end]]), np.array([start]))
            want = reference.logits(torch.tensor(tokens[:end])).numpy()
            self.assertLess(np.abs(logits.reshape(-1, VOCABULARY)[-1] - want).max(), 2e-4 * max(1, np.abs(want).max()))

    def test_llama_with_tied_embeddings_and_scaled_positions(self):
        self.check(model_type="llama", tie_word_embeddings=True, rope_scaling=LLAMA3, rope_theta=500000.0)

    def test_qwen2_with_biases(self):
        self.check(model_type="qwen2", rope_theta=1e6)

    def test_qwen3_with_normalised_queries_and_keys(self):
        self.check(model_type="qwen3", head_dim=HEAD)

    def test_what_cannot_be_exported_is_one_sentence(self):
        config = CONFIG | {"model_type": "llama"}
        weights = random_weights(config)
        missing = {name: w for name, w in weights.items() if "layers.1.mlp.up" not in name}
        for name, config, tensors, words in (
            ("family", config | {"model_type": "bloom"}, weights, "model_type 'bloom' is not known"),
            ("shape", config | {"hidden_size": 32, "head_dim": HEAD}, weights, "config.json says"),
            ("missing", config, missing, "the weights of 'layers.1.feed_forward.w3.weight' are missing"),
            ("extra", config, weights | {"model.extra.weight": torch.ones(2)}, "'model.extra.weight' has no place"),
        ):
            write_folder(self.work / name, config, tensors)
            with self.assertRaisesRegex(Unsupported, words):
                export(self.work / name, self.work / "m.pte")
        cut = self.work / "missing" / "model.safetensors"
        for size in (5000, 100, 7, 0):
            cut.write_bytes(cut.read_bytes()[:size])
            with self.assertRaises(Unsupported):
                export(self.work / "missing", self.work / "m.pte")

    def test_the_command_says_what_is_wrong_and_exits_1(self):
        command = [sys.executable, "-W", "ignore", "-m", "pteron.export", str(self.work), "-o", str(self.work / "m.pte")]
        done = subprocess.run(command, capture_output=True, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn("config.json cannot be read: No such file or directory", done.stderr.splitlines()[-1])


if __name__ == "__main__":
    unittest.main()
