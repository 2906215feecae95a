// SPDX-License-Identifier: BSD-3-Clause
#include "gpu/one_op.h"
#include "gpu/run_graph.h"

#include <limits>

namespace pteron::test {
namespace {

TEST(Quantize, WhatIsNoNumberBecomesZeroAndInfinitiesTheLimits) {
  constexpr f32 infinity = std::numeric_limits<f32>::infinity(), nan = std::numeric_limits<f32>::quiet_NaN();
  const Tensor x = tensor_of<f32>(DType::f32, {5}, {nan, 1, -1, infinity, -infinity});
  for (const char* kind : {"per_tensor", "per_channel", "per_token"}) {
    const bool is_tensor = kind == std::string("per_tensor"), is_token = kind == std::string("per_token");
    GraphBuilder b;
    const u32 input = b.input(b.tensor(DType::f32, {5}));
    const Shape list{is_token ? 1u : 5u};
    std::vector<u32> args{input};
    args.push_back(is_tensor ? b.number(0.125)
                             : b.constant<f32>(DType::f32, list, std::vector<f32>(list.numel(), 0.125)));
    args.push_back(is_tensor ? b.integer(3) : b.constant<i32>(DType::i32, list, std::vector<i32>(list.numel(), 3)));
    if (!is_tensor && !is_token) args.push_back(b.integer(0));
    args.insert(args.end(), {b.integer(-128), b.integer(127), b.null(), b.output(b.tensor(DType::i8, {5}))});
    b.op(std::string("quantized_decomposed.quantize_").append(kind).append(".default"), args);
    const auto outputs = run(b, {x});
    ASSERT_EQ(outputs.size(), 1u);
    EXPECT_EQ(values<i8>(outputs[0]), (std::vector<i8>{0, 11, -5, 127, -128})) << kind;
  }
}

TEST(Quantize, RefusesRangesThatTheIntegersDoNotHave) {
  const auto error = [](DType dtype, i64 low, i64 high) {
    GraphBuilder b;
    const u32 x = b.input(b.tensor(DType::f32, {5})), y = b.tensor(dtype, {5});
    b.op("quantized_decomposed.quantize_per_tensor.default",
         {x, b.number(0.1), b.integer(3), b.integer(low), b.integer(high), b.null(), b.output(y)});
    return load_error(b);
  };
  EXPECT_EQ(error(DType::i8, -128, 127), "");
  EXPECT_EQ(error(DType::i32, INT32_MIN, INT32_MAX), "");
  EXPECT_NE(error(DType::i8, -128, 128).find("from -128 to 128, which int8 does not hold"), std::string::npos);
  EXPECT_NE(error(DType::u8, -1, 255), "");
  EXPECT_NE(error(DType::i32, 0, i64(1) << 40), "");
}

}  // namespace
}  // namespace pteron::test
