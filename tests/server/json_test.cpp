// SPDX-License-Identifier: BSD-3-Clause
#include "server/api/json.h"

#include "server/api/error.h"

#include <gtest/gtest.h>

namespace pteron::server {
namespace {

std::string refusal(std::string_view body) {
  try {
    (void)parse_body(body);
  } catch (const ApiError& error) {
    return error.message;
  }
  return "";
}

TEST(RequestJson, RefusesWhatStandsBehindAZeroByte) {
  using namespace std::literals;
  EXPECT_EQ(refusal("{}"), "");
  for (const std::string_view body : {"{}\0"sv, "{}\0{\"max_tokens\": 1}"sv, "\0{}"sv, "{\"a\": \"\0\"}"sv})
    EXPECT_EQ(refusal(body), "the body has a byte that is zero, which JSON writes as \\u0000");
}

// The parser's own sentence quotes the whole of what it read last.
TEST(RequestJson, ErrorsAreShortHoweverLongTheBodyIs) {
  const std::string digits(1'000'000, '9'), letters(1'000'000, 'a');
  for (const std::string& body : {"{\"seed\": " + digits + "}", "{\"seed\": 1" + letters + "}",
                                  "{\"a\": \"" + letters + "\xFF\"}", "{\"" + letters}) {
    EXPECT_TRUE(refusal(body).starts_with("the body is not valid JSON: ")) << refusal(body).substr(0, 300);
    EXPECT_LT(refusal(body).size(), 300u);
  }
}

}  // namespace
}  // namespace pteron::server
