// SPDX-License-Identifier: BSD-3-Clause
#include "gpu/one_op.h"

namespace pteron::test {
namespace {

constexpr i64 highest = 2147483647;

// y = op(args…, four Nulls)
GraphBuilder graph(const std::string& op, DType dtype, const Shape& shape,
                   const std::vector<format::GraphValue>& values) {
  GraphBuilder b;
  std::vector<u32> args;
  args.reserve(values.size());
  for (const auto& value : values) args.push_back(b.value(value));
  for (int i = 0; i < 4; ++i) args.push_back(b.null());
  args.push_back(b.output(b.tensor(dtype, shape)));
  b.op(op, args);
  return b;
}

template <class T>
std::vector<T> made(const std::string& op, DType dtype, const Shape& shape,
                    const std::vector<format::GraphValue>& args) {
  const auto outputs = run(graph(op, dtype, shape, args), {});
  return outputs.empty() ? std::vector<T>() : values<T>(outputs[0]);
}

using Ints = std::vector<i64>;

TEST(Fill, EveryType) {
  EXPECT_EQ(made<f32>("aten.full.default", DType::f32, {3}, {Ints{3}, 0.5}), (std::vector<f32>{0.5, 0.5, 0.5}));
  EXPECT_EQ(made<i32>("aten.full.default", DType::i32, {3}, {Ints{3}, -highest}), (std::vector<i32>(3, -highest)));
  EXPECT_EQ(made<i8>("aten.full.default", DType::i8, {5}, {Ints{5}, i64(-3)}), (std::vector<i8>(5, -3)));
  EXPECT_EQ(made<u8>("aten.full.default", DType::u8, {5}, {Ints{5}, i64(250)}), (std::vector<u8>(5, 250)));
  EXPECT_EQ(made<u8>("aten.full.default", DType::boolean, {5}, {Ints{5}, 0.5}), (std::vector<u8>(5, 1)));
  EXPECT_EQ(made<u8>("aten.full.default", DType::boolean, {2}, {Ints{2}, true}), (std::vector<u8>(2, 1)));
  EXPECT_EQ(made<i32>("aten.zeros.default", DType::i32, {2, 2}, {Ints{2, 2}}), (std::vector<i32>(4, 0)));
  EXPECT_EQ(made<u8>("aten.ones.default", DType::boolean, {3}, {Ints{3}}), (std::vector<u8>(3, 1)));
  EXPECT_EQ(made<i32>("aten.scalar_tensor.default", DType::i32, {}, {i64(16777217)}), (std::vector<i32>{16777217}));
  EXPECT_EQ(made<f32>("aten.full.default", DType::f32, {0, 3}, {Ints{0, 3}, 1.0}), std::vector<f32>());
}

TEST(Fill, LikeAnotherTensor) {
  for (const auto& [op, expected] : {std::pair("aten.zeros_like.default", 0), std::pair("aten.ones_like.default", 1)}) {
    GraphBuilder b;
    const u32 x = b.input(b.tensor(DType::f32, {5}), true), y = b.tensor(DType::i8, {5});
    b.op(op, {x, b.null(), b.null(), b.null(), b.null(), b.null(), y});
    b.output(y, true);
    for (const u32 n : {5u, 2u, 1u}) {
      const auto outputs = run(b, {Tensor(DType::f32, {n})});
      ASSERT_EQ(outputs.size(), 1u);
      EXPECT_EQ(values<i8>(outputs[0]), std::vector<i8>(n, i8(expected)));
    }
  }
}

TEST(Fill, ArangeCounts) {
  EXPECT_EQ(made<i32>("aten.arange.start_step", DType::i32, {4}, {i64(5), i64(-3), i64(-2)}),
            (std::vector<i32>{5, 3, 1, -1}));
  EXPECT_EQ(made<i32>("aten.arange.start_step", DType::i32, {2}, {highest - 1, highest + 1, i64(1)}),
            (std::vector<i32>{i32(highest - 1), i32(highest)}));
  EXPECT_EQ(made<f32>("aten.arange.start_step", DType::f32, {3}, {0.0, 1.25, 0.5}), (std::vector<f32>{0, 0.5, 1}));
  EXPECT_EQ(made<f32>("aten.arange.start_step", DType::f32, {0}, {i64(3), i64(3), i64(1)}), std::vector<f32>());
}

TEST(Fill, RefusesWhatDoesNotFit) {
  EXPECT_MENTIONS(error_of(graph("aten.full.default", DType::i32, {3}, {Ints{3}, highest + 1})),
                  "the value 2147483648 does not fit in 32 bits; the GPU computes with int32");
  EXPECT_MENTIONS(error_of(graph("aten.full.default", DType::f32, {3}, {Ints{-3}, 1.0})), "the size of axis 0 is -3");
  EXPECT_MENTIONS(error_of(graph("aten.full.default", DType::f32, {3}, {Ints{1, 1, 1, 1, 1, 1, 1, 1, 3}, 1.0})),
                  "a tensor of rank 9 is asked for; at most 8 is supported");
  EXPECT_MENTIONS(error_of(graph("aten.arange.start_step", DType::f32, {3}, {i64(0), i64(3), i64(0)})),
                  "the step is 0");
  EXPECT_MENTIONS(error_of(graph("aten.arange.start_step", DType::f32, {3}, {i64(3), i64(0), i64(1)})),
                  "from 3 to 0 in steps of 1 there are -3 numbers");
  EXPECT_MENTIONS(error_of(graph("aten.arange.start_step", DType::i32, {2}, {highest, highest + 2, i64(1)})),
                  "don't fit in 32 bits");
}

}  // namespace
}  // namespace pteron::test
