// SPDX-License-Identifier: BSD-3-Clause
#include "cli/allocations.h"
#include "cli/cli.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>

namespace pteron::cli {

// Nothing is unwound: whatever thread it is, and whatever it holds, the program ends. What it would have written stands
// under another name until it is complete.
void out_of_memory() {
  static std::atomic_flag said;
  if (!said.test_and_set())
    std::fputs("pteron: out of memory; close other programs, or take a smaller model or context\n", stderr);
  std::_Exit(failed);
}

}  // namespace pteron::cli
