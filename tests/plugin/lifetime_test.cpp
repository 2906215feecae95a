// SPDX-License-Identifier: BSD-3-Clause
// Programs side by side, on several threads, destroyed in any order.
#include "host.h"

#include <gtest/gtest.h>

#include <thread>

namespace pteron::test {
namespace {

std::vector<float> numbers() { return {1, 2, 3, 4}; }
std::vector<float> doubled() { return {2, 4, 6, 8}; }

std::unique_ptr<Hosted> doubling_program() { return std::make_unique<Hosted>(program_with(doubling().blob())); }

TEST(PluginLifetime, LoadsOnOneThreadAndRunsOnAnother) {
  auto program = doubling_program();
  EtError loaded = EtError::Internal;
  std::thread([&] { loaded = program->operator->()->load_method("forward"); }).join();
  ASSERT_EQ(loaded, EtError::Ok);
  std::vector<float> result;
  std::thread([&] { result = run(*program, numbers()); }).join();
  EXPECT_EQ(result, doubled());
  std::thread([&] { program.reset(); }).join();
}

TEST(PluginLifetime, TwoModulesRunAtOnce) {
  std::vector<std::thread> threads;
  std::vector<u32> right(3);
  threads.reserve(right.size());
  for (u32& count : right)
    threads.emplace_back([&count] {
      auto program = doubling_program();
      for (u32 i = 0; i < 30; ++i)
        count += run(*program, {float(i), 1, 2, 3}) == std::vector<float>{2 * float(i), 2, 4, 6};
    });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(right, (std::vector<u32>{30, 30, 30}));
}

TEST(PluginLifetime, AnyOrderOfDestructionWorks) {
  std::vector<std::unique_ptr<Hosted>> programs;
  for (u32 i = 0; i < 4; ++i) {
    programs.push_back(doubling_program());
    ASSERT_EQ(run(*programs.back(), numbers()), doubled());
  }
  for (const u32 gone : {1, 3, 0}) {
    programs[gone].reset();
    EXPECT_EQ(run(*programs[2], numbers()), doubled());
  }
}

TEST(PluginLifetime, AFailedLoadLeavesNothingBehind) {
  for (u32 i = 0; i < 20; ++i) {
    auto blob = doubling().blob();
    blob.resize(blob.size() / 2);
    Hosted broken(program_with(std::move(blob)));
    EXPECT_NE(broken->load_method("forward"), EtError::Ok);
  }
  auto program = doubling_program();
  EXPECT_EQ(run(*program, numbers()), doubled());
}

}  // namespace
}  // namespace pteron::test
