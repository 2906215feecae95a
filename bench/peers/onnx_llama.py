# SPDX-License-Identifier: BSD-3-Clause
"""A GGUF Llama as an ONNX model in the form that ONNX Runtime's own builder gives: 4-bit weights in MatMulNBits
(symmetric, blocks of 32), GroupQueryAttention with its rotary embedding and caches, fused norms, logits of the last
position only.

usage: onnx_llama.py MODEL.gguf OUTPUT.onnx
"""
import sys

import gguf
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

BLOCK = 32
MICROSOFT = "com.microsoft"


def quantize(weight):
    """[N, K] floats as MatMulNBits wants them: bytes [N, K/32, 16], scales [N, K/32]; zero is 8."""
    blocks = weight.reshape(weight.shape[0], -1, BLOCK)
    extreme = np.take_along_axis(blocks, np.abs(blocks).argmax(-1, keepdims=True), -1)
    scales = extreme / -8
    quotient = np.divide(blocks, scales, out=np.zeros_like(blocks), where=scales != 0)
    q = np.clip(np.rint(quotient) + 8, 0, 15).astype(np.uint8)
    return q[..., 0::2] | q[..., 1::2] << 4, scales[..., 0].astype(np.float32)


class Builder:
    def __init__(self, path):
        reader = gguf.GGUFReader(path)
        field = lambda key: reader.fields["llama." + key].contents()
        self.weights = {t.name: gguf.quants.dequantize(t.data, t.tensor_type) for t in reader.tensors}
        self.layers, self.width = field("block_count"), field("embedding_length")
        self.heads, self.kv_heads = field("attention.head_count"), field("attention.head_count_kv")
        self.epsilon, self.base = field("attention.layer_norm_rms_epsilon"), field("rope.freq_base")
        self.head_width = self.width // self.heads
        self.vocabulary = self.weights["token_embd.weight"].shape[0]
        self.nodes, self.constants = [], []

    def constant(self, name, value):
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def node(self, op, inputs, name, domain="", more_outputs=(), **attributes):
        self.nodes.append(helper.make_node(op, inputs, [name, *more_outputs], name=name, domain=domain, **attributes))
        return name

    def linear(self, x, weight, name):
        n, k = weight.shape
        q, scales = quantize(weight)
        inputs = [x, self.constant(name + ".q", q), self.constant(name + ".scales", scales.reshape(-1))]
        return self.node("MatMulNBits", inputs, name, MICROSOFT, K=k, N=n, bits=4, block_size=BLOCK)

    def rope_tables(self, context):
        frequencies = self.base ** (-np.arange(0, self.head_width, 2) / self.head_width)
        angles = np.outer(np.arange(context), frequencies)
        self.constant("cos", np.cos(angles).astype(np.float32))
        self.constant("sin", np.sin(angles).astype(np.float32))

    def norm(self, x, weight, name, skip=None):
        scale = self.constant(name + ".scale", self.weights[weight].astype(np.float32))
        if skip is None:
            return self.node("SimplifiedLayerNormalization", [x, scale], name, axis=-1, epsilon=self.epsilon), x
        more = ("", "", name + ".sum")
        op = "SkipSimplifiedLayerNormalization"
        return self.node(op, [x, skip, scale], name, MICROSOFT, more, epsilon=self.epsilon), more[-1]

    def layer(self, i, x, skip):
        w = lambda part: self.weights[f"blk.{i}.{part}.weight"]
        at = lambda part: f"l{i}.{part}"
        h, residual = self.norm(x, f"blk.{i}.attn_norm.weight", at("norm"), skip)
        qkv = self.linear(h, np.concatenate([w("attn_q"), w("attn_k"), w("attn_v")]), at("qkv"))
        inputs = [qkv, "", "", f"past.{i}.key", f"past.{i}.value", "seqlens_k", "total_length", "cos", "sin"]
        more = (f"present.{i}.key", f"present.{i}.value")
        how = {"num_heads": self.heads, "kv_num_heads": self.kv_heads, "do_rotary": 1, "rotary_interleaved": 1}
        h = self.node("GroupQueryAttention", inputs, at("attention"), MICROSOFT, more, **how)
        h = self.linear(h, w("attn_output"), at("out"))
        h, residual = self.norm(residual, f"blk.{i}.ffn_norm.weight", at("norm2"), h)
        gate, up = self.linear(h, w("ffn_gate"), at("gate")), self.linear(h, w("ffn_up"), at("up"))
        gate = self.node("Mul", [gate, self.node("Sigmoid", [gate], at("sigmoid"))], at("silu"))
        return residual, self.linear(self.node("Mul", [gate, up], at("product")), w("ffn_down"), at("down"))

    def build(self, context):
        self.rope_tables(context)
        embedding = self.weights["token_embd.weight"]
        x = self.node("Gather", [self.constant("embedding", embedding.astype(np.float32)), "tokens"], "embed")
        skip = None
        for i in range(self.layers):
            x, skip = self.layer(i, x, skip)
        x, _ = self.norm(x, "output_norm.weight", "final", skip)
        last = self.node("Gather", [x, self.constant("minus_one", np.array([-1], np.int64))], "last", axis=1)
        self.linear(last, self.weights.get("output.weight", embedding), "logits")
        return self.model()

    def model(self):
        shape = lambda length: [1, self.kv_heads, length, self.head_width]
        cache = lambda name, length: helper.make_tensor_value_info(name, TensorProto.FLOAT, shape(length))
        inputs = [
            helper.make_tensor_value_info("tokens", TensorProto.INT64, [1, "S"]),
            helper.make_tensor_value_info("seqlens_k", TensorProto.INT32, [1]),
            helper.make_tensor_value_info("total_length", TensorProto.INT32, []),
        ]
        outputs = [helper.make_tensor_value_info("logits", TensorProto.FLOAT, [1, 1, self.vocabulary])]
        for i in range(self.layers):
            for part in ("key", "value"):
                inputs.append(cache(f"past.{i}.{part}", "P"))
                outputs.append(cache(f"present.{i}.{part}", "T"))
        graph = helper.make_graph(self.nodes, "llama", inputs, outputs, self.constants)
        opsets = [helper.make_opsetid("", 17), helper.make_opsetid(MICROSOFT, 1)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=9)


if __name__ == "__main__":
    onnx.save(Builder(sys.argv[1]).build(context=2048), sys.argv[2])
