// SPDX-License-Identifier: BSD-3-Clause
#include "host.h"

#include <executorch/runtime/backend/backend_options_map.h>
#include <executorch/runtime/backend/interface.h>
#include <gtest/gtest.h>

namespace pteron::test {
namespace {

namespace runtime = executorch::runtime;
using Options = runtime::BackendOptions<4>;

EtError load_with(Options& options) {
  runtime::LoadBackendOptionsMap map;
  EXPECT_EQ(map.set_options("VulkanBackend", options.view()), EtError::Ok);
  Hosted program(program_with(doubling().blob()));
  take_errors();
  return program->load_method("forward", nullptr, nullptr, &map);
}

template <size_t N, class T>
EtError load_with(const char (&key)[N], T value) {
  Options options;
  options.set_option(key, value);
  return load_with(options);
}

void expect_complaint(std::string_view part) {
  const auto errors = take_errors();
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_NE(errors[0].find(part), std::string::npos) << errors[0];
}

TEST(PluginOptions, TakesWhatTheReferenceBackendTakes) {
  EXPECT_EQ(load_with("enable_f16_kv_cache", true), EtError::Ok);
  EXPECT_EQ(load_with("enable_f16_accumulate_gemm", true), EtError::Ok);
  EXPECT_EQ(load_with("sdpa_query_tile", 16), EtError::Ok);
  EXPECT_TRUE(take_errors().empty());
}

TEST(PluginOptions, TakesItsOwn) {
  EXPECT_EQ(load_with("profile", true), EtError::Ok);
  EXPECT_EQ(load_with("adapter", "0"), EtError::Ok);
  EXPECT_EQ(load_with("disable_passes", "dead-code,swiglu"), EtError::Ok);
}

TEST(PluginOptions, SaysWhatIsWrongWithABadValue) {
  EXPECT_EQ(load_with("enable_f16_kv_cache", 1), EtError::InvalidArgument);
  expect_complaint("'enable_f16_kv_cache' must be true or false");
  EXPECT_EQ(load_with("sdpa_query_tile", -1), EtError::InvalidArgument);
  expect_complaint("'sdpa_query_tile' is -1");
  EXPECT_EQ(load_with("adapter", true), EtError::InvalidArgument);
  expect_complaint("'adapter' must be a string");
  EXPECT_EQ(load_with("fast", true), EtError::InvalidArgument);
  expect_complaint("'fast' is unknown; there are: adapter");
  EXPECT_EQ(load_with("adapter", "no such GPU"), EtError::NotFound);
  expect_complaint("no such GPU");
  EXPECT_EQ(load_with("disable_passes", "no-such-pass"), EtError::InvalidArgument);
  expect_complaint("no pass 'no-such-pass' to disable; there are: alias-copies");
}

TEST(PluginOptions, OfTheBackendHoldForLaterLoads) {
  Options options;
  options.set_option("adapter", "no such GPU");
  ASSERT_EQ(runtime::set_option("VulkanBackend", options.view()), EtError::Ok);
  Options none;
  EXPECT_EQ(load_with(none), EtError::NotFound);
  options.set_option("adapter", "");
  ASSERT_EQ(runtime::set_option("VulkanBackend", options.view()), EtError::Ok);
  EXPECT_EQ(load_with(none), EtError::Ok);
}

TEST(PluginOptions, ABadOneLeavesTheOthersAsTheyWere) {
  Options options;
  options.set_option("adapter", "no such GPU");
  options.set_option("profile", 7);
  EXPECT_EQ(runtime::set_option("VulkanBackend", options.view()), EtError::InvalidArgument);
  Options none;
  EXPECT_EQ(load_with(none), EtError::Ok);
}

}  // namespace
}  // namespace pteron::test
