// SPDX-License-Identifier: BSD-3-Clause
// Ops whose result is the same bytes in another shape. Mostly they share their input's memory and run nothing.
#include "ops/common.h"

namespace pteron::ops {
namespace {

// clone(x, …, out)
Status clone(Plan& op) {
  const TensorArg x = op.tensor(0), y = op.last_output();
  TRY_DO(op.resize(y, x.shape()));
  return copy(op, x, y);
}

// view_copy(x, sizes, out): sizes may hold symbolic integers and one −1.
Status view(Plan& op) {
  const TensorArg x = op.tensor(0), y = op.last_output();
  const IntList sizes = op.ints(1);
  REQUIRE(op, sizes.size() <= Shape::max_rank, "a view has ", sizes.size(), " axes; at most ", Shape::max_rank,
          " are supported");
  Shape shape;
  std::optional<u32> open;
  u64 known = 1;
  for (u32 i = 0; i < sizes.size(); ++i) {
    const i64 size = sizes[i];
    if (size == -1 && !open)
      open = i;
    else {
      REQUIRE_LIVE(op, size >= 0 && size <= i64(UINT32_MAX), "a view has size ", size, " in axis ", i);
      known *= u64(std::max<i64>(size, 0));
    }
    shape.push_back(size < 0 ? 1 : u32(size));
  }
  if (open) {
    REQUIRE_LIVE(op, known > 0 && x.numel() % known == 0, "a view can't infer axis ", *open, " of ", shape, " from ",
                 x.shape());
    shape[*open] = u32(known > 0 ? x.numel() / known : 0);
  }
  REQUIRE_LIVE(op, shape.numel() == x.numel(), "a view of ", x.shape(), " as ", shape,
               " changes the number of elements");
  TRY_DO(op.resize(y, shape));
  return copy(op, x, y);
}

// unsqueeze_copy(x, axis, out)
Status unsqueeze(Plan& op) {
  const TensorArg x = op.tensor(0), y = op.last_output();
  const u32 axis = op.axis(1, x.rank() + 1);
  REQUIRE(op, x.rank() < Shape::max_rank, "the result would have rank ", x.rank() + 1, "; at most ", Shape::max_rank,
          " is supported");
  Shape shape;
  for (u32 i = 0; i <= x.rank(); ++i) {
    if (i == axis) shape.push_back(1);
    if (i < x.rank()) shape.push_back(x.shape()[i]);
  }
  TRY_DO(op.resize(y, shape));
  return copy(op, x, y);
}

// squeeze_copy(x, axes, out): drops the axes that have size 1. Which those are is decided by the maximal shape, so that
// the rank never changes.
Status squeeze(Plan& op) {
  const TensorArg x = op.tensor(0), y = op.last_output();
  const IntList axes = op.ints(1);
  std::array<bool, Shape::max_rank> dropped{};
  for (u32 i = 0; i < axes.size(); ++i) {
    const u32 axis = op.normalize_axis(axes[i], x.rank());
    if (axis < x.rank() && x.max()[axis] == 1) dropped[axis] = true;
  }
  Shape shape;
  for (u32 i = 0; i < x.rank(); ++i)
    if (!dropped[i]) shape.push_back(x.shape()[i]);
  TRY_DO(op.resize(y, shape));
  return copy(op, x, y);
}

}  // namespace

Status copy(Plan& op, const TensorArg& x, const TensorArg& y) {
  REQUIRE(op, x.dtype() == y.dtype(), "the result is ", y.dtype(), ", but the input is ", x.dtype());
  if (op.same_storage(x, y) || y.numel() == 0) return {};
  const u32 quads = u32((y.numel() * size_of(y.dtype()) + 15) / 16);
  return op.dispatch(graph::copy_kernel(), {x, y}, quads, one_thread_per(quads, 64));
}

Status narrow(Plan& op, const Operand& wide, const TensorArg& y) {
  const u32 words = u32((y.numel() + 3) / 4);
  return op.dispatch({kernels::pack_bytes, Spec().output("y", y.dtype())}, {wide, y}, words, one_thread_per(words, 64));
}

static constexpr OpEntry entries[] = {
    {"et_vk.prepack.default", nullptr, "x -> out"_sig, prepacks},
    {"aten.clone.default", clone, "x, ... -> out"_sig, copies | lanewise},
    {"aten.alias_copy.default", clone, "x -> out"_sig, copies | lanewise},
    {"dim_order_ops._clone_dim_order.default", clone, "x, ... -> out"_sig, copies | lanewise},
    {"aten.view_copy.default", view, "x, sizes: ints -> out"_sig, copies},
    {"aten.unsqueeze_copy.default", unsqueeze, "x, axis: int -> out"_sig, copies},
    {"aten.squeeze_copy.dims", squeeze, "x, axes: ints -> out"_sig, copies},
};
extern const OpList copy_ops = entries;

}  // namespace pteron::ops

const pteron::graph::KernelSource& pteron::graph::copy_kernel() { return kernels::copy_words; }
