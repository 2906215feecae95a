// SPDX-License-Identifier: BSD-3-Clause
// Runs every kernel on a device and compares with the CPU, with guards behind every result. Finds bad drivers.
#pragma once

#include <pteron/device.h>

#include <functional>
#include <string>
#include <vector>

namespace pteron::selftest {

struct Outcome {
  std::string name;
  std::vector<std::string> kernels;  // that ran
  f64 worst = 0;                     // largest difference
  std::string problem;               // empty: passed
};

struct Summary {
  u32 passed = 0, failed = 0;
  std::vector<std::string> untried;  // kernels that nothing ran
};

// Trials with `only` in their name. Each runs `repeat` times, and every time its results must be the same, bit by bit.
Summary run(const Device& device, const std::string& only, u32 repeat,
            const std::function<void(const Outcome&)>& report);

}  // namespace pteron::selftest
