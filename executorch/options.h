// SPDX-License-Identifier: BSD-3-Clause
// Options of a load: those of <pteron/options.h>, what else the reference backend understands, and `profile`.
#pragma once

#include <pteron/options.h>

#include <executorch/runtime/backend/interface.h>

namespace pteron::et {

struct Options {
  LoadOptions load;
  bool profile = false;  // GPU time per op, even without an event tracer
};

// Applies one option. Unknown names and wrong types are errors that say what is possible.
Status apply(Options& options, const executorch::runtime::BackendOption& option);
Status apply(Options& options, executorch::runtime::Span<const executorch::runtime::BackendOption> list);
// Checks what the exporter wrote into the program. Unknown keys are the exporter's business and ignored.
Status check_compile_specs(executorch::runtime::ArrayRef<executorch::runtime::CompileSpec> specs);

}  // namespace pteron::et
