# SPDX-License-Identifier: BSD-3-Clause
"""Single ops as ONNX models, the same as kernel_programs.py exports."""
import numpy as np
from onnx import TensorProto, helper, numpy_helper

from onnx_llama import BLOCK, MICROSOFT, quantize


def model(node, inputs, outputs, constants):
    value = lambda name, shape: helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
    graph = helper.make_graph([node], node.op_type, [value(*i) for i in inputs], [value(*o) for o in outputs], [numpy_helper.from_array(v, n) for n, v in constants.items()])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid(MICROSOFT, 1)], ir_version=9).SerializeToString()


def linear_q4(rows, depth, columns):
    q, scales = quantize(np.random.default_rng(0).standard_normal((columns, depth), np.float32))
    node = helper.make_node("MatMulNBits", ["x", "q", "scales"], ["y"], domain=MICROSOFT, K=depth, N=columns, bits=4, block_size=BLOCK)
    return model(node, [("x", [rows, depth])], [("y", [rows, columns])], {"q": q, "scales": scales.reshape(-1)}), {"x": (rows, depth)}


def matmul(size):
    shape = [size, size]
    return model(helper.make_node("MatMul", ["a", "b"], ["y"]), [("a", shape), ("b", shape)], [("y", shape)], {}), {"a": shape, "b": shape}


def conv(channels, out_channels, size):
    weight = np.random.default_rng(0).standard_normal((out_channels, channels, 3, 3), np.float32)
    x, y = [1, channels, size, size], [1, out_channels, size, size]
    return model(helper.make_node("Conv", ["x", "w"], ["y"], pads=[1, 1, 1, 1]), [("x", x)], [("y", y)], {"w": weight}), {"x": x}


KERNELS = {
    "linear_q4 1×576×1536": lambda: linear_q4(1, 576, 1536),
    "linear_q4 64×576×1536": lambda: linear_q4(64, 576, 1536),
    "matmul 1024³": lambda: matmul(1024),
    "conv 3×3 32→64 at 56²": lambda: conv(32, 64, 56),
}


def build(name):
    """The model and random inputs."""
    source, shapes = KERNELS[name]()
    random = np.random.default_rng(1)
    return source, {key: random.standard_normal(shape, np.float32) for key, shape in shapes.items()}
