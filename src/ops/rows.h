// SPDX-License-Identifier: BSD-3-Clause
// Rows of a tensor, as reductions, softmax and norms see them: a row is what is reduced to one result, wherever in
// memory its elements lie.
#pragma once

#include "ops/common.h"

namespace pteron::ops {

// Who works on a row: one thread, without a barrier, or a workgroup with a tree in workgroup memory.
enum class RowRoute { thread, group };
struct RowRouting {
  RowRoute route;
  u32 lanes;  // threads per row
};

// What a kernel does with each element of a row.
struct RowWork {
  u32 reductions = 1;  // calls of reduce_row
  u32 writes = 0;      // loops besides those
};

struct RowExtent {
  u64 rows, length;
  bool adjacent;  // neighbouring elements of a row are neighbours in memory
};
// Depends on maximal shapes alone, so that an op keeps its kernel while shapes change.
RowRouting route_rows(const gpu::DeviceInfo& device, const RowExtent& max, RowWork work);

// Sizes and strides of merged axes, innermost first.
struct RowAxes {
  u32 sizes[4], strides[4];
};
// The start of the parameters of every kernel that uses the snippet `rows`.
struct RowParams {
  u32 count, length, pad[2];
  RowAxes across, along;
};

// A set of axes: bit i stands for axis i.
using AxisSet = u32;
constexpr bool has_axis(AxisSet axes, u32 axis) { return (axes >> axis & 1) != 0; }
constexpr AxisSet axes_from(u32 first, u32 rank) { return ((1u << rank) - 1) & ~((1u << first) - 1); }

class Rows {
 public:
  // Rows along `along`; the other axes lead from row to row, in order.
  static Result<Rows> over(const Plan& op, const Shape& live, const Shape& max, AxisSet along, RowWork work);
  static Result<Rows> over(const Plan& op, const TensorArg& x, AxisSet along, RowWork work) {
    return over(op, x.shape(), x.max(), along, work);
  }

  const RowParams& params() const { return params_; }
  u32 count() const { return params_.count; }
  u32 length() const { return params_.length; }
  // Adds what the snippet `rows` and the route need.
  void specialise(Spec& spec) const;
  Grid grid() const;

 private:
  RowParams params_{};
  u32 across_ = 0, along_ = 0;  // how many axes are left after merging neighbours
  RowRouting routing_{};
};

}  // namespace pteron::ops
