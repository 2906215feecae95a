# SPDX-License-Identifier: BSD-3-Clause
"""A partitioner that gives the engine whatever it computes, so that a model arrives in one piece.

    from executorch.exir import to_edge_transform_and_lower
    from pteron.partition import PteronPartitioner

    partitioner = PteronPartitioner()
    edge = to_edge_transform_and_lower(torch.export.export(model, example), partitioner=[partitioner])
    print(partitioner.report())  # what stays outside, and why

Whether the engine computes a node is asked of the engine itself, with the node's types and shapes.
"""
import collections
import copy
from collections.abc import Callable, Mapping

import torch
from executorch.backends.vulkan.op_registry import vulkan_supported_ops
from executorch.backends.vulkan.partitioner.vulkan_partitioner import ops_not_to_decompose, parse_compile_options
from executorch.exir.backend.partitioner import DelegationSpec, Partitioner, PartitionResult
from executorch.exir.backend.utils import tag_constant_data, tag_mutated_buffer
from executorch.exir.dialects._ops import ops
from torch._decomp import decomposition_table as table
from torch._export.utils import is_lifted_tensor_constant
from torch.export import ExportedProgram
from torch.fx import Node
from torch.fx.passes.infra.partitioner import CapabilityBasedPartitioner
from torch.fx.passes.operator_support import OperatorSupportBase

from pteron._backend import INT32, PteronBackend, fusable_nodes
from pteron._forms import is_getitem, is_result, is_symbolic, refused

#: Removed on the way: what they assert is checked by the exporter's caller or by the engine.
ASSERTIONS = {torch.ops.aten._assert_scalar.default, torch.ops.aten.sym_constrain_range_for_size.default}
#: Between a constant that a model writes down and its use.
COPIES = {ops.edge.aten.clone.default, ops.edge.aten.lift_fresh_copy.default, ops.edge.dim_order_ops._clone_dim_order.default}
#: Ops that neither the engine nor ExecuTorch has, but for which torch has a definition by others.
TAKEN_APART = (torch.ops.aten.adaptive_max_pool2d.default, torch.ops.aten.addmv.default)
#: A tensor's only element as a number of Python's.
READS = (torch.ops.aten.item.default, torch.ops.aten._local_scalar_dense.default)
FUNCTIONALIZED = {torch.ops.higher_order.auto_functionalized, torch.ops.higher_order.auto_functionalized_v2}


def large_constant(node: Node, program: ExportedProgram) -> str | None:
    """Whether a node takes a constant with numbers that need 64 bits."""
    constants = program.graph_signature.inputs_to_lifted_tensor_constants
    for source in node.all_input_nodes:
        while source.op == "call_function" and source.target in COPIES:
            source = source.args[0]
        value = program.constants.get(constants.get(source.name))
        if isinstance(value, torch.Tensor) and value.dtype == torch.int64 and value.numel():
            low, high = int(value.min()), int(value.max())
            if low < INT32.min or high > INT32.max:
                return f"its constant holds {low} to {high}, which 32 bits can't"
    return None


def asserted_alone(read: Node) -> list[Node]:
    """A number that is read from a tensor and all that is computed with it, if that ends in assertions and nowhere else."""
    found = [read]
    for node in found:
        if not (node.target in ASSERTIONS or (node.users and is_symbolic(node))):
            return []
        found += [user for user in node.users if user not in found]
    return found


def idle_reads(program: ExportedProgram) -> set[Node]:
    """Assertions are left out anyway; a number that is read for them would cut the program in two."""
    reads = [read for op in READS for read in program.graph.find_nodes(op="call_function", target=op)]
    return {node for read in reads for node in asserted_alone(read)}


def joins_of_nothing(program: ExportedProgram) -> dict[Node, list[Node]]:
    """Concatenations with the parts that count. Torch ignores a part of shape [0] beside others with more axes; a cache that is
    filled for the first time has one. Nobody would want such a constant any more, and ExecuTorch can't load a program of it."""
    found = {}
    for node in program.graph.find_nodes(op="call_function", target=torch.ops.aten.cat.default):
        parts = [part for part in node.args[0] if tuple(part.meta["val"].shape) != (0,)]
        if 0 < len(parts) < len(node.args[0]) and parts[0].meta["val"].dim() > 1:
            found[node] = parts
    return found


def forget(program: ExportedProgram, node: Node) -> None:
    """Erases a node that nobody wants, and what nobody wants then: up to a constant that the model writes down."""
    if node.users or not (node.op == "call_function" or is_lifted_tensor_constant(program, node)):
        return
    sources = node.all_input_nodes
    program.graph.erase_node(node)
    if node.op == "placeholder":
        specs = program.graph_signature.input_specs
        spec = next(spec for spec in specs if spec.arg.name == node.name)
        specs.remove(spec)
        program.constants.pop(spec.target)
    for source in sources:
        forget(program, source)


def simplified(program: ExportedProgram) -> ExportedProgram:
    """Without what would keep a model from being one piece, and does nothing."""
    if not idle_reads(program) and not joins_of_nothing(program):
        return program
    program = copy.deepcopy(program)  # it is the caller's
    for node, parts in joins_of_nothing(program).items():
        left_out = [part for part in node.args[0] if part not in parts]
        node.args = (parts, *node.args[1:])
        for part in left_out:
            forget(program, part)
    idle = idle_reads(program)
    for node in reversed(program.graph.nodes):
        if node in idle:
            program.graph.erase_node(node)
    program.graph_module.recompile()
    return program


def plain(target):
    """An op of ATen or of others, where the exporter's dialect has one of its own for it."""
    return getattr(target, "_op", target)


class Support(OperatorSupportBase):
    def __init__(self, program: ExportedProgram, allow: Callable[[Node], str | None]) -> None:
        self.program, self.allow = program, allow
        self.fusable = fusable_nodes(program.graph_module)
        self.answers: dict[Node, str | None] = {}

    def reason(self, node: Node) -> str | None:
        """Why a node stays outside, or None."""
        if node not in self.answers:
            self.answers[node] = self._reason(node)
        return self.answers[node]

    def _reason(self, node: Node) -> str | None:
        if (why := self.allow(node)) or (why := large_constant(node, self.program)):
            return why
        if node.target in ASSERTIONS or node in self.fusable:
            return None
        if is_getitem(node):
            return self.reason(node.args[0])
        if node.target in FUNCTIONALIZED:
            name = node.args[0].name()
            return None if name in vulkan_supported_ops else f"{name} is not known"
        return refused(node, self.program)

    def is_node_supported(self, submodules: Mapping[str, torch.nn.Module], node: Node) -> bool:
        return node.op == "call_function" and self.reason(node) is None


def works_on_tensors(nodes, program: ExportedProgram) -> bool:
    """A delegate of sizes alone, or of constants that the model writes down, would only cost time; the exporter's passes
    can't trace the latter."""
    compute = [node for node in nodes if not is_symbolic(node) and node.target not in ASSERTIONS and not is_getitem(node)]
    sources = {source for node in compute for source in node.all_input_nodes if source not in nodes}
    return any(not is_symbolic(source) and not is_lifted_tensor_constant(program, source) for source in sources)


def give_back(program: ExportedProgram) -> None:
    """Leaves to the program what a delegate can't have for itself: constants that are results, too, and buffers with updates
    that others read. The exporter would fail at the former and copy the latter, so that updates got lost."""
    signature = program.graph_signature
    updated = {name for name, target in signature.inputs_to_buffers.items() if target in signature.buffers_to_mutate.values()}
    for node in program.graph.find_nodes(op="placeholder"):
        tags = {user.meta.get("delegation_tag") for user in node.users}
        if is_result(node) or (node.name in updated and len(tags) > 1):
            node.meta.pop("delegation_tag", None)


class PteronPartitioner(Partitioner):
    """`compile_options` are the Vulkan partitioner's that concern data: force_fp16, external_constants_max_data_bytes.
    Ops of `operator_blocklist`, and those that are not in `operator_allowlist`, stay outside."""

    def __init__(self, compile_options: dict | None = None, operator_blocklist=(), operator_allowlist=None) -> None:
        self.delegation_spec = DelegationSpec(PteronBackend.__name__, parse_compile_options(compile_options or {}))
        self.blocked = set(map(plain, operator_blocklist))
        self.allowed = None if operator_allowlist is None else set(map(plain, operator_allowlist))
        self.outside: dict[str, list[str]] = {}

    def transform_for_pre_decomposition(self, program: ExportedProgram) -> ExportedProgram:
        program = simplified(program)
        found = {op: table[op] for op in TAKEN_APART if program.graph.find_nodes(op="call_function", target=op)}
        return program.run_decompositions(found) if found else program

    def ops_to_not_decompose(self, ep: ExportedProgram):
        """Ops stay whole if the engine computes them wherever they stand; the others, and attention, are taken apart."""
        kept = [*ops_not_to_decompose, torch.ops.aten.scaled_dot_product_attention.default]
        nodes = {op: ep.graph.find_nodes(op="call_function", target=op) for op in kept}
        return [op for op in kept if not any(self._allow(node) or refused(node, ep) for node in nodes[op])], None

    def _allow(self, node: Node) -> str | None:
        if plain(node.target) in self.blocked:
            return "it is in the blocklist"
        if self.allowed is not None and plain(node.target) not in self.allowed and not is_symbolic(node) and not is_getitem(node):
            return "it is not in the allowlist"
        return None

    def partition(self, exported_program: ExportedProgram) -> PartitionResult:
        support = Support(exported_program, self._allow)
        found = CapabilityBasedPartitioner(
            exported_program.graph_module, support, allows_single_node_partition=True
        ).propose_partitions()
        tags = {}
        for partition in found:
            if works_on_tensors(partition.nodes, exported_program):
                tags[f"pteron{partition.id}"] = self.delegation_spec
                for node in partition.nodes:
                    node.meta["delegation_tag"] = f"pteron{partition.id}"
        self._note(exported_program, support)
        tag_constant_data(exported_program)
        tag_mutated_buffer(exported_program)
        give_back(exported_program)
        return PartitionResult(exported_program, tags)

    def _note(self, program: ExportedProgram, support: Support) -> None:
        outside = collections.defaultdict(dict)
        for node in program.graph.nodes:
            if node.op != "call_function" or "delegation_tag" in node.meta or is_getitem(node):
                continue
            why = support.reason(node)
            if why or not (is_symbolic(node) or node.target in ASSERTIONS):
                why = why or "it takes nothing that differs from call to call"
                outside[getattr(node.target, "__name__", str(node.target))][why] = None
        self.outside = {name: list(reasons) for name, reasons in sorted(outside.items())}

    def report(self) -> str:
        """A sentence for each op that the last program kept outside of delegates, and why."""
        return "\n".join(f"{name}: {reason}" for name, reasons in self.outside.items() for reason in reasons)
