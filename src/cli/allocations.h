// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <pteron/types.h>

namespace pteron::cli {

// Calls of operator new by this thread so far. (0 under a sanitizer, which brings its own operator new.)
u64 allocations_of_this_thread();

// Ends the program with one sentence.
[[noreturn]] void out_of_memory();

}  // namespace pteron::cli
