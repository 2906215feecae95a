// SPDX-License-Identifier: BSD-3-Clause
// Rows of a table of 4-bit values with a scale, and perhaps a zero point, per group.
#include "ops/q4_tiles.h"

namespace pteron::ops {
namespace {

struct Params {
  u32 count = 0, width = 0, row_bytes = 0, groups = 0, group = 0, vocabulary = 0, first_row = 0, rows = 0;
  u32 fault = 0, second = 0;
};

// A value is scale · (q − zero + shift) + minimum, q the 4-bit integer or, of two planes, 16 · first + second.
struct Table {
  std::array<TensorArg, 2> planes;
  u32 count = 1;
  TensorArg scales;
  std::optional<TensorArg> zeros = {}, minima = {};
  u32 groups = 0, group = 0;  // per row; values in a group
  u32 shift = 0;
  bool linear = true;    // the first of two values is in the low half of its byte
  bool grouped = false;  // the result has an axis of groups
};

// In the layout of linears, which often have the same table as their weight: it is stored once then.
bool can_tile(Plan& op, const Table& t) {
  const u32 row_bytes = t.planes[0].dim(1);
  const u64 rows = u64(ceil_div(t.planes[0].dim(0), columns_per_block)) * columns_per_block;
  for (const TensorArg& plane : std::span(t.planes).first(t.count))
    if (!op.bytes_are_fixed(plane)) return false;
  return row_bytes % 4 == 0 && row_bytes > 0 &&
         t.count * rows * row_bytes <= op.device().limits.max_storage_binding_bytes;
}

Operand tiles_of(Plan& op, const Table& t) {
  std::array<graph::PackedPart, 2> parts;
  for (u32 i = 0; i < t.count; ++i) {
    const TensorArg& plane = t.planes[i];
    parts[i] = {plane.id(), q4_weight_tiles(plane, 2 * plane.dim(1))};
  }
  return op.packed(std::span(parts).first(t.count));
}

// Operands of the kernel, in order.
struct Bound {
  Spec spec;
  std::array<Operand, 7> operands;
  u32 used = 0;
  void bind(const Operand& operand) { operands[used++] = operand; }
};

Bound bind_all(Plan& op, const Table& t, const Operand& weight, bool tiled, const TensorArg& index,
               const TensorArg& y) {
  const bool halves = tiled && t.scales.rank() == 2 && !t.zeros && op.can_be_halves(t.scales) &&
                      (!t.minima || op.can_be_halves(*t.minima));
  Bound b;
  b.spec.flag("LINEAR", t.linear).flag("TILED", tiled).flag("HALVES", halves).flag("PLANES", t.count == 2);
  b.spec.num("SHIFT", t.shift).bind_array("w", "u32");
  b.bind(weight);
  const auto numbers = [&](std::string_view name, const TensorArg& from) {
    if (!halves) {
      b.spec.bind_input(name, from.dtype());
      return b.bind(from);
    }
    b.spec.bind_halves(name);
    b.bind(op.packed(std::array{graph::PackedPart{from.id(), q4_row_tiles(from, Kept::as_halves)}}));
  };
  numbers("scale", t.scales);
  t.minima ? numbers("minimum", *t.minima) : void(b.spec.absent_input("minimum", 0));
  b.spec.bind_input("index", index.dtype()).bind_output("y", y.dtype()).bind_output("faults", DType::i32);
  b.bind(index);
  b.bind(y);
  b.bind(op.fault());
  if (!t.zeros) {
    b.spec.absent_input("zero", 0);
    return b;
  }
  b.spec.bind_input("zero", t.zeros->dtype());
  b.bind(*t.zeros);
  return b;
}

Status look_up(Plan& op, const Table& t, const TensorArg& index, const TensorArg& y) {
  const TensorArg& weight = t.planes[0];
  const u32 vocabulary = weight.dim(0), row_bytes = weight.dim(1), width = 2 * row_bytes;
  REQUIRE(op, weight.dtype() == DType::u8, "the table must be uint8, not ", weight.dtype());
  REQUIRE(op, index.dtype() == DType::i32, "indices must be integers, not ", index.dtype());
  REQUIRE(op, is_float(y.dtype()) && is_float(t.scales.dtype()), "scales and result must be floating-point");
  REQUIRE(op, index.rank() < Shape::max_rank, "indices of rank ", index.rank(), " are not supported");
  Shape shape = index.shape();
  if (t.grouped) {
    shape.push_back(t.groups);
    shape.push_back(t.group);
  } else {
    shape.push_back(width);
  }
  TRY_DO(op.resize(y, shape));
  op.check_indices(index, vocabulary, "token");
  if (y.numel() == 0) return {};
  Params params{.count = u32(y.numel()),
                .width = width,
                .row_bytes = row_bytes,
                .groups = t.groups,
                .group = t.group,
                .vocabulary = vocabulary,
                .fault = op.fault_slot("token", vocabulary),
                .second = ceil_div(vocabulary, columns_per_block) * columns_per_block * (row_bytes / 4)};
  const bool tiled = can_tile(op, t);
  if (t.count > 1 && !tiled) return internal_error("a table of two planes does not fit its kernel");
  const u64 step = tiled ? vocabulary : op.rows_per_binding(row_bytes);
  for (u64 first = 0; first < vocabulary; first += step) {
    params.first_row = u32(first);
    params.rows = u32(std::min<u64>(step, vocabulary - first));
    Operand part = weight;
    if (tiled)
      part = tiles_of(op, t);
    else if (params.rows < vocabulary)
      part = {Operand::tensor, weight.id(), first * row_bytes, (u64(params.rows) * row_bytes + 3) / 4 * 4};
    const Bound b = bind_all(op, t, part, tiled, index, y);
    TRY_DO(op.dispatch({kernels::embedding_q4, b.spec}, std::span(b.operands).first(b.used),
                       std::as_bytes(std::span(&params, 1)), one_thread_per(params.count, 64)));
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
  REQUIRE(op,
          group > 0 && group <= i64(UINT32_MAX) && width % group == 0 && scales.dim(1) == width / group &&
              scales.dim(0) == w.dim(0),
          "scales ", scales.shape(), " don't fit rows of ", width, " in groups of ", group);
  return look_up(op,
                 {.planes = {w}, .scales = scales, .groups = scales.dim(1), .group = u32(group), .linear = op.flag(4)},
                 index, y);
}

// pteron.embedding_q4([planes], scales, minima?, group, shift, indices, out), made by passes/q4_embedding.cpp.
Status fused_embedding_q4(Plan& op) {
  Table t{
      .scales = op.tensor(1), .minima = op.maybe_tensor(2), .group = u32(op.integer(3)), .shift = u32(op.integer(4))};
  t.count = op.list_size(0);
  REQUIRE(op, t.count >= 1 && t.count <= t.planes.size(), "the fused table has ", t.count, " planes");
  for (u32 i = 0; i < t.count; ++i) t.planes[i] = op.list_tensor(0, i);
  t.groups = t.scales.dim(1);
  const TensorArg index = op.tensor(5), y = op.last_output();
  t.grouped = y.max().rank() == index.rank() + 2;  // where numbers for each group were added to it
  return look_up(op, t, index, y);
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
  return look_up(op,
                 {.planes = {w},
                  .scales = scales,
                  .zeros = zeros,
                  .groups = groups,
                  .group = std::max(width / groups, 1u),
                  .linear = false},
                 index, y);
}

}  // namespace

static constexpr OpEntry entries[] = {
    {"et_vk.embedding_q4gsw.default", embedding_q4,
     "weight, scales, group: int, indices, is_linear: flag = true -> out"_sig, lanewise},
    {"pteron.embedding_q4", fused_embedding_q4,
     "weights: tensors, scales, minima?, group: int, shift: int, indices -> out"_sig, internal | lanewise},
    {"quantized_decomposed.embedding_4bit.dtype", embedding_4bit,
     "weight, scales, zeros?, low: int = -8, high: int = 7, indices, dtype: any -> out"_sig, lanewise},
};
extern const OpList embedding_q4_ops = entries;

}  // namespace pteron::ops
