// SPDX-License-Identifier: BSD-3-Clause
#include "ops/common.h"

namespace pteron::ops {
namespace {

struct Params {
  u32 rows, columns, depth, row_words, group, scale_stride, first_column, part_columns;
};

// et_vk.linear_q4gsw(x[.., K], weight u8[N, Kp/2], scales [G, padN], group, bias?, out[.., N])
Status linear_q4(Plan& op) {
  const TensorArg x = op.tensor(0), w = op.tensor(1), scales = op.tensor(2), y = op.output(5);
  const auto bias = op.maybe_tensor(4);
  const i64 group = op.integer(3);
  REQUIRE(op, x.rank() >= 1 && w.rank() == 2 && scales.rank() == 2, "x ", x.shape(), ", weight ", w.shape(),
          " and scales ", scales.shape(), " have wrong ranks");
  const u32 depth = x.dim(-1), columns = w.dim(0), row_bytes = w.dim(1);
  REQUIRE(op, w.dtype() == DType::u8, "the weight must be uint8, not ", w.dtype());
  REQUIRE(op, row_bytes >= (depth + 1) / 2 && row_bytes % 4 == 0, "weight rows of ", row_bytes, " bytes don't hold ",
          depth, " 4-bit values in whole words");
  REQUIRE(op, group > 0, "the group size is ", group);
  REQUIRE(op, scales.dim(0) >= (depth + group - 1) / group && scales.dim(1) >= columns, "scales ", scales.shape(),
          " don't fit ", columns, " columns of ", depth, " in groups of ", group);
  REQUIRE(op, !bias || bias->numel() >= columns, "the bias has ", bias ? bias->numel() : 0, " elements for ", columns,
          " columns");
  REQUIRE(op, is_float(x.dtype()) && is_float(y.dtype()) && is_float(scales.dtype()), "x is ", x.dtype(),
          "; it must be floating-point");
  Shape shape = x.shape();
  shape[shape.rank() - 1] = columns;
  TRY_DO(op.resize(y, shape));
  if (y.numel() == 0) return {};
  const u32 rows = u32(x.numel() / std::max(depth, 1u));
  const Spec spec = Spec()
                        .flag("HAS_BIAS", bias.has_value())
                        .input("x", x.dtype())
                        .input("scales", scales.dtype())
                        .input("bias", bias ? bias->dtype() : scales.dtype())
                        .output("y", y.dtype());
  const u64 step = op.rows_per_binding(row_bytes);
  for (u64 first = 0; first < columns; first += step) {
    const u64 part = std::min<u64>(step, columns - first);
    const Operand weights =
        part == columns ? Operand(w) : Operand(Operand::tensor, w.id(), first * row_bytes, part * row_bytes);
    TRY_DO(op.dispatch({kernels::linear_q4, spec}, {x, weights, scales, bias ? *bias : scales, y},
                       Params{rows, columns, depth, row_bytes / 4, u32(group), scales.dim(1), u32(first), u32(part)},
                       one_thread_per(u64(rows) * part, 64)));
  }
  return {};
}

}  // namespace

static constexpr OpEntry entries[] = {{"et_vk.linear_q4gsw.default", linear_q4}};
extern const OpList linear_q4_ops = entries;

}  // namespace pteron::ops
