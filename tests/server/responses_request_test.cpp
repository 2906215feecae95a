// SPDX-License-Identifier: BSD-3-Clause
#include "server/api/responses.h"

#include "runtime/device_inside.h"
#include "support/repetitive_llama.h"
#include "support/stamping_device.h"

#include <gtest/gtest.h>

namespace pteron::server {
namespace {

Result<LanguageModel> load(const std::string&) {
  LoadOptions options;
  options.device = make_device(std::make_shared<graph::Context>(std::make_shared<test::StampingDevice>()));
  auto program = Program::load(test::repetitive_llama(), options);
  if (!program) return std::unexpected(program.error());
  return LanguageModel::create(*std::move(program), std::nullopt, std::nullopt);
}

std::string refusal(const char* input) {
  ModelTable models(load);
  EXPECT_TRUE(models.add("tiny.pte").has_value());
  try {
    (void)read_responses(Json{{"input", Json::parse(input)}}, models);
  } catch (const ApiError& error) {
    return error.message;
  }
  return "";
}

TEST(ResponsesRequest, CallsJoinTheMessageInFrontOfThem) {
  EXPECT_EQ(refusal(R"([{"role": "user", "content": "a"}, {"type": "function_call", "name": "f"},
                        {"type": "function_call", "name": "g"}, {"type": "function_call_output", "output": "1"}])"),
            "");
}

// The call that follows took for granted what the message has.
TEST(ResponsesRequest, RefusesRolesAndCallsOfAnotherType) {
  EXPECT_EQ(refusal(R"([{"role": 5, "content": "a"}, {"type": "function_call", "name": "f"}])"),
            "'input[0].role' must be a string, not 5");
  EXPECT_EQ(refusal(R"([{"role": null, "content": "a"}, {"type": "function_call", "name": "f"}])"),
            "'messages[0].role' must be system, developer, user, assistant or tool");
  EXPECT_EQ(
      refusal(R"([{"role": "assistant", "content": "a", "tool_calls": "x"}, {"type": "function_call", "name": "f"}])"),
      "'input[0].tool_calls' must be an array, not \"x\"");
}

}  // namespace
}  // namespace pteron::server
