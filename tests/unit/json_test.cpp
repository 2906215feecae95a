// SPDX-License-Identifier: BSD-3-Clause
#include "llm/json/json.h"

#include <gtest/gtest.h>

namespace pteron {
namespace {

std::string again(std::string_view text) {
  const auto json = Json::parse(text);
  return json ? json->dump() : json.error().to_string();
}

TEST(Json, ReadsAndWritesWhatItIsMadeOf) {
  EXPECT_EQ(again(R"( { "a" : [1, -2.5, 1e3, true, false, null, {}], "b" : "" } )"),
            R"({"a": [1, -2.5, 1000.0, true, false, null, {}], "b": ""})");
  EXPECT_EQ(again("[]"), "[]");
  EXPECT_EQ(again("-0"), "0");
  EXPECT_EQ(again("9223372036854775807"), "9223372036854775807");
  EXPECT_EQ(again("1e-999"), "0.0");
  EXPECT_EQ(again("\xEF\xBB\xBF 7"), "7");
  EXPECT_EQ(Json({{"n", 1}, {"list", Json::Array{"x", 2u, 0.5}}}).dump(), R"({"n": 1, "list": ["x", 2, 0.5]})");
  EXPECT_EQ(Json(std::string("a\xFFz")).dump(), "\"a\xEF\xBF\xBDz\"");
}

TEST(Json, KnowsEveryEscape) {
  EXPECT_EQ(Json::parse(R"("\"\\\/\b\f\n\r\t\u00e9\u20AC\ud834\uDD1E")")->string(), "\"\\/\b\f\n\r\té€𝄞");
  for (const char* text : {R"("\x")", R"("\u12")", R"("\u12g4")", R"("\ud834")", R"("\ud834\u0041")", R"("\udd1e")"})
    EXPECT_FALSE(Json::parse(text).has_value()) << text;
}

TEST(Json, OfMembersWithOneNameTheLastCounts) {
  EXPECT_EQ(again(R"({"a": 1, "b": 2, "a": 3})"), R"({"a": 3, "b": 2})");
}

TEST(Json, NamesTheByteThatIsWrong) {
  for (const char* text : {"",     "{",        "[1,]",  "[1 2]", "{\"a\" 1}", "{a: 1}",  "01",       "1.",  ".5",
                           "-",    "1e",       "+1",    "tru",   "nul",       "\"a",     "\"a\nb\"", "1 2", "[1}",
                           "\xFF", "\"\xC3\"", "1e999", "'a'",   "[",         "{\"a\":", "NaN"})
    EXPECT_NE(again(text).find("not valid JSON at byte"), std::string::npos) << text;
  EXPECT_NE(again("[1, x]").find("at byte 4"), std::string::npos) << again("[1, x]");
}

TEST(Json, LimitsItsDepth) {
  const auto nested = [](u32 depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  EXPECT_TRUE(Json::parse(nested(Json::max_depth)).has_value());
  EXPECT_NE(again(nested(Json::max_depth + 1)).find("deeper than 128"), std::string::npos);
  EXPECT_FALSE(Json::parse(std::string(1'000'000, '[')).has_value());
}

TEST(Json, IntegersOfMoreThan63BitsAreRefusedOrRounded) {
  EXPECT_NE(again("9223372036854775808").find("63 bits"), std::string::npos);
  const auto rounded = Json::parse("18446744073709551616", Json::BigIntegers::round);
  EXPECT_EQ(rounded->number(), 18446744073709551616.0);
}

}  // namespace
}  // namespace pteron
