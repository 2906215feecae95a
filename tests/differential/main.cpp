// SPDX-License-Identifier: BSD-3-Clause
// usage: differential_tests [--graphs N] [--seed S] [--shrink N] [gtest's options]
#include "differential/hostile/opinion.h"
#include "differential/options.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <random>

namespace pteron::differential {
namespace {

Options& chosen() {
  static Options options;
  return options;
}

}  // namespace

const Options& options() { return chosen(); }

u64 fresh_seed() { return u64(std::random_device()()) << 20; }

bool read_options(int argc, char** argv) {
  for (int i = 1; i < argc; i += 2) {
    char* end = nullptr;
    const u64 number = i + 1 < argc ? std::strtoull(argv[i + 1], &end, 10) : 0;
    if (!end || *end != '\0') return false;
    if (std::strcmp(argv[i], "--graphs") == 0)
      chosen().graphs = u32(number);
    else if (std::strcmp(argv[i], "--seed") == 0)
      chosen().seed = number;
    else if (std::strcmp(argv[i], "--shrink") == 0)
      chosen().shrink = u32(number);
    else
      return false;
  }
  return true;
}

}  // namespace pteron::differential

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (!pteron::differential::read_options(argc, argv))
    return std::puts("usage: differential_tests [--graphs N] [--seed S] [--shrink N]"), 2;
  pteron::differential::start_reference();
  return RUN_ALL_TESTS();
}
