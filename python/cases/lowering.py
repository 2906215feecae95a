# SPDX-License-Identifier: BSD-3-Clause
"""A case's program, as the pinned ExecuTorch exports it."""
import collections
import contextlib
import dataclasses
import functools
import gc
import inspect
import sys
import tempfile
import warnings
from collections.abc import Mapping
from pathlib import Path

import executorch.backends.vulkan.custom_ops_lib  # noqa: F401  the et_vk ops
import executorch.backends.vulkan.patterns as vulkan_patterns
import executorch.backends.vulkan.utils as vulkan_utils
import torch
import torch._export.utils as export_utils
from executorch.backends.vulkan.op_registry import OpFeatures, vulkan_supported_ops
from executorch.backends.vulkan.partitioner.vulkan_partitioner import VulkanPartitioner
from executorch.backends.vulkan.serialization.vulkan_graph_serialize import (
    extract_vk_flatbuffer,
    flatbuffer_to_vk_graph,
)
from executorch.exir import EdgeCompileConfig, to_edge_transform_and_lower
from executorch.exir.dialects._ops import ops as exir_ops
from executorch.extension.llm.custom_ops import custom_ops  # noqa: F401  the llama ops
from torch.export import Dim

from cases import graph
from cases.case import Case, integer
from cases.golden import build, first_call, make_inputs


@dataclasses.dataclass(frozen=True)
class Lowered:
    program: bytes
    data_files: Mapping[str, bytes]  # .ptd
    delegate_ops: Mapping[str, int]
    portable_ops: Mapping[str, int]
    delegates: int
    mutated_inputs: list[int]


@functools.cache
def prepare_process():
    """Makes exports after the first one ten times faster; what they emit stays the same."""
    # Each lowering asks twice for the graphs of the fusion patterns, and they are exported anew each time.
    for pattern in vulkan_patterns.fusable_patterns.values():
        if pattern.get_graphs_fn:
            pattern.get_graphs_fn = functools.cache(pattern.get_graphs_fn)
    # torch.export walks all operators for each namespace again. It is enough to do so once for each set of namespaces.
    walk = functools.cache(lambda namespaces, walk=export_utils._materialize_cpp_cia_ops: walk())
    export_utils._materialize_cpp_cia_ops = lambda: walk(frozenset(torch.ops._dir))
    warnings.filterwarnings("ignore", category=FutureWarning)
    gc.collect()
    gc.freeze()


def dynamic_shape(spec):
    if isinstance(spec, integer):
        return Dim.DYNAMIC(min=spec.low, max=spec.high)
    return {axis: size for axis, size in enumerate(getattr(spec, "shape", ())) if isinstance(size, Dim)} or None


def mutated_inputs(program: torch.export.ExportedProgram) -> list[int]:
    signature = program.graph_signature
    return sorted(signature.user_inputs.index(name) for name in signature.user_inputs_to_mutate.values())


def delegate_graphs(program):
    for plan in program.execution_plan:
        for delegate in plan.delegates:
            blob = program.backend_delegate_data[delegate.processed.index].data
            yield flatbuffer_to_vk_graph(extract_vk_flatbuffer(bytes(blob)))


def portable_ops(program) -> collections.Counter:
    names = collections.Counter()
    for plan in program.execution_plan:
        for instruction in plan.chains[0].instructions:
            index = getattr(instruction.instr_args, "op_index", None)
            if index is not None:
                op = plan.operators[index]
                names[f"{op.name}.{op.overload}" if op.overload else op.name] += 1
    return names


def data_files(manager) -> dict[str, bytes]:
    with tempfile.TemporaryDirectory() as folder:
        manager.write_tensor_data_to_file(folder)
        return {path.name: path.read_bytes() for path in sorted(Path(folder).iterdir())}


def edge_op(symbol: str):
    """The op of this name, which the partitioner does not know."""
    namespace, name, overload = symbol.split(".")
    return getattr(getattr(getattr(exir_ops.edge, namespace), name), overload)


@contextlib.contextmanager
def limits_of_the_partitioner(case: Case):
    """Lifted for the expected ops if the case goes beyond them."""
    own = dict(vulkan_supported_ops)
    if case.beyond:
        known = {op.replace("::", ".") + ".default" if isinstance(op, str) else op.__name__: op for op in own}
        for symbol in case.expect_ops:
            op = known.get(symbol) or edge_op(symbol)
            vulkan_supported_ops[op] = OpFeatures(
                inputs_storage=vulkan_utils.CONTIGUOUS_BUFFER,
                supports_resize=True,
                supports_highdim=True,
                supports_prepacking=op not in own or own[op].supports_prepacking,
            )
    try:
        yield
    finally:
        vulkan_supported_ops.clear()
        vulkan_supported_ops.update(own)


class KeepsExpected(VulkanPartitioner):
    """Lets the exporter not take apart the ops that a case is about."""

    def __init__(self, case: Case):
        super().__init__(dict(case.compile))
        self.expected = [edge_op(symbol)._op for symbol in case.expect_ops if symbol.startswith("aten.")]

    def ops_to_not_decompose(self, ep):
        ops, filter_fn = super().ops_to_not_decompose(ep)
        return [*ops, *(op for op in self.expected if op not in ops)], filter_fn


def delegates_by_hand(case: Case, inputs: list):
    if not case.graph:
        return contextlib.nullcontext()
    module = build(case)
    return graph.delegates_by_hand(case.graph, module, dict(zip(inspect.signature(module.forward).parameters, inputs)))


def summary(manager, mutated: list[int]) -> Lowered:
    program = manager.executorch_program
    ops = collections.Counter()
    for graph in delegate_graphs(program):
        ops.update(call.name for call in graph.chain)
    return Lowered(
        program=manager.buffer,
        data_files=data_files(manager),
        delegate_ops=ops,
        portable_ops=portable_ops(program),
        delegates=sum(len(plan.delegates) for plan in program.execution_plan),
        mutated_inputs=mutated,
    )


@functools.cache
def own_partitioner():
    """PteronPartitioner asks the engine, so the package comes from a build."""
    built = Path(__file__).resolve().parents[2] / "build" / "release" / "python"
    if not (built / "pteron" / "libpteron.so.1").exists():
        raise FileNotFoundError("cases with own=True need the engine: run tools/build release pteron_c first")
    sys.path.insert(0, str(built))
    from pteron.partition import PteronPartitioner

    return PteronPartitioner


def partitioner(case: Case):
    if case.graph:
        return graph.Everything()
    if case.own:
        return own_partitioner()(dict(case.compile))
    return KeepsExpected(case) if case.beyond else VulkanPartitioner(dict(case.compile))


def lower(case: Case) -> Lowered:
    prepare_process()
    _, inputs = make_inputs(case, 0, {} if case.dims() else first_call(case))
    exported = torch.export.export(
        build(case), tuple(inputs), dynamic_shapes=tuple(map(dynamic_shape, case.inputs)), strict=case.strict
    )
    with limits_of_the_partitioner(case), delegates_by_hand(case, inputs):
        edge = to_edge_transform_and_lower(
            exported,
            transform_passes=list(case.passes),
            partitioner=[partitioner(case)],
            compile_config=EdgeCompileConfig(**case.edge),
        )
    mutated = mutated_inputs(edge.exported_program())
    return summary(edge.to_executorch(), mutated)


def check(case: Case, lowered: Lowered):
    """A case must really test what it says."""
    missing = set(case.expect_ops) - set(lowered.delegate_ops)
    if missing:
        found = ", ".join(sorted(lowered.delegate_ops)) or "none"
        raise ValueError(f"{case.name}: {', '.join(sorted(missing))} is not in the delegate; there are {found}")
    outside = set(lowered.portable_ops) - set(case.portable_ops)
    if lowered.mutated_inputs:
        outside.discard("aten::copy_")  # writes an updated input back
    if outside:
        raise ValueError(f"{case.name}: {', '.join(sorted(outside))} stays outside of the delegate")
    if lowered.delegates != 1 and not case.portable_ops:
        raise ValueError(f"{case.name}: the program has {lowered.delegates} delegates")
