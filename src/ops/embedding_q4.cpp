// SPDX-License-Identifier: BSD-3-Clause
// Rows of a table of 4-bit values with a scale, and perhaps a zero point, per group.
#include "ops/q4_tiles.h"

namespace pteron::ops {
namespace {

constexpr std::string_view no_zero = "fn zero_of(i: u32) -> f32 { return 0.0; }";
constexpr std::string_view with_zero = "fn zero_of(i: u32) -> f32 { return f32(zero_get(i)); }";

struct Params {
  u32 count, width, row_bytes, groups, group, vocabulary, first_row, rows, fault;
};

struct Table {
  TensorArg weight, scales;
  std::optional<TensorArg> zeros;
  u32 groups, group;  // per row; values in a group
  bool linear;        // the first of two values is in the low half of its byte
};

Status look_up(Plan& op, const Table& t, const TensorArg& index, const TensorArg& y) {
  const u32 vocabulary = t.weight.dim(0), row_bytes = t.weight.dim(1), width = 2 * row_bytes;
  REQUIRE(op, t.weight.dtype() == DType::u8, "the table must be uint8, not ", t.weight.dtype());
  REQUIRE(op, index.dtype() == DType::i32, "indices must be integers, not ", index.dtype());
  REQUIRE(op, is_float(y.dtype()) && is_float(t.scales.dtype()), "scales and result must be floating-point");
  REQUIRE(op, index.rank() < Shape::max_rank, "indices of rank ", index.rank(), " are not supported");
  Shape shape = index.shape();
  shape.push_back(width);
  TRY_DO(op.resize(y, shape));
  op.check_indices(index, vocabulary, "token");
  if (y.numel() == 0) return {};
  const u32 fault = op.fault_slot("token", vocabulary), count = u32(y.numel());
  // In the layout of linears, which often have the same table as their weight: it is stored once then.
  const u64 tiled_bytes = u64(ceil_div(vocabulary, columns_per_block)) * columns_per_block * row_bytes;
  const bool tiled = op.bytes_are_fixed(t.weight) && width % 8 == 0 && width > 0 &&
                     tiled_bytes <= op.device().limits.max_storage_binding_bytes;
  Spec spec;
  spec.flag("LINEAR", t.linear).flag("TILED", tiled).bind_array("w", "u32").bind_input("scale", t.scales.dtype());
  spec.bind_input("index", index.dtype()).bind_output("y", y.dtype()).bind_output("faults", DType::i32);
  if (t.zeros) spec.bind_input("zero", t.zeros->dtype());
  spec.code(t.zeros ? with_zero : no_zero);
  const graph::PackedPart tiles[] = {{t.weight.id(), q4_weight_tiles(t.weight, width)}};
  const u64 step = tiled ? vocabulary : op.rows_per_binding(row_bytes);
  for (u64 first = 0; first < vocabulary; first += step) {
    const u64 rows = std::min<u64>(step, vocabulary - first);
    Operand part = t.weight;
    if (tiled)
      part = op.packed(tiles);
    else if (rows < vocabulary)
      part = {Operand::tensor, t.weight.id(), first * row_bytes, (rows * row_bytes + 3) / 4 * 4};
    const std::array<Operand, 6> operands{part, t.scales, index, y, op.fault(), t.zeros.value_or(t.scales)};
    const Params params{count, width, row_bytes, t.groups, t.group, vocabulary, u32(first), u32(rows), fault};
    TRY_DO(op.dispatch({kernels::embedding_q4, spec}, std::span(operands).first(t.zeros ? 6 : 5),
                       std::as_bytes(std::span(&params, 1)), one_thread_per(count, 64)));
  }
  return {};
}

// et_vk.embedding_q4gsw(weight u8[V, E/2], scales [V, E/group], group, indices, is_linear, out[.., E])
Status embedding_q4(Plan& op) {
  const TensorArg w = op.tensor(0), scales = op.tensor(1), index = op.tensor(3), y = op.output(5);
  const i64 group = op.integer(2);
  REQUIRE(op, w.rank() == 2 && scales.rank() == 2, "weight ", w.shape(), " and scales ", scales.shape(),
          " must have two axes");
  const u32 width = 2 * w.dim(1);
  REQUIRE(op, group > 0 && width % group == 0 && scales.dim(1) == width / group && scales.dim(0) == w.dim(0), "scales ",
          scales.shape(), " don't fit rows of ", width, " in groups of ", group);
  return look_up(op, {w, scales, std::nullopt, scales.dim(1), u32(group), op.flag(4)}, index, y);
}

// quantized_decomposed.embedding_4bit(weight u8[V, E/2], scales [V(, G)], zero points?, low, high, indices, dtype, out)
Status embedding_4bit(Plan& op) {
  const TensorArg w = op.tensor(0), scales = op.tensor(1), index = op.tensor(5), y = op.last_output();
  const auto zeros = op.maybe_tensor(2);
  REQUIRE(op, w.rank() == 2 && (scales.rank() == 1 || scales.rank() == 2) && scales.dim(0) == w.dim(0), "scales ",
          scales.shape(), " don't fit a table of shape ", w.shape());
  REQUIRE_SUPPORTED(op, op.integer(3) == -8 && op.integer(4) == 7, "values from ", op.integer(3), " to ", op.integer(4),
                    " are not supported; 4-bit tables hold −8 to 7");
  const u32 width = 2 * w.dim(1), groups = scales.rank() == 2 ? scales.dim(1) : 1;
  REQUIRE(op, groups > 0 && width % groups == 0, "rows of ", width, " can't be cut into ", groups, " groups");
  REQUIRE(op, !zeros || zeros->numel() == scales.numel(), "zero points ", zeros->shape(), " don't fit scales ",
          scales.shape());
  return look_up(op, {w, scales, zeros, groups, std::max(width / groups, 1u), false}, index, y);
}

}  // namespace

static constexpr OpEntry entries[] = {
    {"et_vk.embedding_q4gsw.default", embedding_q4,
     "weight, scales, group: int, indices, is_linear: flag = true -> out"_sig, lanewise},
    {"quantized_decomposed.embedding_4bit.dtype", embedding_4bit,
     "weight, scales, zeros?, low: int = -8, high: int = 7, indices, dtype: any -> out"_sig, lanewise},
};
extern const OpList embedding_q4_ops = entries;

}  // namespace pteron::ops
