// SPDX-License-Identifier: BSD-3-Clause
#include "base/utf8.h"

#include <pteron/stop_matcher.h>

#include <gtest/gtest.h>

#include <random>

namespace pteron {
namespace {

StopMatcher make(std::vector<std::string> stops) {
  auto matcher = StopMatcher::create(std::move(stops));
  EXPECT_TRUE(matcher.has_value());
  return std::move(*matcher);
}

TEST(StopMatcher, HoldsBackWhatMayBecomeAStop) {
  auto matcher = make({"</end>"});
  EXPECT_EQ(matcher.feed("text </e"), "text ");
  EXPECT_EQ(matcher.feed("x"), "</ex");
  EXPECT_EQ(matcher.feed("<"), "");
  EXPECT_EQ(matcher.feed("/end> more"), "");
  EXPECT_EQ(matcher.found(), 0u);
  EXPECT_EQ(matcher.feed("ignored"), "");
  EXPECT_EQ(matcher.finish(), "");
}

TEST(StopMatcher, GivesBackWhatWasHeldAtTheEnd) {
  auto matcher = make({"STOP"});
  EXPECT_EQ(matcher.feed("no STO"), "no ");
  EXPECT_EQ(matcher.finish(), "STO");
  EXPECT_FALSE(matcher.found().has_value());
}

TEST(StopMatcher, TakesTheStopThatIsCompleteFirst) {
  auto matcher = make({"abcd", "bc"});
  EXPECT_EQ(matcher.feed("xabcd"), "xa");
  EXPECT_EQ(matcher.found(), 1u);
}

TEST(StopMatcher, TakesTheLongestOfStopsThatEndTogether) {
  auto matcher = make({"c", "abc", "bc"});
  EXPECT_EQ(matcher.feed("xabc"), "x");
  EXPECT_EQ(matcher.found(), 1u);
}

TEST(StopMatcher, NeverShowsHalfACharacter) {
  auto matcher = make({"€!"});
  const std::string text = "a€b€𝄞";
  std::string shown;
  for (char byte : text) {
    const std::string piece = matcher.feed({&byte, 1});
    EXPECT_TRUE(utf8::valid(piece)) << piece;
    shown += piece;
  }
  EXPECT_EQ(shown + matcher.finish(), text);
}

TEST(StopMatcher, ResetStartsAgain) {
  auto matcher = make({"ab"});
  EXPECT_EQ(matcher.feed("ab"), "");
  matcher.reset();
  EXPECT_EQ(matcher.feed("ba"), "b");
  EXPECT_FALSE(matcher.found().has_value());
}

TEST(StopMatcher, RefusesStopsThatCanNotBe) {
  EXPECT_FALSE(StopMatcher::create({""}).has_value());
  EXPECT_FALSE(StopMatcher::create({"\xE2\x82"}).has_value());
  EXPECT_FALSE(StopMatcher::create(std::vector<std::string>(100, "a")).has_value());
  EXPECT_FALSE(StopMatcher::create({std::string(10'000, 'a')}).has_value());
  EXPECT_TRUE(StopMatcher::create({}).has_value());
}

// The end of the first stop, found by looking at every end.
std::string before_first_stop(const std::string& text, const std::vector<std::string>& stops) {
  for (size_t end = 1; end <= text.size(); ++end) {
    size_t longest = 0;
    for (const std::string& stop : stops)
      if (text.substr(0, end).ends_with(stop)) longest = std::max(longest, stop.size());
    if (longest) return text.substr(0, end - longest);
  }
  return text;
}

TEST(StopMatcher, AnswersAsTheWholeTextHoweverItIsCut) {
  std::mt19937 random(3);
  const auto word = [&](size_t longest) {
    std::string out;
    for (size_t n = 1 + random() % longest; n > 0; --n) out += random() % 5 ? "ab"[random() % 2] : 'c';
    return out;
  };
  for (int round = 0; round < 2000; ++round) {
    std::vector<std::string> stops;
    for (size_t n = 1 + random() % 3; n > 0; --n) stops.push_back(word(5));
    const std::string text = word(24);
    auto matcher = make(stops);
    std::string shown;
    for (size_t at = 0; at < text.size();) {
      const size_t size = 1 + random() % 4;
      shown += matcher.feed(std::string_view(text).substr(at, size));
      at += size;
    }
    shown += matcher.finish();
    EXPECT_EQ(shown, before_first_stop(text, stops));
  }
}

}  // namespace
}  // namespace pteron
