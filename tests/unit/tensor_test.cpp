// SPDX-License-Identifier: BSD-3-Clause
#include <pteron/tensor.h>

#include <gtest/gtest.h>

namespace pteron {
namespace {

TEST(Tensor, TakesExactlyAsManyBytesAsItsShapeNeeds) {
  const std::vector<f32> values{1, 2, 3, 4, 5, 6};
  const auto whole = Tensor::of(DType::f32, Shape{2, 3}, std::span(values));
  ASSERT_TRUE(whole.has_value());
  EXPECT_EQ(whole->as<f32>()[5], 6);
  const auto expect_refused = [&](const Shape& shape, const char* why) {
    const auto tensor = Tensor::of(DType::f32, shape, std::span(values));
    ASSERT_FALSE(tensor.has_value());
    EXPECT_NE(tensor.error().message.find(why), std::string::npos) << tensor.error().message;
  };
  expect_refused(Shape{7}, "needs 28 bytes, but 24 were given");
  expect_refused(Shape{5}, "needs 20 bytes, but 24 were given");
  expect_refused(Shape{1u << 31, 1u << 31, 1u << 31}, "24 were given");
  expect_refused(Shape{1, 1, 1, 1, 1, 1, 1, 1, 6}, "more than 8 dimensions");
}

TEST(Shape, WithTooManySizesIsNoTensorsShape) {
  Shape shape{1, 2, 3, 4, 5, 6, 7, 8};
  EXPECT_EQ(shape.rank(), 8u);
  const Shape eight = shape;
  shape.push_back(9);
  EXPECT_EQ(shape.rank(), 9u);
  shape.push_back(10);
  EXPECT_EQ(shape.rank(), 9u);
  EXPECT_FALSE(shape == eight);
  EXPECT_FALSE(shape.fits_in(eight));
  EXPECT_EQ((Shape{1, 1, 1, 1, 1, 1, 1, 1, 1, 1}).rank(), 9u);
}

}  // namespace
}  // namespace pteron
