// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <pteron/types.h>

#include <functional>
#include <string_view>

namespace pteron {

struct Progress {
  std::string_view phase;  // "program", "weights" (both bytes) or "pipelines" (count)
  u64 done = 0;
  u64 total = 0;
};

// Return false to cancel.
using ProgressFn = std::function<bool(const Progress&)>;

}  // namespace pteron
