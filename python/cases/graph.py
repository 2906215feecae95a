# SPDX-License-Identifier: BSD-3-Clause
"""Delegates written by hand, for ops and arguments that no pass of the exporter emits but that programs may hold.

    case("ones/odd", lambda x: torch.ones(3, 5) + x, f32(5), graph=ones, expect_ops="aten.ones.default")

    def ones(g, x):
        filled = g.call("aten.ones.default", [3, 5], None, None, None, None, out=g.tensor(torch.float32, 3, 5))
        return g.call("aten.add.Tensor", filled, x, 1, out=g.tensor(torch.float32, 3, 5))
"""
import contextlib
import dataclasses
from collections.abc import Callable

import executorch.backends.vulkan.serialization.vulkan_graph_schema as schema
import torch
from executorch.backends.vulkan.serialization.vulkan_graph_serialize import serialize_vulkan_graph
from executorch.backends.vulkan.vulkan_preprocess import VulkanBackend
from executorch.exir.backend.backend_details import PreprocessResult
from executorch.exir.backend.partitioner import DelegationSpec, Partitioner, PartitionResult
from executorch.exir.backend.utils import tag_constant_data
from torch.export import ExportedProgram

DATATYPES = {torch.bool: schema.VkDataType.BOOL, torch.uint8: schema.VkDataType.UINT8,
             torch.int8: schema.VkDataType.INT8, torch.int32: schema.VkDataType.INT32,
             torch.int64: schema.VkDataType.INT32, torch.float16: schema.VkDataType.FLOAT16,
             torch.float32: schema.VkDataType.FLOAT32, torch.float64: schema.VkDataType.FLOAT32}  # fmt: skip


@dataclasses.dataclass(frozen=True)
class Value:
    id: int


class Graph:
    """Takes Python's values for arguments; None is a Null, a list of Values a ValueList, a tuple a list of doubles."""

    def __init__(self, module: torch.nn.Module):
        self.module = module  # what the graph stands for; it has the constants
        self.graph = schema.VkGraph("0", [], [], [], [], [], [])
        self.constants: list[torch.Tensor] = []

    def _add(self, value) -> Value:
        self.graph.values.append(schema.VkValue(value))
        return Value(len(self.graph.values) - 1)

    def tensor(self, dtype: torch.dtype, *shape: int) -> Value:
        return self._add(schema.VkTensor(DATATYPES[dtype], list(shape), -1, -1))

    def like(self, tensor: Value) -> Value:
        """Another one of the same type and shape."""
        return self._add(dataclasses.replace(self.graph.values[tensor.id].value))

    def constant(self, tensor: torch.Tensor) -> Value:
        self.constants.append(tensor.detach().contiguous().clone())
        return self._add(schema.VkTensor(DATATYPES[tensor.dtype], list(tensor.shape), len(self.constants) - 1, -1))

    def shape(self, tensor: Value) -> list[int]:
        return self.graph.values[tensor.id].value.dims

    def symint(self) -> Value:
        return self._add(schema.SymInt(0))

    def value(self, value) -> Value:
        match value:
            case Value():
                return value
            case None:
                return self._add(schema.Null())
            case bool():
                return self._add(schema.Bool(value))
            case int():
                return self._add(schema.Int(value))
            case float():
                return self._add(schema.Double(value))
            case str():
                return self._add(schema.String(value))
            case tuple():
                return self._add(schema.DoubleList(list(value)))
            case [Value(), *_]:
                return self._add(schema.ValueList([self.value(item).id for item in value]))
            case list():
                return self._add(schema.IntList(value))
        raise TypeError(f"{value} can't be an argument")

    def call(self, name: str, *args, out) -> Value:
        ids = [self.value(arg).id for arg in (*args, out)]
        self.graph.chain.append(schema.OperatorCall(len(self.graph.chain), name, ids))
        return out


def build(draw: Callable, module: torch.nn.Module, inputs: dict[str, torch.Tensor], program: ExportedProgram) -> bytes:
    """The delegate that `draw` makes from inputs (by name) of the highest sizes."""
    g = Graph(module)
    values = {name: g.tensor(x.dtype, *x.shape) for name, x in inputs.items()}
    outputs = draw(g, *values.values())
    # The delegate is called with them in the order of the program that it takes the place of.
    g.graph.input_ids = [values[name].id for name in program.graph_signature.user_inputs]
    g.graph.output_ids = [value.id for value in (outputs if isinstance(outputs, (list, tuple)) else [outputs])]
    return serialize_vulkan_graph(g.graph, g.constants, [])


class Everything(Partitioner):
    """One delegate that takes the whole program."""

    def __init__(self):
        self.delegation_spec = DelegationSpec(VulkanBackend.__name__, [])

    def partition(self, exported_program: ExportedProgram) -> PartitionResult:
        for node in exported_program.graph.nodes:
            if node.op == "call_function":
                node.meta["delegation_tag"] = "all"
        tag_constant_data(exported_program)
        return PartitionResult(exported_program, {"all": self.delegation_spec})


@contextlib.contextmanager
def delegates_by_hand(draw: Callable, module: torch.nn.Module, inputs: dict[str, torch.Tensor]):
    own = VulkanBackend.__dict__["preprocess"]
    VulkanBackend.preprocess = classmethod(
        lambda cls, program, specs: PreprocessResult(processed_bytes=build(draw, module, inputs, program))
    )
    try:
        yield
    finally:
        VulkanBackend.preprocess = own
