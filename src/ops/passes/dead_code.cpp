// SPDX-License-Identifier: BSD-3-Clause
#include "ops/passes/passes.h"

namespace pteron::ops {
namespace {

void run(Rewriter& e, const gpu::DeviceInfo&) {
  for (u32 op = e.size(); op-- > 0;) e.remove(op);
}

}  // namespace

const Pass dead_code_pass{"dead-code", "ops whose results nobody reads are removed", run};

}  // namespace pteron::ops
