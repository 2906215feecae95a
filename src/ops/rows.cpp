// SPDX-License-Identifier: BSD-3-Clause
#include "ops/rows.h"

namespace pteron::ops {
namespace {

constexpr u32 threads_per_group = 64;
constexpr u64 short_row = 32;    // a tree would be longer than the row
constexpr u64 many_rows = 4096;  // enough to fill a GPU with a thread each
constexpr u64 long_row = 1024;   // worth a large workgroup

}  // namespace

namespace {

// The loop inside of reduce_row takes four elements at a time.
u64 rounds(u64 length, u32 lanes, RowWork work) {
  const u64 each = length / lanes + 1;
  return work.reductions * (each / 4 + each / 32) + work.writes * each;
}

}  // namespace

// On a CPU that pretends to be a GPU, barriers cost more than they save; only rows too long for a thread need them.
RowRouting route_rows(const gpu::DeviceInfo& device, const RowExtent& max, RowWork work) {
  const bool alone = device.adapter.type == gpu::AdapterType::cpu
                         ? rounds(max.length, 1, work) <= max_rounds(device)
                         : max.length <= short_row || (!max.adjacent && max.rows >= many_rows);
  if (alone) return {RowRoute::thread, 1};
  return {RowRoute::group, max.length >= long_row ? 256u : 64u};
}

Result<Rows> Rows::over(const Plan& op, const Shape& live, const Shape& max, AxisSet along, RowWork work) {
  Rows out;
  RowParams& params = out.params_;
  params.count = params.length = 1;
  RowExtent extent{1, 1, true};
  u32 stride = 1;
  std::optional<bool> previous;  // was the axis inside of this one along rows?
  // From the innermost axis out: neighbours of one kind are one longer axis. Which are merged depends on the file
  // alone.
  for (u32 axis = live.rank(); axis-- > 0;) {
    const u32 size = live[axis];
    const bool is_along = has_axis(along, axis);
    (is_along ? params.length : params.count) *= size;
    (is_along ? extent.length : extent.rows) *= max[axis];
    if (max[axis] == 1) continue;
    if (!previous) extent.adjacent = is_along;
    RowAxes& axes = is_along ? params.along : params.across;
    u32& number = is_along ? out.along_ : out.across_;
    if (previous != is_along) {
      axes.sizes[number] = 1;
      axes.strides[number] = stride;
      ++number;
    }
    axes.sizes[number - 1] *= size;
    stride *= size;
    previous = is_along;
  }
  out.routing_ = route_rows(op.device(), extent, work);
  REQUIRE_SUPPORTED(op, rounds(extent.length, out.routing_.lanes, work) <= max_rounds(op.device()), "rows of ",
                    extent.length, " elements are too long for a software adapter; use a GPU");
  return out;
}

void Rows::specialise(Spec& spec) const {
  spec.num("ACROSS", across_).num("ALONG", along_).num("LANES", routing_.lanes);
  spec.code(graph::find_snippet(routing_.route == RowRoute::group ? "row_per_group" : "row_per_thread"));
}

Grid Rows::grid() const {
  return routing_.route == RowRoute::group ? one_group_per(count()) : one_thread_per(count(), threads_per_group);
}

}  // namespace pteron::ops
