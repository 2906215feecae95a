// SPDX-License-Identifier: BSD-3-Clause
#include "format/npy.h"

#include <gtest/gtest.h>

namespace pteron::format {
namespace {

TEST(Npy, RoundTripsEveryDtypeAndRank) {
  for (int type = 0; type <= int(DType::i64); ++type)
    for (const Shape& shape : {Shape{}, Shape{5}, Shape{2, 3}, Shape{0, 4}, Shape{1, 2, 3, 4}}) {
      Tensor tensor(DType(type), shape);
      for (size_t i = 0; i < tensor.bytes().size(); ++i) tensor.bytes()[i] = std::byte(i * 7);
      const auto file = to_npy(tensor);
      EXPECT_EQ((file.size() - tensor.bytes().size()) % 64, 0u);
      const auto read = parse_npy(file);
      ASSERT_TRUE(read.has_value()) << read.error().to_string();
      EXPECT_EQ(read->dtype(), tensor.dtype());
      EXPECT_TRUE(read->shape() == shape);
      EXPECT_TRUE(std::equal(read->bytes().begin(), read->bytes().end(), tensor.bytes().begin()));
    }
}

TEST(Npy, RefusesEveryTruncation) {
  const auto file = to_npy(Tensor(DType::f32, Shape{3, 4}));
  for (size_t length = 0; length < file.size(); ++length)
    EXPECT_FALSE(parse_npy(Bytes(file).first(length)).has_value()) << length;
}

TEST(Npy, RefusesGarbageInTheHeader) {
  const auto file = to_npy(Tensor(DType::f32, Shape{3, 4}));
  for (size_t at = 0; at < 128; ++at)
    for (int bit = 0; bit < 8; ++bit) {
      auto broken = file;
      broken[at] ^= std::byte(1 << bit);
      (void)parse_npy(broken);  // must not crash; some flips are harmless
    }
}

}  // namespace
}  // namespace pteron::format
