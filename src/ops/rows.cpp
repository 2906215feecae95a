// SPDX-License-Identifier: BSD-3-Clause
#include "ops/rows.h"

namespace pteron::ops {
namespace {

constexpr u32 threads_per_group = 64;
constexpr u64 short_row = 32;    // a tree would be longer than the row
constexpr u64 many_rows = 4096;  // enough to fill a GPU with a thread each
constexpr u64 long_row = 1024;   // worth a large workgroup

}  // namespace

// On a CPU that pretends to be a GPU, barriers cost more than all that they could save.
RowRouting route_rows(const gpu::DeviceInfo& device, u64 rows, u64 length, bool adjacent) {
  const bool software = device.adapter.type == gpu::AdapterType::cpu;
  if (software || length <= short_row || (!adjacent && rows >= many_rows)) return {RowRoute::thread, 1};
  return {RowRoute::group, length >= long_row ? 256u : 64u};
}

Rows::Rows(const Plan& op, const Shape& live, const Shape& max, AxisSet along) {
  params_.count = params_.length = 1;
  u64 max_count = 1, max_length = 1;
  u32 stride = 1;
  std::optional<bool> previous;  // was the axis inside of this one along rows?
  bool adjacent = true;
  // From the innermost axis out: neighbours of one kind are one longer axis. Which are merged depends on the file
  // alone.
  for (u32 axis = live.rank(); axis-- > 0;) {
    const u32 size = live[axis];
    const bool is_along = has_axis(along, axis);
    (is_along ? params_.length : params_.count) *= size;
    (is_along ? max_length : max_count) *= max[axis];
    if (max[axis] == 1) continue;
    if (!previous) adjacent = is_along;
    RowAxes& axes = is_along ? params_.along : params_.across;
    u32& number = is_along ? along_ : across_;
    if (previous != is_along) {
      axes.sizes[number] = 1;
      axes.strides[number] = stride;
      ++number;
    }
    axes.sizes[number - 1] *= size;
    stride *= size;
    previous = is_along;
  }
  routing_ = route_rows(op.device(), max_count, max_length, adjacent);
}

void Rows::specialise(Spec& spec) const {
  spec.num("ACROSS", across_).num("ALONG", along_).num("LANES", routing_.lanes);
  spec.code(graph::find_snippet(routing_.route == RowRoute::group ? "row_per_group" : "row_per_thread"));
}

Grid Rows::grid() const {
  return routing_.route == RowRoute::group ? one_group_per(count()) : one_thread_per(count(), threads_per_group);
}

}  // namespace pteron::ops
