// SPDX-License-Identifier: BSD-3-Clause
// Options of a load: what the reference backend understands, under the same names, and Pteron's own.
#pragma once

#include "base/error.h"

#include <executorch/runtime/backend/interface.h>

#include <string>
#include <vector>

namespace pteron::et {

struct Options {
  std::string adapter;                       // "adapter": which GPU, by index or part of its name
  std::vector<std::string> disabled_passes;  // "disable_passes": names, separated by commas
  bool profile = false;                      // "profile": GPU time per op, even without an event tracer
  bool f16_kv_cache = false;                 // "enable_f16_kv_cache"
};

// Applies one option. Unknown names and wrong types are errors that say what is possible.
Status apply(Options& options, const executorch::runtime::BackendOption& option);
Status apply(Options& options, executorch::runtime::Span<const executorch::runtime::BackendOption> list);
// Checks what the exporter wrote into the program. Unknown keys are the exporter's business and ignored.
Status check_compile_specs(executorch::runtime::ArrayRef<executorch::runtime::CompileSpec> specs);

}  // namespace pteron::et
