# SPDX-License-Identifier: BSD-3-Clause
"""Nodes of an exported program in the words of the engine: names, types, upper bounds of shapes."""
import operator

import torch
from executorch.exir.sym_util import eval_upper_bound
from torch._export.utils import is_buffer, is_lifted_tensor_constant, is_param
from torch.export import ExportedProgram
from torch.fx import Node

from pteron._engine import Form, Symbol, refusal

#: How 64-bit types are stored in a file.
NARROWED = {torch.int64: torch.int32, torch.float64: torch.float32}
DTYPES = {torch.bool: "bool", torch.uint8: "uint8", torch.int8: "int8", torch.int32: "int32", torch.float16: "float16",
          torch.float32: "float32"}  # fmt: skip
SYMBOLIC = (torch.SymInt, torch.SymFloat, torch.SymBool)
PLAIN = (torch.dtype, torch.device, torch.layout, torch.memory_format)


class Unsupported(ValueError):
    """Why a node can't be told to the engine."""


def stored(dtype: torch.dtype) -> torch.dtype:
    return NARROWED.get(dtype, dtype)


def is_symbolic(node: Node) -> bool:
    return isinstance(node.meta.get("val"), (*SYMBOLIC, int, float, bool))


def is_constant(program: ExportedProgram, node: Node) -> bool:
    return node.op == "get_attr" or is_param(program, node) or is_buffer(program, node) or is_lifted_tensor_constant(program, node)


def is_result(node: Node) -> bool:
    return any(user.op == "output" for user in node.users)


def name_of(node: Node) -> str:
    """As it stands in a file; an op of ATen that the exporter left as it was gets the name that it has elsewhere."""
    target = node.target
    plain = isinstance(target, torch._ops.OpOverload) and target.namespace == "aten" and not is_symbolic(node)
    return f"aten.{target.__name__}" if plain else target.__name__


def form(tensor: torch.Tensor, constant: bool = False, dtype: torch.dtype | None = None) -> Form:
    dtype = stored(dtype or tensor.dtype)
    if dtype not in DTYPES:
        raise Unsupported(f"{str(dtype).removeprefix('torch.')} tensors are not supported")
    try:
        shape = tuple(map(eval_upper_bound, tensor.shape))
    except RuntimeError:
        raise Unsupported(f"the shape {list(tensor.shape)} has no upper bound; give its dimensions a max") from None
    return Form(DTYPES[dtype], shape, constant, any(isinstance(size, torch.SymInt) for size in tensor.shape))


def promoted(node: Node) -> dict[Node, torch.dtype]:
    """Tensors that an elementwise op takes in another type than they have, with the type that torch computes in."""
    tags = getattr(getattr(node.target, "_op", node.target), "tags", ())
    if torch.Tag.pointwise not in tags:
        return {}
    parameters = [argument.name for argument in node.target._schema.arguments]
    operands = [
        value
        for name, value in [*zip(parameters, node.args), *node.kwargs.items()]
        if isinstance(value, Node) and isinstance(value.meta.get("val"), torch.Tensor) and name not in ("condition", "mask")
    ]
    if len({stored(operand.meta["val"].dtype) for operand in operands}) < 2:
        return {}
    state = torch._prims_common.elementwise_dtypes(
        *(operand.meta["val"] for operand in operands),
        type_promotion_kind=torch._prims_common.ELEMENTWISE_TYPE_PROMOTION_KIND.NO_OPMATH,
    )[0]
    return {operand: state for operand in operands if operand.meta["val"].dtype != state}


def arguments(node: Node) -> list:
    """What the file holds for a call: in the order of the schema, defaults filled in."""
    if not hasattr(node.target, "_schema"):
        return list(node.args)
    out = []
    for i, parameter in enumerate(node.target._schema.arguments):
        given = node.args[i] if i < len(node.args) and not parameter.kwarg_only else node.kwargs.get(parameter.name, parameter.default_value)
        out.append(given)
    return out


def _told(value, program: ExportedProgram, casts: dict):
    match value:
        case Node() if is_symbolic(value):
            return Symbol()
        case Node() if isinstance(value.meta.get("val"), torch.Tensor):
            return form(value.meta["val"], is_constant(program, value) and not is_result(value), casts.get(value))
        case None | bool() | int() | float() | str():
            return value
        case list() | tuple():
            return tuple(_told(item, program, casts) for item in value)
        case _ if isinstance(value, PLAIN):
            return None
    raise Unsupported(f"an argument of it, {value}, has no place in a file")


def _result(value):
    match value:
        case torch.Tensor():
            return form(value)
        case tuple() | list():
            return tuple(_result(item) for item in value)
        case _ if isinstance(value, (*SYMBOLIC, int, float, bool)):
            return Symbol()
    raise Unsupported("its result is no tensor")


def refused(node: Node, program: ExportedProgram) -> str | None:
    """Why the engine does not compute a node, or None."""
    try:
        told = [_told(value, program, promoted(node)) for value in arguments(node)]
        return refusal(name_of(node), *told, _result(node.meta.get("val")))
    except Unsupported as error:
        return str(error)


def is_getitem(node: Node) -> bool:
    return node.op == "call_function" and node.target is operator.getitem
