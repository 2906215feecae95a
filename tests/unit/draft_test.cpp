// SPDX-License-Identifier: BSD-3-Clause
#include "llm/draft.h"

#include <gtest/gtest.h>

namespace pteron {
namespace {

using Tokens = std::vector<u32>;

TEST(Drafter, SaysWhatStoodBehindTheSameEnd) {
  const Drafter drafter;
  EXPECT_EQ(drafter.draft(Tokens{1, 2, 3, 4, 5, 9, 1, 2}, 3), (Tokens{3, 4, 5}));
  EXPECT_EQ(drafter.draft(Tokens{1, 2, 3, 4, 5, 9, 1, 2}, 2), (Tokens{3, 4}));
  EXPECT_EQ(drafter.draft(Tokens{1, 2, 3, 4, 5, 9, 1, 2}, 0), Tokens{});
}

TEST(Drafter, NeedsTwoTokensInCommon) {
  const Drafter drafter;
  EXPECT_EQ(drafter.draft(Tokens{}, 3), Tokens{});
  EXPECT_EQ(drafter.draft(Tokens{1}, 3), Tokens{});
  EXPECT_EQ(drafter.draft(Tokens{1, 2, 3, 9, 2}, 3), Tokens{});
}

TEST(Drafter, TakesTheLongestMatchAndOfThoseTheLast) {
  const Drafter drafter;
  EXPECT_EQ(drafter.draft(Tokens{7, 1, 2, 30, 1, 2, 40, 7, 1, 2}, 1), Tokens{30});
  EXPECT_EQ(drafter.draft(Tokens{1, 2, 30, 1, 2, 40, 1, 2}, 1), Tokens{40});
}

TEST(Drafter, GoesOnWithAPeriodThatIsShorterThanTheDraft) {
  const Drafter drafter;
  EXPECT_EQ(drafter.draft(Tokens{5, 5, 5}, 3), (Tokens{5, 5, 5}));
  EXPECT_EQ(drafter.draft(Tokens{1, 2, 1, 2, 1, 2}, 3), (Tokens{1, 2, 1}));
}

TEST(Drafter, WaitsForLongerMatchesWhereDraftsFail) {
  Drafter drafter;
  const Tokens two{1, 2, 3, 4, 5, 9, 1, 2};
  drafter.learn(3, 0);
  EXPECT_EQ(drafter.draft(two, 3), Tokens{});
  drafter.learn(3, 1);
  EXPECT_EQ(drafter.draft(two, 3), Tokens{});
  drafter.learn(3, 3);
  EXPECT_EQ(drafter.draft(two, 3), (Tokens{3, 4, 5}));
}

}  // namespace
}  // namespace pteron
