// SPDX-License-Identifier: BSD-3-Clause
#include "llm/generation_options.h"

#include <pteron/options.h>

#include <gtest/gtest.h>

namespace pteron {
namespace {

std::string error_of(std::string_view name, const OptionValue& value) {
  LoadOptions options;
  const Status status = set_option(options, name, value);
  return status ? "" : status.error().message;
}

TEST(Options, EveryNameCanBeSetAsItsKind) {
  for (const OptionInfo& info : load_option_names()) {
    const OptionValue value = info.kind == OptionInfo::flag     ? OptionValue(true)
                              : info.kind == OptionInfo::number ? OptionValue(i64(1))
                                                                : OptionValue(std::string());
    EXPECT_EQ(error_of(info.name, value), "");
    EXPECT_NE(error_of(info.name, info.kind == OptionInfo::number ? OptionValue(i64(-1)) : OptionValue(i64(1))), "")
        << info.name;
  }
}

TEST(Options, AreTheSameInAnySpelling) {
  for (const char* name : {"disable_passes", "disable-passes", "disablePasses", "disabledPasses", "disabled_passes"}) {
    LoadOptions options;
    ASSERT_TRUE(set_option(options, name, std::string("dead-code,alias-copies")).has_value()) << name;
    EXPECT_EQ(options.disabled_passes, (std::vector<std::string>{"dead-code", "alias-copies"}));
  }
  LoadOptions options;
  ASSERT_TRUE(set_option(options, "enable_f16_kv_cache", true).has_value());
  EXPECT_TRUE(options.f16_kv_cache);
  ASSERT_TRUE(set_option(options, "f16_kv_cache", std::string("f32")).has_value());
  EXPECT_FALSE(options.f16_kv_cache);
  ASSERT_TRUE(set_option(options, "f16", std::string("false")).has_value());
  EXPECT_FALSE(options.device_options.f16);
  ASSERT_TRUE(set_option(options, "dataFiles", std::vector<std::string>{"a,b.ptd"}).has_value());
  EXPECT_EQ(options.data_files, std::vector<std::string>{"a,b.ptd"});
}

TEST(Options, ErrorsSayWhatIsPossible) {
  EXPECT_EQ(error_of("fast", true),
            "option 'fast' is unknown; there are: adapter, require_gpu, f16, subgroups, data_files, disable_passes, "
            "f16_kv_cache, fast_math, routes, guards, submit_microseconds, answer_seconds");
  EXPECT_EQ(error_of("", true).find("option '' is unknown"), 0u);
  EXPECT_EQ(error_of("adapter", true), "option 'adapter' must be a string");
  EXPECT_EQ(error_of("guards", std::string("yes")), "option 'guards' must be true or false");
  EXPECT_EQ(error_of("f16_kv_cache", i64(1)), "option 'f16_kv_cache' must be true or false, or f32 or f16");
  EXPECT_EQ(error_of("routes", true),
            "option 'routes' must be a list of strings, or a string with commas between them");
  EXPECT_EQ(error_of("disable_passes", std::string("no-such")).find("there is no pass 'no-such' to disable"), 0u);
}

std::string error_of(std::string_view name, const Json& value, GenerationOptions options = {}) {
  const Status status = set_option(options, name, value);
  return status ? "" : status.error().message;
}

TEST(OptionsOfAnswers, AreTheSameInPagesAndInOtherLanguages) {
  for (const bool page : {false, true}) {
    GenerationOptions options;
    const auto set = [&](const char* name, const char* of_page, const Json& value) {
      EXPECT_TRUE(set_option(options, page ? of_page : name, value).has_value()) << name;
    };
    set("max_tokens", "maxTokens", 7);
    set("temperature", "temperature", 1);
    set("top_k", "topK", 3);
    set("repetition_penalty", "repetitionPenalty", 1.5);
    set("stop", "stop", Json::Array{"a", "b"});
    set("json_schema", "jsonSchema", page ? Json({{"type", "integer"}}) : Json(R"({"type": "integer"})"));
    EXPECT_EQ(options.max_tokens, 7u);
    EXPECT_EQ(options.sampling.temperature, 1.0f);
    EXPECT_EQ(options.sampling.top_k, 3u);
    EXPECT_EQ(options.sampling.repetition_penalty, 1.5f);
    EXPECT_EQ(options.stops, (std::vector<std::string>{"a", "b"}));
    EXPECT_TRUE(options.grammar.has_value());
  }
}

TEST(OptionsOfAnswers, OfAWrongKindAreRefused) {
  EXPECT_EQ(error_of("temp", Json(1)), "there is no option 'temp'");
  EXPECT_EQ(error_of("topP", Json("all")), "the option 'topP' must be a number");
  EXPECT_EQ(error_of("topK", Json(-1)), "the option 'topK' must be a whole number that is not negative");
  EXPECT_EQ(error_of("maxTokens", Json(1.5)), "the option 'maxTokens' must be a whole number that is not negative");
  EXPECT_EQ(error_of("speculate", Json(1)), "the option 'speculate' must be true or false");
  EXPECT_EQ(error_of("stop", Json("a")), "the option 'stop' must be a list of texts");
  EXPECT_EQ(error_of("regex", Json(1)), "the option 'regex' must be a text");
  EXPECT_EQ(error_of("regex", Json("a"), {.grammar = *Grammar::json()}),
            "there can be a regex or a JSON schema; they exclude each other");
}

}  // namespace
}  // namespace pteron
