// SPDX-License-Identifier: BSD-3-Clause
#include <pteron/grammar.h>

#include <gtest/gtest.h>

#include <chrono>
#include <random>

namespace pteron {
namespace {

const std::vector<std::string>& vocabulary() {
  static const std::vector<std::string> texts{"",   "a",    "b",   "ab",  "{",    "}",        "\"",   "\":",  ":",
                                              "1",  "2",    "12",  ",",   " ",    "[",        "]",    "\\",   "n",
                                              "\n", "true", "t",   "rue", "\xC3", "\xA9",     "é",    "a\"}", "0",
                                              "-",  "{\"",  "a\"", "e",   "é€",   "\xE2\x82", "\xAC", ""};
  return texts;
}
constexpr u32 control = 0, end_token = 34;

TokenTrie trie() {
  auto made = TokenTrie::build(vocabulary(), std::vector<u32>{end_token});
  EXPECT_TRUE(made.has_value());
  return *made;
}

GrammarMatcher matcher_of(const Result<Grammar>& grammar) {
  EXPECT_TRUE(grammar.has_value()) << grammar.error().to_string();
  return {*grammar, trie()};
}

bool allows(TokenMask mask, u32 token) { return mask[token / 64] >> token % 64 & 1; }

std::string message_of(const Result<Grammar>& grammar) { return grammar ? "" : grammar.error().to_string(); }

TEST(Grammar, MaskIsWhatEachTokenAloneSays) {
  std::mt19937 random(5);
  for (const auto& grammar : {Grammar::json(), Grammar::regex("(ab|é€?|[^a]{2})*"), Grammar::regex("a{1,3}(b|ab){2}"),
                              Grammar::json_schema(R"({"properties": {"a": {"type": "integer"}}})")}) {
    for (int walk = 0; walk < 40; ++walk) {
      auto matcher = matcher_of(grammar);
      std::string text;
      for (int step = 0; step < 12 && !matcher.is_complete(); ++step) {
        const auto mask = matcher.allowed();
        if (!mask) break;  // \u needs letters that this vocabulary does not have
        std::vector<u32> allowed;
        for (u32 t = 0; t < vocabulary().size(); ++t) {
          auto other = matcher_of(grammar);
          ASSERT_TRUE(other.advance(text).has_value());
          EXPECT_EQ(other.advance(t).has_value(), allows(*mask, t)) << "'" << text << "' + '" << vocabulary()[t] << "'";
          if (allows(*mask, t)) allowed.push_back(t);
        }
        const u32 token = allowed[random() % allowed.size()];
        ASSERT_TRUE(matcher.advance(token).has_value());
        text += vocabulary()[token];
      }
    }
  }
}

TEST(Grammar, RefusedTokenChangesNothing) {
  auto matcher = matcher_of(Grammar::regex("ab"));
  EXPECT_FALSE(matcher.advance(2u).has_value());
  EXPECT_FALSE(matcher.advance(control).has_value());
  EXPECT_FALSE(matcher.advance(end_token).has_value());
  EXPECT_FALSE(matcher.advance(9999u).has_value());
  EXPECT_FALSE(matcher.advance("ax").has_value());
  EXPECT_TRUE(matcher.advance("ab").has_value());
  EXPECT_TRUE(matcher.is_complete());
}

TEST(Grammar, EndTokenIsAllowedExactlyWhereTheTextMayEnd) {
  auto matcher = matcher_of(Grammar::regex("a+b?"));
  EXPECT_FALSE(matcher.can_end());
  EXPECT_FALSE(allows(*matcher.allowed(), end_token));
  ASSERT_TRUE(matcher.advance(1u).has_value());
  EXPECT_TRUE(matcher.can_end());
  EXPECT_FALSE(matcher.is_complete());
  EXPECT_TRUE(allows(*matcher.allowed(), end_token));
  ASSERT_TRUE(matcher.advance(end_token).has_value());
  EXPECT_TRUE(matcher.is_complete());
  EXPECT_FALSE(matcher.allowed().has_value());
  EXPECT_FALSE(matcher.advance(1u).has_value());
  matcher.reset();
  EXPECT_TRUE(matcher.advance(1u).has_value());
}

TEST(Grammar, IsCompleteWhenNothingCanFollow) {
  auto matcher = matcher_of(Grammar::json_schema(R"({"enum": ["a", 1, 12]})"));
  ASSERT_TRUE(matcher.advance("1").has_value());
  EXPECT_TRUE(matcher.can_end());
  EXPECT_FALSE(matcher.is_complete());
  ASSERT_TRUE(matcher.advance("2").has_value());
  EXPECT_TRUE(matcher.is_complete());
  const auto mask = matcher.allowed();
  for (u32 t = 0; t < vocabulary().size(); ++t) EXPECT_EQ(allows(*mask, t), t == end_token);
}

TEST(Grammar, ValuesOfASeriesStandBetweenTheirTexts) {
  const auto series = Grammar::json_schema(R"({"enum": [1, 2]})", {}, {.most = 3, .begin = "[", .end = "]"});
  for (const std::string_view text : {"1", "1]", "1][2", "2][1][1", "2][1][1]"}) {
    auto matcher = matcher_of(series);
    ASSERT_TRUE(matcher.advance(text).has_value()) << text;
    EXPECT_TRUE(matcher.can_end()) << text;
    EXPECT_EQ(matcher.is_complete(), text == "2][1][1]") << text;
  }
  for (const std::string_view text : {"[1", "12", "1[2", "1]]", "1][]", "1][1][1][", "1][1][1]["})
    EXPECT_FALSE(matcher_of(series).advance(text).has_value()) << text;
  auto unfinished = matcher_of(series);
  ASSERT_TRUE(unfinished.advance("1][").has_value());
  EXPECT_FALSE(unfinished.can_end());
}

TEST(Grammar, SaysWhenTheVocabularyCanNotGoOn) {
  const auto poor = TokenTrie::build(std::vector<std::string>{"a"}, {});
  GrammarMatcher stuck(*Grammar::regex("b"), *poor);
  EXPECT_FALSE(stuck.allowed().has_value());
  GrammarMatcher endless(*Grammar::regex("a"), *poor);
  ASSERT_TRUE(endless.advance(0u).has_value());
  ASSERT_FALSE(endless.allowed().has_value());
  EXPECT_NE(endless.allowed().error().message.find("end token"), std::string::npos);
}

TEST(Grammar, VocabularyIsChecked) {
  EXPECT_FALSE(TokenTrie::build(std::vector<std::string>{"a"}, std::vector<u32>{1}).has_value());
  EXPECT_FALSE(TokenTrie::build(std::vector<std::string>{std::string(10'000, 'a')}, {}).has_value());
  EXPECT_TRUE(TokenTrie::build({}, {}).has_value());
}

TEST(Grammar, SeveralTokensOfTheSameBytesAreAllAllowed) {
  const auto twins = TokenTrie::build(std::vector<std::string>{"a", "b", "a"}, {});
  GrammarMatcher matcher(*Grammar::regex("a*"), *twins);
  EXPECT_EQ((*matcher.allowed())[0], 0b101u);
}

TEST(Grammar, SelfReferenceWithoutProgressAddsNothing) {
  auto matcher = matcher_of(Grammar::json_schema(R"({"anyOf": [{"$ref": "#"}, {"const": 1}]})"));
  ASSERT_TRUE(matcher.advance("1").has_value());
  EXPECT_TRUE(matcher.is_complete());
}

TEST(Grammar, FollowsDeepNestingAndBack) {
  auto matcher = matcher_of(Grammar::json());
  const u32 depth = 3000;
  for (u32 i = 0; i < depth; ++i) ASSERT_TRUE(matcher.advance("[").has_value());
  ASSERT_TRUE(matcher.allowed().has_value());
  for (u32 i = 0; i < depth; ++i) ASSERT_TRUE(matcher.advance("]").has_value());
  EXPECT_TRUE(matcher.is_complete());
}

// More sets than are kept: the text goes on as if nothing had been forgotten.
TEST(Grammar, ForgetsOldStatesWithoutLosingItsPlace) {
  auto matcher = matcher_of(Grammar::json_schema(R"({"type": "array", "minItems": 3, "items":
      {"type": "string", "minLength": 5000, "maxLength": 5001}})"));
  std::string item(5002, 'a');
  item.front() = item.back() = '"';
  ASSERT_TRUE(matcher.advance("[").has_value());
  for (int i = 0; i < 4; ++i) {
    for (char c : item) ASSERT_TRUE(matcher.advance({&c, 1}).has_value());
    ASSERT_TRUE(matcher.allowed().has_value());
    if (i == 3) break;
    ASSERT_TRUE(matcher.advance(",").has_value());
  }
  EXPECT_FALSE(matcher.can_end());
  ASSERT_TRUE(matcher.advance("]").has_value());
  EXPECT_TRUE(matcher.is_complete());
}

TEST(Grammar, HostileGrammarsEndQuicklyWithAClearError) {
  const auto start = std::chrono::steady_clock::now();
  const std::string text(300, 'a');
  for (const char* pattern :
       {"(a{0,1000}){0,1000}b", "((a|aa|aaa){0,500}){0,500}b", "(((((a?){50}){50}){50}){50}){50}b",
        "(a*)*(a*)*(a*)*(a*)*b", "(\\w{0,90000})+\\d", "((((a+)+)+)+)+b"}) {
    const auto grammar = Grammar::regex(pattern);
    if (!grammar) continue;  // refused is fine
    auto matcher = matcher_of(grammar);
    for (size_t i = 0; i < text.size(); ++i) {
      if (const auto mask = matcher.allowed(); !mask) {
        EXPECT_NE(mask.error().message.find("ambiguous"), std::string::npos) << mask.error().message;
        break;
      }
      if (!matcher.advance("a")) break;
    }
  }
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
}

TEST(Grammar, ChainOfReferencesNeedsNoStack) {
  std::string schema = R"({"$ref": "#/$defs/d0", "$defs": {)";
  for (int i = 0; i < 15'000; ++i) {
    schema.append("\"d").append(std::to_string(i)).append(R"(": {"$ref": "#/$defs/d)");
    schema.append(std::to_string(i + 1)).append("\"},");
  }
  schema += R"("d15000": {"const": 1}}})";
  auto matcher = matcher_of(Grammar::json_schema(schema));
  ASSERT_TRUE(matcher.advance("1").has_value());
  EXPECT_TRUE(matcher.is_complete());
}

TEST(Grammar, NamesThePlaceAndTheKeywordThatItRefuses) {
  const std::string message =
      message_of(Grammar::json_schema(R"({"properties": {"a": {"items": {"multipleOf": 2}}}})"));
  EXPECT_NE(message.find("#/properties/a/items"), std::string::npos) << message;
  EXPECT_NE(message.find("\"multipleOf\""), std::string::npos) << message;
  EXPECT_NE(message_of(Grammar::regex("a(?=b)")).find("byte"), std::string::npos);
}

TEST(Grammar, BrokenInputIsRefusedOrWorks) {
  std::mt19937 random(9);
  const std::string schema =
      R"({"$defs": {"n": {"type": "object", "properties": {"v": {"type": ["integer", "null"], "minimum": -3}, "é":
      {"type": "string", "pattern": "^[a-z\\d]{2,3}$"}}, "required": ["v"], "additionalProperties": {"$ref": "#/$defs/n"}}},
      "type": "array", "items": {"anyOf": [{"$ref": "#/$defs/n"}, {"enum": [1, "x", [true]]}]}, "minItems": 1})";
  const std::string pattern = R"((?:a|[^b-d\w]{2,5}?|\u0041+)*(?P<x>\d\s|.)(é{,3}|)$)";
  ASSERT_EQ(message_of(Grammar::json_schema(schema)), "");
  ASSERT_EQ(message_of(Grammar::regex(pattern)), "");
  const auto use = [](const Result<Grammar>& grammar) {
    if (!grammar) return;
    GrammarMatcher matcher(*grammar, trie());
    (void)matcher.allowed();
  };
  for (size_t size = 0; size < schema.size(); ++size) use(Grammar::json_schema(schema.substr(0, size)));
  for (size_t size = 0; size < pattern.size(); ++size) use(Grammar::regex(pattern.substr(0, size)));
  const auto mutated = [&](std::string text) {
    for (u32 n = 1 + random() % 3; n > 0; --n) {
      const size_t at = random() % text.size();
      switch (random() % 3) {
        case 0: text[at] = char(random()); break;
        case 1: text.erase(at, 1 + random() % 4); break;
        default: text.insert(at, text.substr(random() % text.size(), random() % 8));
      }
      if (text.empty()) text.push_back('x');
    }
    return text;
  };
  for (int i = 0; i < 1500; ++i) {
    use(Grammar::json_schema(mutated(schema)));
    use(Grammar::regex(mutated(pattern)));
  }
}

}  // namespace
}  // namespace pteron
