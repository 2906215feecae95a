# SPDX-License-Identifier: BSD-3-Clause
"""What PteronPartitioner's parts of a program become: delegates in the format of ExecuTorch's Vulkan backend.

The wheel's passes and writer do the work. Left out is what serves textures alone, and what would change the data:
types are promoted as torch does, buffers keep their updates, constants that 32 bits can't hold are an error.
"""
import dataclasses
import functools
import operator

import executorch.backends.vulkan.custom_ops_lib  # noqa: F401  the et_vk ops
import executorch.backends.vulkan.patterns as vulkan_patterns
import torch
from executorch.backends.transforms.addmm_mm_to_linear import AddmmToLinearTransform
from executorch.backends.transforms.fuse_conv_with_clamp import FuseClampPass
from executorch.backends.vulkan._passes import FuseQuantizedOpsTransform, RemoveRedundantOpsTransform
from executorch.backends.vulkan._passes.remove_asserts import RemoveAssertsTransform
from executorch.backends.vulkan.serialization.vulkan_graph_builder import VkGraphBuilder
from executorch.backends.vulkan.serialization.vulkan_graph_serialize import serialize_vulkan_graph
from executorch.backends.vulkan.vulkan_preprocess import apply_passes, parse_compile_spec
from executorch.backends.xnnpack._passes import FuseBatchNormPass
from executorch.exir.backend.backend_details import BackendDetails, CompileSpec, PreprocessResult
from executorch.exir.backend.utils import DelegateMappingBuilder
from executorch.exir.dialects._ops import ops
from executorch.exir.pass_base import ExportPass, PassResult
from executorch.exir.passes import SpecPropPass
from executorch.exir.passes.sym_shape_eval_pass import ConstraintBasedSymShapeEvalPass
from torch._dispatch.python import enable_python_dispatcher
from torch._guards import detect_fake_mode
from torch.export import ExportedProgram
from torch.export._remove_auto_functionalized_pass import unsafe_remove_auto_functionalized_pass
from torch.export.graph_signature import OutputKind
from torch.fx import GraphModule, Node
from torch.fx.node import map_arg
from torch.fx.passes.utils.matcher_utils import SubgraphMatcher

from pteron._engine import check_delegate
from pteron._forms import is_constant, is_getitem, is_symbolic, name_of, promoted, refused

INT32 = torch.iinfo(torch.int32)


@functools.cache
def pattern_graphs(name: str) -> list[GraphModule]:
    """A pattern is exported once in a process, which takes seconds."""
    return vulkan_patterns.fusable_patterns[name].get_graphs_fn()


def patterns():
    for name, entry in vulkan_patterns.fusable_patterns.items():
        if entry.create_replacement_fn is not None:
            yield (pattern_graphs(name) if entry.get_graphs_fn else []), entry


def fusable_nodes(graph_module: GraphModule) -> set[Node]:
    """Nodes that become a part of one of the wheel's fused ops."""
    found = set()
    for graphs, entry in patterns():
        for graph in graphs:
            for match in SubgraphMatcher(graph.graph, ignore_literals=True).match(graph_module.graph):
                found.update(vulkan_patterns.create_pattern_match_from_internal_match(match).all_nodes)
        if entry.detector_fn:
            for node in graph_module.graph.nodes:
                if match := entry.detector_fn(node):
                    found.update(match.all_nodes)
    return found


def computed(node: Node):
    """A node's value as its op gives it: a replacement starts with the value of one of those that it takes in."""
    args, kwargs = map_arg((node.args, node.kwargs), lambda argument: argument.meta["val"])
    with enable_python_dispatcher(), detect_fake_mode((args, kwargs)):
        return node.target(*args, **kwargs)


def replace(program: ExportedProgram, graph_module: GraphModule, match, create) -> None:
    """Puts a fused op in the place of what matches. If the engine refuses just that op, the nodes stay that it does compute; not
    if their constants were packed for the fused one."""
    old, inside = set(graph_module.graph.nodes), {node for node in match.all_nodes if isinstance(node, Node)}  # or literals
    users = {user: (user.args, user.kwargs) for node in inside for user in node.users if user not in inside}
    can_stay = not any(refused(node, program) for node in inside if node.op == "call_function" and not is_getitem(node))
    constants = {name: id(tensor) for name, tensor in program.state_dict.items()}
    create(program, graph_module, match)
    new = [node for node in graph_module.graph.nodes if node not in old]
    if not can_stay or any(id(program.state_dict.get(name)) != known for name, known in constants.items()):
        return
    calls = [node for node in new if node.op == "call_function" and not is_getitem(node) and "val" in node.meta]
    for node in calls:
        node.meta["val"] = computed(node)
    if not any(refused(node, program) for node in calls):
        return
    for user, (args, kwargs) in users.items():
        user.args, user.kwargs = args, kwargs
    for node in reversed(new):
        graph_module.graph.erase_node(node)


class FusePatterns(ExportPass):
    def __init__(self) -> None:
        super().__init__()
        self._exported_program = None  # set before the call, as for the wheel's own

    def call(self, graph_module: GraphModule) -> PassResult:
        program, replaced = self._exported_program, 0
        for graphs, entry in patterns():
            create = functools.partial(replace, create=entry.create_replacement_fn)
            replaced += vulkan_patterns.create_replacement_for_pattern(program, graph_module, graphs, create)
        for node in graph_module.graph.nodes:
            for _, entry in patterns():
                if entry.detector_fn and (match := entry.detector_fn(node)):
                    replace(program, graph_module, match, entry.create_replacement_fn)
                    replaced += 1
        graph_module.graph.eliminate_dead_code()
        graph_module.recompile()
        return PassResult(super().call(graph_module).graph_module if replaced else graph_module, replaced > 0)


class Promote(ExportPass):
    """Casts operands of elementwise ops to the type that torch computes in."""

    def call(self, graph_module: GraphModule) -> PassResult:
        changed = False
        for node in list(graph_module.graph.nodes):
            for operand, dtype in promoted(node).items() if node.op == "call_function" else ():
                with graph_module.graph.inserting_before(node):
                    cast = graph_module.graph.call_function(ops.edge.aten._to_copy.default, (operand,), {"dtype": dtype})
                cast.meta["val"] = operand.meta["val"].to(dtype)
                node.replace_input_with(operand, cast)
                changed = True
        graph_module.recompile()
        return PassResult(graph_module, changed)


def copied(graph_module: GraphModule, node: Node, before: Node) -> Node:
    """A copy, which is removed again when the passes are through that must not see what stands behind it."""
    with graph_module.graph.inserting_before(before):
        copy = graph_module.graph.call_function(ops.edge.aten.clone.default, (node,))
    copy.meta["val"] = node.meta["val"]
    return copy


class HideFromLinear(ExportPass):
    """Products that are not what `linear` computes: scaled, with a bias that is no row, of integers, or with a matrix whose axes
    stay in their order. The wheel's pass looks for a permutation right behind the product; a copy in between, which goes later,
    keeps it away."""

    PRODUCTS = (ops.edge.aten.addmm.default, ops.edge.aten.mm.default)

    @staticmethod
    def is_linear(node: Node) -> bool:
        if not node.meta["val"].is_floating_point():
            return False
        matrix, bias = node.args[-1], node.args[0].meta["val"].shape == node.meta["val"].shape[1:] if len(node.args) == 3 else True
        if matrix.target == ops.edge.aten.permute_copy.default and matrix.args[1][0] % 2 == 0:
            return False
        return bias and all(node.kwargs.get(name, 1) == 1 for name in ("beta", "alpha"))

    def call(self, graph_module: GraphModule) -> PassResult:
        changed = False
        for node in [node for op in self.PRODUCTS for node in graph_module.graph.find_nodes(op="call_function", target=op)]:
            matrix = node.args[-1]
            if self.is_linear(node):
                continue
            node.args = (*node.args[:-1], copied(graph_module, matrix, node))
            changed = True
        graph_module.recompile()
        return PassResult(graph_module, changed)


class HideFromBatchNorm(ExportPass):
    """Transposed convolutions in groups, whose weights the wheel's pass would scale along a wrong axis."""

    def call(self, graph_module: GraphModule) -> PassResult:
        changed = False
        for node in graph_module.graph.find_nodes(op="call_function", target=ops.edge.aten.convolution.default):
            transposed, groups = node.args[6], node.args[8]
            for norm in list(node.users) if transposed and groups > 1 else ():
                if norm.op == "call_function" and norm.args[0] is node:
                    norm.args = (copied(graph_module, node, norm), *norm.args[1:])
                    changed = True
        graph_module.recompile()
        return PassResult(graph_module, changed)


class Builder(VkGraphBuilder):
    def maybe_add_constant_tensor(self, node: Node) -> int:
        if is_constant(self.program, node):
            tensor = self.get_param_tensor(node)
            if tensor.dtype == torch.int64 and tensor.numel() and not INT32.min <= tensor.min() <= tensor.max() <= INT32.max:
                raise ValueError(
                    f"the constant '{node.name}' holds {tensor.min()} to {tensor.max()}; numbers on the GPU have 32 bits, from "
                    f"{INT32.min} to {INT32.max}"
                )
        return super().maybe_add_constant_tensor(node)

    def create_node_value(self, node: Node) -> int:
        if is_symbolic(node) and node.name not in self.buffer_mutation_inputs:
            self.node_to_value_ids[node] = self.create_symint_value()
            return self.node_to_value_ids[node]
        return super().create_node_value(node)

    def process_placeholder_node(self, node: Node) -> None:
        """Whoever calls the delegate gives it all inputs, also those that no op takes any more."""
        if node.users or is_constant(self.program, node):
            super().process_placeholder_node(node)
        else:
            self.input_ids.append(self.create_node_value(node))

    def process_call_function_node(self, node: Node) -> None:
        super().process_call_function_node(node)
        self.chain[-1].name = name_of(node)


def keep_updates(program: ExportedProgram) -> ExportedProgram:
    """Gives every updated buffer a node of its own that writes it last, so that nobody reads the new value for the old; and
    every other result as well, because the writer counts a node that is two results as one."""
    graph, signature = program.graph_module.graph, program.graph_signature
    nodes = {node.name: node for node in graph.nodes}
    order = {node: i for i, node in enumerate(graph.nodes)}
    output = graph.output_node()
    results = list(output.args[0])
    buffers = {target: nodes[name] for name, target in signature.inputs_to_buffers.items() if name in nodes}
    updates = {i: buffers[target] for i, (node, target) in enumerate(_updates(signature)) if target in buffers}

    def writes_in_place(index: int) -> bool:
        """Whether the node that computes a buffer's new value may put it there at once."""
        new, old = results[index], updates[index]
        read_later = old in results or any(order[user] > order[new] for user in old.users)
        return new.op == "call_function" and new.target is not operator.getitem and not read_later and results.count(new) == 1

    def clone(node: Node) -> Node:
        with graph.inserting_before(output):
            copy = graph.call_function(ops.edge.aten.clone.default, (node,))
        copy.meta["val"] = node.meta["val"]
        return copy

    # All new values are taken before the first old one is lost.
    taken = {index: clone(results[index]) for index in [index for index in updates if not writes_in_place(index)]}
    twice = {index: node for index, node in enumerate(results) if index not in taken and node in results[:index]}
    for index, node in (taken | twice).items():
        results[index] = clone(node)
        signature.output_specs[index].arg = dataclasses.replace(signature.output_specs[index].arg, name=results[index].name)
    output.args = (type(output.args[0])(results),)
    program.graph_module.recompile()
    return program


def _updates(signature) -> list[tuple[str, str | None]]:
    """By output: its name, and the buffer whose new value it is."""
    return [(spec.arg.name, spec.target if spec.kind is OutputKind.BUFFER_MUTATION else None) for spec in signature.output_specs]


class PteronBackend(BackendDetails):
    @classmethod
    def preprocess(cls, edge_program: ExportedProgram, compile_specs: list[CompileSpec]) -> PreprocessResult:
        options = parse_compile_spec(compile_specs)
        program = unsafe_remove_auto_functionalized_pass(edge_program)
        program = apply_passes(
            program,
            [
                HideFromLinear(), HideFromBatchNorm(), AddmmToLinearTransform(), FuseBatchNormPass(program), AddmmToLinearTransform(), Promote(), FusePatterns(),
                FuseClampPass(), RemoveRedundantOpsTransform(), FuseQuantizedOpsTransform(), keep_updates, SpecPropPass(),
                RemoveAssertsTransform(), ConstraintBasedSymShapeEvalPass(),
            ],
        )  # fmt: skip
        builder = Builder(
            program,
            DelegateMappingBuilder(generated_identifiers=True),
            force_fp16=options.get("force_fp16", False),
            alias_buffer_mutations=True,
        )
        graph = builder.build_graph()
        if limit := options.get("external_constants_max_data_bytes"):
            builder.named_data_store.externalize_pte_data(limit, "vulkan_constants")
        blob = serialize_vulkan_graph(graph, builder.const_tensors, [])
        check_delegate(blob)
        return PreprocessResult(
            processed_bytes=blob,
            debug_handle_map=builder.delegate_mapping_builder.get_delegate_mapping(),
            data_store_output=builder.named_data_store.get_named_data_store_output(),
        )
