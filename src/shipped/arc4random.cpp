// SPDX-License-Identifier: BSD-3-Clause
// The C++ library takes its random numbers from arc4random, which glibc has since 2.36. Having one of our own lets what
// we ship start on older systems.
#include <sys/random.h>

#include <cstdint>
#include <cstdlib>

extern "C" __attribute__((visibility("hidden"))) std::uint32_t arc4random() noexcept {
  std::uint32_t value = 0;
  if (getentropy(&value, sizeof value) != 0) std::abort();  // no system that starts this lacks it
  return value;
}
