// SPDX-License-Identifier: BSD-3-Clause
#include "ops/common.h"

namespace pteron::ops {
namespace {

struct Params {
  u32 count, width, row_words, groups, group, vocabulary, first_row, rows, fault;
};

// et_vk.embedding_q4gsw(weight u8[V, E/2], scales [V, E/group], group, indices, is_linear, out[.., E])
Status embedding_q4(Plan& op) {
  const TensorArg w = op.tensor(0), scales = op.tensor(1), index = op.tensor(3), y = op.output(5);
  const i64 group = op.integer(2);
  REQUIRE(op, w.rank() == 2 && scales.rank() == 2, "weight ", w.shape(), " and scales ", scales.shape(),
          " must have two axes");
  const u32 vocabulary = w.dim(0), width = 2 * w.dim(1);
  REQUIRE(op, w.dtype() == DType::u8 && width % 8 == 0, "the weight must be uint8 with rows of whole words, not ",
          w.dtype(), " ", w.shape());
  REQUIRE(op, group > 0 && width % group == 0 && scales.dim(1) == width / group && scales.dim(0) == vocabulary,
          "scales ", scales.shape(), " don't fit rows of ", width, " in groups of ", group);
  REQUIRE(op, index.dtype() == DType::i32, "indices must be integers, not ", index.dtype());
  REQUIRE(op, is_float(y.dtype()) && is_float(scales.dtype()), "scales and result must be floating-point");
  REQUIRE(op, index.rank() < Shape::max_rank, "indices of rank ", index.rank(), " are not supported");
  Shape shape = index.shape();
  shape.push_back(width);
  TRY_DO(op.resize(y, shape));
  op.check_indices(index, vocabulary, "token");
  if (y.numel() == 0) return {};
  const u32 fault = op.fault_slot("token", vocabulary);
  const u32 count = u32(y.numel());
  const u64 step = op.rows_per_binding(w.dim(1));
  const Spec spec = Spec().flag("LINEAR", op.flag_or(4, true)).input("scales", scales.dtype()).output("y", y.dtype());
  for (u64 first = 0; first < vocabulary; first += step) {
    const u64 rows = std::min<u64>(step, vocabulary - first);
    const Operand part =
        rows == vocabulary ? Operand(w) : Operand(Operand::tensor, w.id(), first * w.dim(1), rows * w.dim(1));
    TRY_DO(op.dispatch(
        {kernels::embedding_q4, spec}, {part, scales, index, y, op.fault()},
        Params{count, width, width / 8, scales.dim(1), u32(group), vocabulary, u32(first), u32(rows), fault},
        one_thread_per(count, 64)));
  }
  return {};
}

}  // namespace

static constexpr OpEntry entries[] = {{"et_vk.embedding_q4gsw.default", embedding_q4}};
extern const OpList embedding_q4_ops = entries;

}  // namespace pteron::ops
