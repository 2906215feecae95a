# SPDX-License-Identifier: BSD-3-Clause
"""ONNX graphs as modules of torch, as far as the zoo has them: images of two axes, weights in the file.

Shapes, axes and other whole numbers are lists of Python's, so that a graph that computes with shapes can be exported."""
from pathlib import Path

import torch
from torch import nn
from torch.nn import functional as F


def margins(pads: list[int]) -> list[int]:
    top, left, bottom, right = pads
    if (top, left) != (bottom, right):
        raise ValueError(f"margins {pads} differ at the two ends")
    return [top, left]


def conv(x, weight, bias=None, *, strides, pads, dilations, group, kernel_shape):
    return F.conv2d(x, weight, bias, strides, margins(pads), dilations, group)


def conv_transpose(x, weight, bias=None, *, strides, pads, dilations, group, kernel_shape):
    return F.conv_transpose2d(x, weight, bias, strides, margins(pads), 0, group, dilations)


def average(x, *, kernel_shape, strides, pads, ceil_mode=0, count_include_pad=0):
    return F.avg_pool2d(x, kernel_shape, strides, margins(pads), bool(ceil_mode), bool(count_include_pad))


def largest(x, *, kernel_shape, strides, pads, ceil_mode=0):
    return F.max_pool2d(x, kernel_shape, strides, margins(pads), 1, bool(ceil_mode))


def normalized(x, weight, bias, mean, variance, *, epsilon, momentum):
    return F.batch_norm(x, mean, variance, weight, bias, eps=epsilon)


def reshaped(x, shape):
    return x.reshape([x.shape[i] if size == 0 else size for i, size in enumerate(shape)])


def joined(*values, axis):
    return sum(values, []) if isinstance(values[0], list) else torch.cat(values, axis)


def part(x, starts, ends, axes, steps=(1,)):
    if isinstance(x, list):
        return x[starts[0] : ends[0] : steps[0]]
    for start, end, axis in zip(starts, ends, axes, strict=True):
        x = x[(slice(None),) * (axis % x.dim()) + (slice(start, end),)]
    return x


def resized(x, region, scales, *, mode, coordinate_transformation_mode, nearest_mode):
    if (mode, coordinate_transformation_mode, nearest_mode) != (b"nearest", b"asymmetric", b"floor"):
        raise ValueError(f"images are not resized in the way {mode}")
    return F.interpolate(x, scale_factor=scales[2:].tolist())


FUNCTIONS = {
    "Add": torch.add, "Sub": torch.sub, "Mul": torch.mul, "Div": torch.div, "Pow": torch.pow, "MatMul": torch.matmul,
    "Relu": torch.relu, "Sigmoid": torch.sigmoid, "Sqrt": torch.sqrt, "Clip": torch.clamp, "Conv": conv, "ConvTranspose": conv_transpose,
    "AveragePool": average, "MaxPool": largest, "BatchNormalization": normalized, "Reshape": reshaped, "Concat": joined, "Slice": part,
    "Resize": resized,
    "HardSigmoid": lambda x, alpha, beta: torch.clamp(x * alpha + beta, 0, 1),
    "GlobalAveragePool": lambda x: x.mean((2, 3), keepdim=True),
    "ReduceMean": lambda x, axes, keepdims=1: x.mean(axes, keepdim=bool(keepdims)),
    "Softmax": lambda x, axis: x.softmax(axis),
    "Transpose": lambda x, perm: x.permute(perm),
    "Squeeze": lambda x, axes: x if isinstance(x, list) else x.squeeze(axes),
    "Shape": lambda x: list(x.shape),
    "Cast": lambda x, to: x,
    "Identity": lambda x: x,
}  # fmt: skip


class OnnxNet(nn.Module):
    def __init__(self, path: Path) -> None:
        import onnx

        super().__init__()
        graph = onnx.load(path).graph
        value_of = onnx.helper.get_attribute_value
        tensors = {tensor.name: tensor for tensor in graph.initializer}
        self.steps = []
        for node in graph.node:
            attributes = {attribute.name: value_of(attribute) for attribute in node.attribute}
            if node.op_type == "Constant":
                tensors[node.output[0]] = attributes["value"]
            elif node.op_type not in FUNCTIONS:
                raise ValueError(f"{path.name} has {node.op_type}, which is not converted")
            else:
                self.steps.append((FUNCTIONS[node.op_type], list(node.input), node.output[0], attributes))
        self.numbers = {"": None}  # an argument that is left out
        for name, tensor in tensors.items():
            value = torch.from_numpy(onnx.numpy_helper.to_array(tensor).copy())
            if value.is_floating_point():
                self.register_buffer(name.replace(".", "_"), value)
            else:
                self.numbers[name] = value.flatten().tolist()
        self.input, self.output = graph.input[0].name, graph.output[0].name

    def forward(self, x):
        known = {**self.numbers, self.input: x}
        for function, names, output, attributes in self.steps:
            known[output] = function(*(known[n] if n in known else getattr(self, n.replace(".", "_")) for n in names), **attributes)
        return known[self.output]
