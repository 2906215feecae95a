// SPDX-License-Identifier: BSD-3-Clause
// What op files share.
#pragma once

#include "graph/op.h"
#include "graph/plan.h"
#include "kernels.h"

#include <algorithm>

namespace pteron::ops {

using graph::Access;
using graph::chains;
using graph::copies;
using graph::Grid;
using graph::internal;
using graph::IntList;
using graph::Kernel;
using graph::lanewise;
using graph::one_group_per;
using graph::one_thread_per;
using graph::one_thread_per_unit;
using graph::OpEntry;
using graph::operator""_sig;
using graph::Operand;
using graph::OpFamily;
using graph::OpList;
using graph::Packing;
using graph::Plan;
using graph::prepacks;
using graph::Spec;
using graph::TensorArg;

// The same bytes; nothing if x and y share their memory.
Status copy(Plan& op, const TensorArg& x, const TensorArg& y);

// Integers as the bytes of y: `wide` is scratch memory of one word for each of them, of which there may be up to three
// more than y has.
Status narrow(Plan& op, const Operand& wide, const TensorArg& y);

// How many rounds all loops of one thread may take together. llvmpipe ends them silently after 65,535, so what takes
// longer is shared among threads there, or refused.
inline u64 max_rounds(const gpu::DeviceInfo& device) {
  return device.adapter.type == gpu::AdapterType::cpu ? 60000 : UINT64_MAX;
}

// Positions in files can be any number.
constexpr i64 saturating_add(i64 a, i64 b) {
  i64 sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? (a < 0 ? INT64_MIN : INT64_MAX) : sum;
}

constexpr u32 ceil_div(u32 a, u32 b) { return a / b + (a % b != 0); }

}  // namespace pteron::ops
