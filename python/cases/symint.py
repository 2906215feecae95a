# SPDX-License-Identifier: BSD-3-Clause
"""Symbolic integers: sizes and values that are known only when the program runs."""
import operator

import torch
from torch.fx.passes.infra.pass_base import PassBase, PassResult

from cases.case import case, dim, f32, i32, i64, integer

s, t, k = dim("s", 1, 9), dim("t", 1, 5), dim("k", 1, 6)
# Long enough that half of them is not a size of 1, which torch.export would take for a constant.
long, wide = dim("long", 4, 9), dim("wide", 4, 7)

SIZE, SELECT = "sym_size.int", "et_vk.select_as_symint.default"
SLICE, VIEW = "aten.slice_copy.Tensor", "aten.view_copy.default"


def value_of(position: torch.Tensor, low: int, high: int):
    """The last element of a position tensor, as the exporter wants to see it."""
    value = position[-1].item()
    torch._check(value >= low)
    torch._check(value <= high)
    return value


def rows_at(x, position, count: int):
    start = position[-1].item()
    torch._check_is_size(start)
    torch._check(start + count <= x.shape[0])
    return x.narrow(0, start, count)


def four_rows_at(x, position):
    return rows_at(x, position, 4)


def rows_at_own_size(table, y, position):
    return rows_at(table, position, y.shape[0]) + y


def two_positions(x, position):
    first, count = position[0].item(), position[1].item()
    torch._check_is_size(first)
    torch._check(count >= 2)
    torch._check(first + count <= x.shape[0])
    return x.narrow(0, first, count), x.narrow(0, first, 2)


def arithmetic(x, position):
    n = value_of(position, 0, 6)
    start = n * 2 - n // 2
    torch._check_is_size(start)
    torch._check(start + 3 <= x.shape[0])
    return x.narrow(0, start, 3)


def size_of_selected_rows(x, position):
    y = x[: value_of(position, 2, 9)]
    return torch.cat([y, x])[: y.shape[0]], y.reshape(-1)


def every_second(x):
    y = x[::2]
    return torch.cat([y, x])[: y.shape[0]]


class SizeOfSlice(PassBase):
    """Reads the size of a slice from the slice itself, where torch.export computes it from the size of the input."""

    def call(self, graph_module):
        graph = graph_module.graph
        computed = next(node for node in graph.nodes if node.target is operator.floordiv)
        sliced = next(node for node in graph.nodes if "slice_copy" in str(node.target))
        with graph.inserting_before(computed):
            size = graph.call_function(torch.ops.aten.sym_size.int, (sliced, 0))
        size.meta = dict(computed.meta)
        computed.replace_all_uses_with(size)
        graph.eliminate_dead_code()
        return PassResult(graph_module, True)


def every_second_of_both(x):
    y = x[::2, ::2]
    joined = torch.cat([y, y])
    return joined[y.shape[0] :], joined.reshape(joined.shape[0] * joined.shape[1])


def at(*position):
    return {"position": position}


BOTH = [{"s": 4, "t": 3}, {"s": 1, "t": 5}, {"s": 1, "t": 1}, {"s": 9, "t": 1}]

SIZES = [
    case("sym_size/of_input", lambda x: torch.cat([x, x])[: x.shape[0]], f32(s, 5), live=[4, 1], expect_ops=SIZE),
    case("sym_size/of_inner_axis", lambda x: torch.cat([x, x], 1)[:, : x.shape[1]], f32(3, s, 2), live=[4, 1],
         expect_ops=SIZE),
    case("sym_size/of_two_inputs", lambda x, y: torch.cat([x, y])[x.shape[0] :], f32(s, 5), f32(t, 5), live=BOTH,
         expect_ops=SIZE),
    case("sym_size/of_slice", every_second, f32(long, 5), live=[5, 4], passes=(SizeOfSlice(),), expect_ops=SIZE),
    case("sym_size/as_output", lambda x: (x * x, x.shape[0], x.shape[1]), f32(s, t), live=BOTH, expect_ops=SIZE),
]

ARITHMETIC = [
    case("sym_add/size_of_cat", lambda x, y: torch.cat([x, y]).reshape((x.shape[0] + y.shape[0]) * 3), f32(s, 3),
         f32(t, 3), live=BOTH, expect_ops="add"),
    case("sym_add/constant", every_second, f32(long, 5), live=[8, 5, 4], expect_ops="add"),
    case("sym_add/negative", lambda x: torch.cat([x, x])[: x[1:].shape[0]], f32(long, 5), live=[5, 4],
         expect_ops="add"),
    case("sym_add/as_output", lambda x, y: (torch.cat([x, y]), x.shape[0] + y.shape[0]), f32(s), f32(t), live=BOTH,
         expect_ops="add"),
    case("sym_sub/last_row", lambda x: x[x.shape[0] - 1 :], f32(long, 5), live=[5, 4], expect_ops="sub"),
    case("sym_sub/of_sizes", lambda x, y: x[x.shape[0] - y.shape[0] :] * y, f32(s + 5, 3), f32(t, 3), live=BOTH,
         expect_ops="sub"),
    case("sym_sub/of_position", arithmetic, f32(14, 3), i64(3, low=0, high=7), live=[at(9, 9, 6), at(7, 7, 0)],
         expect_ops="sub"),
    case("sym_sub/as_output", lambda x, y: (x + y, x.shape[0] - 2 * y.shape[1]), f32(s, 1), f32(1, t), live=BOTH,
         expect_ops="sub"),
    case("sym_mul/constant", lambda x: x.reshape(x.shape[0] * 5), f32(s, 5), live=[4, 1], expect_ops="mul"),
    case("sym_mul/of_sizes", lambda x: x.reshape(x.shape[0] * x.shape[1]), f32(s, t), live=BOTH, expect_ops="mul"),
    case("sym_mul/three", lambda x: x.reshape(3 * x.shape[0] * x.shape[2]), f32(s, 3, t), live=BOTH, expect_ops="mul"),
    case("sym_mul/as_output", lambda x: (x + x, x.shape[0] * x.shape[1] * -3), f32(s, t), live=BOTH, expect_ops="mul"),
    case("sym_floordiv/half", lambda x: x[: x.shape[0] // 2], f32(long, 5), live=[5, 4], expect_ops="floordiv"),
    case("sym_floordiv/pairs", lambda x: x.reshape(x.shape[0] // 2, 6), f32(2 * k, 3), live=[3, 1],
         expect_ops="floordiv"),
    case("sym_floordiv/transposed", lambda x: x.view(x.shape[0] // 3, 3, 5).permute(1, 0, 2), f32(3 * k, 5),
         live=[3, 1], expect_ops=["floordiv", "aten.permute_copy.default"]),
    case("sym_floordiv/both_axes", every_second_of_both, f32(long, wide),
         live=[{"long": 5, "wide": 4}, {"long": 4, "wide": 7}], expect_ops=["floordiv", "mul", "add"]),
    # Rounds toward minus infinity.
    case("sym_floordiv/negative", lambda x: (x + x, (1 - x.shape[0]) // 3), f32(s, 2), live=[4, 3, 2, 1],
         expect_ops="floordiv"),
]

VALUES_OF_INPUTS = [
    case("select_as_symint/int64", four_rows_at, f32(9, 3), i64(of=[2]), live=[at(0), at(5)], expect_ops=SELECT),
    case("select_as_symint/int32", four_rows_at, f32(9, 3), i32(of=[2]), live=[at(0), at(5)], expect_ops=SELECT),
    case("select_as_symint/last_of_three", four_rows_at, f32(9, 3), i64(of=[8, 8, 5]), live=[at(-1, 0, 3)],
         expect_ops=SELECT),
    case("select_as_symint/two", two_positions, f32(9, 3), i64(of=[3, 2]), live=[at(0, 9), at(5, 4)],
         expect_ops=SELECT),
    case("select_as_symint/with_size", rows_at_own_size, f32(20, 3), f32(s, 3), i64(of=[11]),
         live=[{"s": 4} | at(0), {"s": 1} | at(19)], expect_ops=[SELECT, SIZE, "add"]),
    case("select_as_symint/arithmetic", arithmetic, f32(14, 3), i32(of=[5]), live=[at(0), at(6), at(1)],
         expect_ops=[SELECT, "mul", "sub", "floordiv"]),
]

SLICES_AND_VIEWS = [
    case("slice_by_symint/start", lambda x, position: x[:, value_of(position, 1, 8) :], f32(3, 9), i64(of=[2]),
         live=[at(1), at(8)], expect_ops=[SELECT, SLICE]),
    case("slice_by_symint/end", lambda x, position: x[:, : value_of(position, 1, 9)], f32(3, 9), i64(of=[4]),
         live=[at(1), at(9)], expect_ops=[SELECT, SLICE]),
    case("slice_by_symint/rows", size_of_selected_rows, f32(9, 3), i64(of=[4]), live=[at(2), at(9)],
         expect_ops=[SELECT, SLICE]),
    case("slice_by_symint/integer_input", lambda x, n: x[:n], f32(9, 5), integer(2, 9), live=[{"n": 4}, {"n": 2}],
         expect_ops=SLICE),
    case("view_by_symint/rows", lambda x: x.view(x.shape[0], -1), f32(s, 3, 5), live=[4, 1], expect_ops=VIEW),
    case("view_by_symint/two_axes", lambda x: x.view(x.shape[1], x.shape[0], -1), f32(s, t, 6), live=BOTH,
         expect_ops=VIEW),
    case("view_by_symint/split", lambda x: x.view(x.shape[0], 2, x.shape[1] // 2), f32(s, 2 * k),
         live=[{"s": 4, "k": 3}, {"s": 1, "k": 1}], expect_ops=[VIEW, "floordiv"]),
    case("view_by_symint/flat_and_back", lambda x: (x.view(-1) + 2.5).view(x.shape[1], x.shape[0]), f32(s, t),
         live=BOTH, expect_ops=VIEW),
]

CASES = SIZES + ARITHMETIC + VALUES_OF_INPUTS + SLICES_AND_VIEWS
