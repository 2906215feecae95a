// SPDX-License-Identifier: BSD-3-Clause
#include "base/decimal.h"
#include "base/text.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <random>

namespace pteron {
namespace {

TEST(Decimal, HasTheFewestDigitsThatReadBackTheSame) {
  const auto is = [](f64 value, const char* digits, int exponent) {
    const Decimal decimal = shortest_decimal(value);
    EXPECT_EQ(decimal.digits, digits) << value;
    EXPECT_EQ(decimal.exponent, exponent) << value;
  };
  is(0, "0", 0);
  is(1, "1", 0);
  is(-1200, "12", 3);
  is(0.1, "1", -1);
  is(0.1f, "10000000149011612", -1);
  is(1.0 / 3, "3333333333333333", -1);
  is(5e-324, "5", -324);
  is(std::numeric_limits<f64>::max(), "17976931348623157", 308);
}

TEST(Decimal, AnyNumberReadsBackTheSameFromItsText) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 20000; ++i) {
    const f64 value = std::bit_cast<f64>(random());
    if (!std::isfinite(value)) continue;
    EXPECT_EQ(std::strtod(str(value).c_str(), nullptr), value) << str(value);
  }
}

TEST(Decimal, TextIsTheShorterOneOfTheTwoForms) {
  EXPECT_EQ(str(0.0, " ", -0.0, " ", 1.0, " ", -2.5, " ", 1234.5), "0 -0 1 -2.5 1234.5");
  EXPECT_EQ(str(100000.0, " ", 1000000.0, " ", 0.001, " ", 0.00012, " ", 1e-5), "1e+05 1e+06 0.001 0.00012 1e-05");
  EXPECT_EQ(str(1.0 / 0.0, " ", -1.0 / 0.0, " ", 123456789.0, " ", 1e300), "inf -inf 123456789 1e+300");
}

TEST(Decimal, RoundsWhatTheNumberStandsForExactly) {
  EXPECT_EQ(round_to_places(2.675, 2), 2.67);  // it is a bit less
  EXPECT_EQ(round_to_places(0.5, 0), 0.0);
  EXPECT_EQ(round_to_places(1.5, 0), 2.0);
  EXPECT_EQ(round_to_places(1e300, 3), 1e300);
  EXPECT_EQ(round_to_places(1e-300, 1000), 1e-300);  // too many places: unchanged
}

}  // namespace
}  // namespace pteron
