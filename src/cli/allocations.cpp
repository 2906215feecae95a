// SPDX-License-Identifier: BSD-3-Clause
// Counts what `pteron bench` reports: after warm-up, a step should allocate nothing. Where memory ends, the program
// does.
#include "cli/allocations.h"

#include <cstdlib>
#include <new>

namespace {
thread_local pteron::u64 count = 0;
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
void* operator new(std::size_t size) {
  ++count;
  if (void* p = std::malloc(size > 0 ? size : 1)) return p;
  pteron::cli::out_of_memory();
}
void operator delete(void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }
#endif

namespace pteron::cli {

u64 allocations_of_this_thread() { return count; }

}  // namespace pteron::cli
