// SPDX-License-Identifier: BSD-3-Clause
#include <pteron/output_set.h>

#include <gtest/gtest.h>

namespace pteron {
namespace {

TEST(OutputSet, HoldsExactlyWhatWasAdded) {
  const OutputSet some{0, 61, 62, 63, 64, 69, 127, 128, 199};
  for (u32 i = 0; i < 300; ++i)
    EXPECT_EQ(some.contains(i), i == 0 || (i >= 61 && i <= 64) || i == 69 || i == 127 || i == 128 || i == 199) << i;
  EXPECT_FALSE(some.is_all());
  EXPECT_FALSE(OutputSet().contains(0));
}

TEST(OutputSet, AllHasNoEnd) {
  OutputSet all = OutputSet::all();
  EXPECT_TRUE(all.contains(0) && all.contains(63) && all.contains(64) && all.contains(100000));
  all.add(200);
  EXPECT_TRUE(all.is_all());
  EXPECT_EQ(all, OutputSet::all());
  EXPECT_TRUE(all.contains(150) && all.contains(100000));
}

TEST(OutputSet, OutputsFarApartAreDifferentOnes) {
  const OutputSet a{5}, b{69}, c{133};
  EXPECT_FALSE(a.intersects(b) || b.intersects(c) || a.intersects(c));
  EXPECT_TRUE(b.intersects(OutputSet{70, 69}));
  EXPECT_TRUE(c.intersects(OutputSet::all()) && OutputSet::all().intersects(OutputSet::all()));
  EXPECT_FALSE(OutputSet().intersects(OutputSet::all()));
}

TEST(OutputSet, UnionsKeepBoth) {
  OutputSet a{1, 70};
  a.add(OutputSet{2, 200});
  EXPECT_EQ(a, (OutputSet{1, 2, 70, 200}));
  EXPECT_NE(a, (OutputSet{1, 2, 70}));
  OutputSet b{2};
  b.add(OutputSet{150});
  EXPECT_TRUE(b.contains(2) && b.contains(150) && !b.contains(149));
  b.add(OutputSet::all());
  EXPECT_TRUE(b.is_all());
  b.clear();
  EXPECT_EQ(b, OutputSet());
}

}  // namespace
}  // namespace pteron
