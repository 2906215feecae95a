// SPDX-License-Identifier: BSD-3-Clause
// What a program has beside the graphs for this backend: which ops, why the exporter left them there, and what runs
// them.
#pragma once

#include "format/program_file.h"

#include <pteron/inspect.h>

namespace pteron {

// Ops that ExecuTorch's own kernels run, in the order of their first call; those with the same name and reason
// together.
std::vector<OutsideOp> outside_ops(const format::MethodSpec& method);

// What to do with a method that can't run here.
Remedy remedy_for(const format::MethodSpec& method, const std::string& path);

}  // namespace pteron
