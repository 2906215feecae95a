# SPDX-License-Identifier: BSD-3-Clause
"""The single ops of kernels.py as ONNX models."""
import numpy as np
from kernels import KERNELS
from onnx import TensorProto, helper, numpy_helper
from onnx_llama import BLOCK, MICROSOFT, quantize


def model(node, inputs, output, constants):
    value = lambda name, shape: helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
    stored = [numpy_helper.from_array(array, name) for name, array in constants.items()]
    graph = helper.make_graph([node], node.op_type, [value(*i) for i in inputs.items()], [value("y", output)], stored)
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid(MICROSOFT, 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=9).SerializeToString(), inputs


def linear_q4(rows, depth, columns):
    q, scales = quantize(np.random.default_rng(0).standard_normal((columns, depth), np.float32))
    attributes = {"K": depth, "N": columns, "bits": 4, "block_size": BLOCK}
    node = helper.make_node("MatMulNBits", ["x", "q", "scales"], ["y"], domain=MICROSOFT, **attributes)
    return model(node, {"x": [rows, depth]}, [rows, columns], {"q": q, "scales": scales.reshape(-1)})


def matmul(size):
    shape = [size, size]
    return model(helper.make_node("MatMul", ["a", "b"], ["y"]), {"a": shape, "b": shape}, shape, {})


def conv(channels, out_channels, size):
    weight = np.random.default_rng(0).standard_normal((out_channels, channels, 3, 3), np.float32)
    node = helper.make_node("Conv", ["x", "w"], ["y"], pads=[1, 1, 1, 1])
    return model(node, {"x": [1, channels, size, size]}, [1, out_channels, size, size], {"w": weight})


def build(name):
    """The model and random inputs."""
    _, kind, sizes, _ = KERNELS[name]
    source, shapes = {"linear_q4": linear_q4, "matmul": matmul, "conv": conv}[kind](*sizes)
    random = np.random.default_rng(1)
    return source, {key: random.standard_normal(shape, np.float32) for key, shape in shapes.items()}
