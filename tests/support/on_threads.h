// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/error.h"

#include <gtest/gtest.h>

#include <functional>
#include <latch>
#include <string>
#include <thread>
#include <vector>

namespace pteron::test {

// Begins on so many threads at once. Each says what went wrong, or nothing.
inline void on_threads(u32 count, const std::function<std::string(u32 thread)>& work) {
  std::vector<std::string> problems(count);
  std::latch all_there(count);
  {
    std::vector<std::jthread> running;
    for (u32 t = 0; t < count; ++t)
      running.emplace_back([&, t] {
        all_there.arrive_and_wait();
        problems[t] = work(t);
      });
  }
  for (const std::string& problem : problems) EXPECT_EQ(problem, "");
}

}  // namespace pteron::test
