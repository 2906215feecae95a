// SPDX-License-Identifier: BSD-3-Clause
// Every pair of types. The expected numbers are torch's, where it defines them.
#include "gpu/one_op.h"

#include "base/half.h"

#include <limits>

namespace pteron::test {
namespace {

constexpr i32 lowest = std::numeric_limits<i32>::min(), highest = std::numeric_limits<i32>::max();
const f32 nan = std::numeric_limits<f32>::quiet_NaN(), infinity = std::numeric_limits<f32>::infinity();

template <class To>
std::vector<To> cast(const Tensor& x, DType to) {
  GraphBuilder b;
  const u32 in = b.input(b.tensor(x.dtype(), x.shape())), out = b.tensor(to, x.shape());
  b.op("aten._to_copy.default", {in, b.null(), b.null(), b.null(), b.null(), b.boolean(false), b.null(), out});
  b.output(out);
  const auto outputs = run(b, {x});
  return outputs.empty() ? std::vector<To>() : values<To>(outputs[0]);
}

std::vector<f32> from_half(const std::vector<u16>& halves) {
  std::vector<f32> out;
  out.reserve(halves.size());
  for (u16 h : halves) out.push_back(half_to_float(h));
  return out;
}

TEST(Cast, FromFloat) {
  const Tensor x = tensor_of<f32>(DType::f32, {9}, {0, -0.0f, 1.9f, -1.9f, 127, 200, -1, -129, 255});
  EXPECT_EQ(cast<i32>(x, DType::i32), (std::vector<i32>{0, 0, 1, -1, 127, 200, -1, -129, 255}));
  EXPECT_EQ(cast<i8>(x, DType::i8), (std::vector<i8>{0, 0, 1, -1, 127, -56, -1, 127, -1}));
  EXPECT_EQ(cast<u8>(x, DType::u8), (std::vector<u8>{0, 0, 1, 255, 127, 200, 255, 127, 255}));
  EXPECT_EQ(cast<u8>(x, DType::boolean), (std::vector<u8>{0, 0, 1, 1, 1, 1, 1, 1, 1}));
}

TEST(Cast, NanAndTinyNumbersAreTrue) {
  const Tensor x = tensor_of<f32>(DType::f32, {4}, {nan, 1e-40f, -infinity, 0});
  EXPECT_EQ(cast<u8>(x, DType::boolean), (std::vector<u8>{1, 1, 1, 0}));
}

TEST(Cast, IntegersSaturate) {
  const Tensor x =
      tensor_of<f32>(DType::f32, {7}, {2147483648.0f, -2147483648.0f, 1e30f, -1e30f, infinity, -infinity, nan});
  EXPECT_EQ(cast<i32>(x, DType::i32), (std::vector<i32>{highest, lowest, highest, lowest, highest, lowest, 0}));
}

TEST(Cast, FromInt32) {
  const Tensor x = tensor_of<i32>(DType::i32, {9}, {0, 1, -1, 128, 256, -129, highest, lowest, 16777217});
  EXPECT_EQ(cast<i8>(x, DType::i8), (std::vector<i8>{0, 1, -1, -128, 0, 127, -1, 0, 1}));
  EXPECT_EQ(cast<u8>(x, DType::u8), (std::vector<u8>{0, 1, 255, 128, 0, 127, 255, 0, 1}));
  EXPECT_EQ(cast<u8>(x, DType::boolean), (std::vector<u8>{0, 1, 1, 1, 1, 1, 1, 1, 1}));
  EXPECT_EQ(cast<f32>(x, DType::f32),
            (std::vector<f32>{0, 1, -1, 128, 256, -129, 2147483648.0f, -2147483648.0f, 16777216}));
  const Tensor small = tensor_of<i32>(DType::i32, {4}, {0, -2048, 65504, 1});
  EXPECT_EQ(from_half(cast<u16>(small, DType::f16)), (std::vector<f32>{0, -2048, 65504, 1}));
}

TEST(Cast, FromBytes) {
  const Tensor i = tensor_of<i8>(DType::i8, {5}, {0, 1, -1, 127, -128}),
               u = tensor_of<u8>(DType::u8, {5}, {0, 1, 127, 128, 255});
  EXPECT_EQ(cast<i32>(i, DType::i32), (std::vector<i32>{0, 1, -1, 127, -128}));
  EXPECT_EQ(cast<f32>(i, DType::f32), (std::vector<f32>{0, 1, -1, 127, -128}));
  EXPECT_EQ(cast<u8>(i, DType::u8), (std::vector<u8>{0, 1, 255, 127, 128}));
  EXPECT_EQ(cast<u8>(i, DType::boolean), (std::vector<u8>{0, 1, 1, 1, 1}));
  EXPECT_EQ(from_half(cast<u16>(i, DType::f16)), (std::vector<f32>{0, 1, -1, 127, -128}));
  EXPECT_EQ(cast<i32>(u, DType::i32), (std::vector<i32>{0, 1, 127, 128, 255}));
  EXPECT_EQ(cast<f32>(u, DType::f32), (std::vector<f32>{0, 1, 127, 128, 255}));
  EXPECT_EQ(cast<i8>(u, DType::i8), (std::vector<i8>{0, 1, 127, -128, -1}));
  EXPECT_EQ(cast<u8>(u, DType::boolean), (std::vector<u8>{0, 1, 1, 1, 1}));
  EXPECT_EQ(from_half(cast<u16>(u, DType::f16)), (std::vector<f32>{0, 1, 127, 128, 255}));
}

TEST(Cast, FromBooleansGivesZeroAndOne) {
  const Tensor x = tensor_of<u8>(DType::boolean, {5}, {0, 1, 1, 0, 1});
  EXPECT_EQ(cast<i32>(x, DType::i32), (std::vector<i32>{0, 1, 1, 0, 1}));
  EXPECT_EQ(cast<i8>(x, DType::i8), (std::vector<i8>{0, 1, 1, 0, 1}));
  EXPECT_EQ(cast<u8>(x, DType::u8), (std::vector<u8>{0, 1, 1, 0, 1}));
  EXPECT_EQ(cast<f32>(x, DType::f32), (std::vector<f32>{0, 1, 1, 0, 1}));
  EXPECT_EQ(from_half(cast<u16>(x, DType::f16)), (std::vector<f32>{0, 1, 1, 0, 1}));
}

TEST(Cast, FromHalf) {
  std::vector<u16> halves;
  for (f32 v : {0.0f, 1.5f, -1.5f, 300.0f, 65504.0f}) halves.push_back(float_to_half(v));
  const Tensor x = tensor_of<u16>(DType::f16, {5}, halves);
  EXPECT_EQ(cast<f32>(x, DType::f32), (std::vector<f32>{0, 1.5, -1.5, 300, 65504}));
  EXPECT_EQ(cast<i32>(x, DType::i32), (std::vector<i32>{0, 1, -1, 300, 65504}));
  EXPECT_EQ(cast<i8>(x, DType::i8), (std::vector<i8>{0, 1, -1, 44, -32}));
  EXPECT_EQ(cast<u8>(x, DType::u8), (std::vector<u8>{0, 1, 255, 44, 224}));
  EXPECT_EQ(cast<u8>(x, DType::boolean), (std::vector<u8>{0, 1, 1, 1, 1}));
}

TEST(Cast, ToTheSameTypeRunsNothing) {
  GraphBuilder b;
  const u32 x = b.input(b.tensor(DType::i32, {5})), y = b.tensor(DType::i32, {5}), z = b.tensor(DType::i32, {5});
  b.op("aten._to_copy.default", {x, b.null(), b.null(), b.null(), b.null(), b.boolean(false), b.null(), y});
  b.op("aten.neg.default", {y, z});
  b.output(z);
  auto program = load(b);
  ASSERT_TRUE(program.has_value()) << program.error().to_string();
  auto method = program->method();
  ASSERT_TRUE(method.has_value()) << method.error().to_string();
  auto outputs = method->execute({counting<i32>(DType::i32, {5})});
  ASSERT_TRUE(outputs.has_value()) << outputs.error().to_string();
  EXPECT_EQ(values<i32>((*outputs)[0]), (std::vector<i32>{0, -1, -2, -3, -4}));
  EXPECT_EQ(method->stats().dispatches, 1u);
}

}  // namespace
}  // namespace pteron::test
