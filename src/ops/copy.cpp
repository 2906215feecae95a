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

// Drops the axes that have size 1. Which those are is decided by the maximal shape, so that the rank never changes.
Status squeeze(Plan& op, u32 candidates) {
  const TensorArg x = op.tensor(0), y = op.last_output();
  Shape shape;
  for (u32 i = 0; i < x.rank(); ++i)
    if ((candidates >> i & 1) == 0 || x.max()[i] != 1) shape.push_back(x.shape()[i]);
  TRY_DO(op.resize(y, shape));
  return copy(op, x, y);
}

// squeeze_copy(x, axes, out), of one axis or of several
Status squeeze_axes(Plan& op) {
  const u32 rank = op.tensor(0).rank();
  const IntList axes = op.ints(1);
  u32 candidates = 0;
  for (u32 i = 0; i < axes.size(); ++i) candidates |= 1u << op.normalize_axis(axes[i], rank);
  return squeeze(op, candidates);
}
Status squeeze_axis(Plan& op) { return squeeze(op, 1u << op.axis(1, op.tensor(0).rank())); }
Status squeeze_all(Plan& op) { return squeeze(op, ~0u); }

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
    {"aten._unsafe_view.default", view, "x, sizes: ints -> out"_sig, copies},
    {"aten.unsqueeze_copy.default", unsqueeze, "x, axis: int -> out"_sig, copies},
    {"aten.squeeze_copy.dims", squeeze_axes, "x, axes: ints -> out"_sig, copies},
    {"aten.squeeze_copy.dim", squeeze_axis, "x, axis: int -> out"_sig, copies},
    {"aten.squeeze_copy.default", squeeze_all, "x -> out"_sig, copies},
};
extern const OpList copy_ops = entries;

}  // namespace pteron::ops

const pteron::graph::KernelSource& pteron::graph::copy_kernel() { return kernels::copy_words; }
