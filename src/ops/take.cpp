// SPDX-License-Identifier: BSD-3-Clause
// Elements that a tensor of indices names.
#include "ops/take.h"

#include "ops/walk.h"

namespace pteron::ops {
namespace {

struct Params {
  u32 count, rank, size, stride, first_row, rows, fault, pad;
  Axes<2> axes;
};

// An axis of `size` indices, which are `stride` apart in x.
struct Indexed {
  u32 size, stride;
  bool outermost;  // and alone
};

Status run(Plan& op, const TensorArg& x, const Indexed& axis, const Operand& index, const TensorArg& y,
           const Layout& layout, Rules rules) {
  REQUIRE(op, x.dtype() == y.dtype(), "the result is ", y.dtype(), ", but the input is ", x.dtype());
  TRY_DO(op.resize(y, layout.shape()));
  Params params{};
  params.count = u32(y.numel());
  params.size = axis.size;
  params.stride = axis.stride;
  if (params.count == 0) return {};
  params.fault = op.fault_slot(rules.what, params.size);
  for (u32 i = 0; i < layout.rank; ++i) {
    const u32 from = layout.rank - 1 - i;
    params.axes.dims[i] = layout.sizes[from];
    params.axes.strides[0][i] = layout.x_strides[from];
    params.axes.strides[1][i] = layout.index_strides[from];
  }
  params.rank = params.axes.merge(layout.rank);
  const bool rows = op.branch(params.axes.in_quads(0, params.rank, params.stride) && params.axes.strides[0][0] == 1 &&
                              params.axes.strides[1][0] == 0);

  // A table that is larger than a binding may be is visited part by part.
  const u64 row_bytes = u64(params.stride) * size_of(x.dtype());
  const u64 step = axis.outermost && op.shape_is_fixed(x) ? op.rows_per_binding(row_bytes) : params.size;
  const bool parts = step < params.size;
  const Spec spec = Spec()
                        .flag("ROWS", rows)
                        .flag("NEGATIVE", rules.negative)
                        .flag("PARTS", parts)
                        .input_quads("x", x.dtype())
                        .output_quads("y", y.dtype());
  for (u64 first = 0; first == 0 || first < params.size; first += step) {
    params.first_row = u32(first);
    params.rows = u32(std::min<u64>(step, params.size - first));
    const Operand part =
        parts ? Operand(Operand::tensor, x.id(), first * row_bytes, (params.rows * row_bytes + 15) / 16 * 16)
              : Operand(x);
    TRY_DO(op.dispatch({kernels::take, spec}, {part, index, y, op.fault()}, params,
                       one_thread_per(ceil_div(params.count, 4), 64)));
    if (!parts) break;
  }
  return {};
}

Status take(Plan& op, const TensorArg& x, u32 axis, const TensorArg& index, const TensorArg& y, const Layout& layout,
            Rules rules) {
  REQUIRE(op, index.dtype() == DType::i32, "indices must be int32 or int64, not ", index.dtype());
  const Indexed indexed{x.shape().dim(i32(axis)), x.rank() == 0 ? 1 : strides_of(x.shape())[axis], axis == 0};
  op.check_indices(index, indexed.size, rules.what, rules.negative);
  return run(op, x, indexed, index, y, layout, rules);
}

}  // namespace

Status take_at(Plan& op, const TensorArg& x, const Operand& offsets, const TensorArg& y, const Layout& layout) {
  return run(op, x, {u32(x.numel()), 1, false}, offsets, y, layout, {});
}

Status take_slices(Plan& op, const TensorArg& x, u32 axis, const TensorArg& index, const TensorArg& y, Rules rules) {
  REQUIRE(op, std::max(x.rank(), 1u) - 1 + index.rank() <= Shape::max_rank, "the result of ", x.shape(), " indexed by ",
          index.shape(), " would have more than ", Shape::max_rank, " axes");
  const auto x_strides = strides_of(x.shape()), index_strides = strides_of(index.shape());
  Layout layout;
  for (u32 i = 0; i < axis; ++i) layout.add_axis(x.shape()[i], x_strides[i], 0);
  for (u32 i = 0; i < index.rank(); ++i) layout.add_axis(index.shape()[i], 0, index_strides[i]);
  for (u32 i = axis + 1; i < x.rank(); ++i) layout.add_axis(x.shape()[i], x_strides[i], 0);
  return take(op, x, axis, index, y, layout, rules);
}

namespace {

// embedding(table[V, …], indices, padding_idx, scale_grad_by_freq, sparse, out)
Status embedding(Plan& op) {
  const TensorArg table = op.tensor(0), index = op.tensor(1), y = op.last_output();
  REQUIRE(op, table.rank() >= 1, "the table must have rows, but it is a scalar");
  return take_slices(op, table, 0, index, y, {"token"});
}

// index_select(x, axis, indices, out)
Status index_select(Plan& op) {
  const TensorArg x = op.tensor(0), index = op.tensor(2), y = op.last_output();
  const u32 axis = op.axis(1, x.rank());
  REQUIRE(op, index.rank() <= 1, "the indices must have one axis, but they are ", index.shape());
  if (x.rank() > 0 && index.rank() == 1) return take_slices(op, x, axis, index, y);
  // A scalar stands for one element.
  REQUIRE_LIVE(op, index.numel() == 1, index.numel(), " indices are given for ", x.shape(), ", one is needed");
  Layout layout;
  const auto strides = strides_of(x.shape());
  for (u32 i = 0; i < x.rank(); ++i) layout.add_axis(i == axis ? 1 : x.shape()[i], i == axis ? 0 : strides[i], 0);
  return take(op, x, axis, index, y, layout, {});
}

// gather(x, axis, indices, sparse_grad, out)
Status gather(Plan& op) {
  const TensorArg x = op.tensor(0), index = op.tensor(2), y = op.last_output();
  const u32 axis = op.axis(1, x.rank());
  REQUIRE(op, index.rank() == x.rank(), "indices of rank ", index.rank(), " can't be used for ", x.shape());
  const auto x_strides = strides_of(x.shape()), index_strides = strides_of(index.shape());
  Layout layout;
  for (u32 i = 0; i < x.rank(); ++i) {
    REQUIRE_LIVE(op, i == axis || index.shape()[i] <= x.shape()[i], "indices ", index.shape(), " exceed ", x.shape(),
                 " in axis ", i);
    layout.add_axis(index.shape()[i], i == axis ? 0 : x_strides[i], index_strides[i]);
  }
  return take(op, x, axis, index, y, layout, {});
}

}  // namespace

static constexpr OpEntry entries[] = {
    {"aten.embedding.default", embedding, "table, indices, ... -> out"_sig, lanewise},
    {"aten.index_select.default", index_select, "x, axis: int, indices -> out"_sig},
    {"aten.gather.default", gather, "x, axis: int, indices, ... -> out"_sig},
};
extern const OpList take_ops = entries;

}  // namespace pteron::ops
