// SPDX-License-Identifier: BSD-3-Clause
#include "format/npy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

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

TEST(Npy, RefusesShapesThatWrap) {
  const std::string good = "'shape': (3, 4), ";
  const auto file = to_npy(Tensor(DType::f32, Shape{3, 4}));
  const auto place = std::ranges::search(file, std::as_bytes(std::span(good)));
  ASSERT_EQ(place.size(), good.size());
  for (const char* sizes : {"4294967296", "2147483648, 2147483648, 4", "65536,65536,65536,65536", "-1", "3, -4",
                            "18446744073709551617", "1,1,1,1,1,1,1,1,12", "(3, 4)"}) {
    auto broken = file;
    const auto at =
        broken.erase(broken.begin() + (place.begin() - file.begin()), broken.begin() + (place.end() - file.begin()));
    const std::string shape = std::string("'shape': (") + sizes + "), ";
    const auto text = std::as_bytes(std::span(shape));
    broken.insert(at, text.begin(), text.end());
    const u16 header = u16(file.size() - 10 - 48 + shape.size() - good.size());
    std::memcpy(broken.data() + 8, &header, sizeof header);
    EXPECT_FALSE(parse_npy(broken).has_value()) << shape;
  }
}

}  // namespace
}  // namespace pteron::format
