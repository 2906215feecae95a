// SPDX-License-Identifier: BSD-3-Clause
// Graphs that were found to be wrong once, at their simplest.
#include "differential/agreement.h"
#include "gpu/environment.h"

#include <gtest/gtest.h>

namespace pteron::differential {
namespace {

using test::GraphBuilder;
using test::tensor_of;

TEST(Regressions, AGateOfBytesIsRefusedWithPassesToo) {
  constexpr u32 depth = 64, group = 16;
  GraphBuilder b;
  const u32 x = b.input(b.tensor(DType::f32, {1, depth})), scales_of_groups = depth / group;
  const auto linear = [&](u8 weight) {
    const u32 w = b.constant<u8>(DType::u8, {1, depth / 2}, std::vector<u8>(depth / 2, weight));
    const u32 s = b.constant<f32>(DType::f32, {scales_of_groups, 1}, {0.25, 0.125, 0.0625, 0.125});
    const u32 y = b.tensor(DType::f32, {1, 1});
    b.op("et_vk.linear_q4gsw.default", {x, w, s, b.integer(group), b.null(), y});
    return y;
  };
  const u32 gate = linear(0x9a), up = linear(0x6b), rounded = b.tensor(DType::u8, {1, 1});
  const u32 product = b.tensor(DType::f32, {1, 1}), y = b.tensor(DType::f32, {1, 1});
  b.op("aten.sigmoid.default", {gate, rounded});
  b.op("aten.mul.Tensor", {gate, rounded, product});
  b.op("aten.mul.Tensor", {up, product, y});
  b.output(y);
  const Sample sample{b, {{{tensor_of<f32>(DType::f32, {1, depth}, std::vector<f32>(depth, 0.125f))}}}, true};
  for (const LoadOptions& options : {LoadOptions(), test::without_passes()})
    EXPECT_NE(run_engine(b.program(), sample, options).error.find("must be floating-point"), std::string::npos);
}

}  // namespace
}  // namespace pteron::differential
