// SPDX-License-Identifier: BSD-3-Clause
// The allocations of a `pteron` for which memory ends early: the n-th call of operator new, of whatever thread, gets
// none. n is the environment's PTERON_TEST_FAILING_ALLOCATION; without it the number of calls is written to standard
// error when the program ends.
#include "cli/allocations.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <new>

namespace {

std::atomic<pteron::u64> count{0};

pteron::u64 failing() {
  static const pteron::u64 n = [] {
    const char* text = std::getenv("PTERON_TEST_FAILING_ALLOCATION");
    if (!text) std::atexit([] { std::fprintf(stderr, "%llu allocations\n", static_cast<unsigned long long>(count)); });
    return text ? std::strtoull(text, nullptr, 10) : 0;
  }();
  return n;
}

}  // namespace

void* operator new(std::size_t size) {
  const bool fails = ++count == failing();
  if (void* p = fails ? nullptr : std::malloc(size > 0 ? size : 1)) return p;
  pteron::cli::out_of_memory();
}
void operator delete(void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }

namespace pteron::cli {

u64 allocations_of_this_thread() { return count; }

}  // namespace pteron::cli
