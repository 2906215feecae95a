// SPDX-License-Identifier: BSD-3-Clause
// Orders, running sums and scattering at sizes and in ways that no case has; the rest is in tests/data/ops.
#include "gpu/one_op.h"

#include <algorithm>
#include <numeric>

namespace pteron::test {
namespace {

u32 scrambled(u32 i) { return (i * 2654435761u) >> 7; }

TEST(Sort, RowsLongerThanOneThreadMayCount) {
  const u32 length = 70001;
  GraphBuilder b;
  const u32 x = b.input(b.tensor(DType::i32, {length})), y = b.tensor(DType::i32, {length}),
            places = b.tensor(DType::i32, {length});
  b.op("aten.sort.default", {x, b.integer(0), b.boolean(false), b.list({y, places})});
  b.output(y), b.output(places);
  Tensor in(DType::i32, {length});
  for (u32 i = 0; i < length; ++i) in.as<i32>()[i] = i32(scrambled(i) % 5000);
  const auto outputs = run(b, {in});
  ASSERT_EQ(outputs.size(), 2u);
  std::vector<i32> order(length);
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {}, [&](i32 i) { return in.as<i32>()[u32(i)]; });
  EXPECT_EQ(values<i32>(outputs[1]), order);
  EXPECT_TRUE(std::ranges::is_sorted(outputs[0].as<i32>()));
}

TEST(TopK, RejectsMoreThanThereAre) {
  GraphBuilder b;
  const u32 x = b.input(b.tensor(DType::f32, {2, 3})), y = b.tensor(DType::f32, {2, 4}),
            places = b.tensor(DType::i32, {2, 4});
  b.op("aten.topk.default", {x, b.integer(4), b.integer(-1), b.boolean(true), b.boolean(true), b.list({y, places})});
  b.output(y);
  EXPECT_MENTIONS(error_of(b), "the best 4 are asked for, but rows of [2, 3] have 3");
}

TEST(CumSum, RowsLongerThanOneThreadMayGo) {
  const u32 length = 150007;
  GraphBuilder b;
  const u32 x = b.input(b.tensor(DType::i32, {length})), y = b.tensor(DType::i32, {length});
  b.op("aten.cumsum.default", {x, b.integer(0), b.null(), y});
  b.output(y);
  Tensor in(DType::i32, {length});
  for (u32 i = 0; i < length; ++i) in.as<i32>()[i] = i32(scrambled(i) % 7) - 3;
  const auto outputs = run(b, {in});
  ASSERT_EQ(outputs.size(), 1u);
  std::vector<i32> sums(length);
  std::partial_sum(in.as<i32>().begin(), in.as<i32>().end(), sums.begin());
  EXPECT_EQ(values<i32>(outputs[0]), sums);
}

// More elements than one dimension of a dispatch has threads for.
TEST(Scatter, ManyElementsGoToManyPlaces) {
  const u32 count = 70000 * 64;
  GraphBuilder b;
  const u32 x = b.input(b.tensor(DType::u8, {count})), index = b.input(b.tensor(DType::i32, {count})),
            y = b.tensor(DType::u8, {count});
  b.op("aten.scatter.value", {x, b.integer(0), index, b.integer(9), y});
  b.output(y);
  Tensor backwards(DType::i32, {count});
  for (u32 i = 0; i < count; ++i) backwards.as<i32>()[i] = i32(count - 1 - i) / 2 * 2;
  const auto outputs = run(b, {Tensor(DType::u8, {count}), backwards});
  ASSERT_EQ(outputs.size(), 1u);
  for (u32 i = 0; i < count; i += 9973) EXPECT_EQ(outputs[0].as<u8>()[i], i % 2 == 0 ? 9 : 0) << i;
}

TEST(Scatter, TheLastElementStays) {
  GraphBuilder b;
  const u32 x = b.input(b.tensor(DType::f32, {3})), index = b.input(b.tensor(DType::i32, {4})),
            source = b.input(b.tensor(DType::f32, {4})), y = b.tensor(DType::f32, {3});
  b.op("aten.scatter.src", {x, b.integer(0), index, source, y});
  b.output(y);
  const auto outputs =
      run(b, {tensor_of<f32>(DType::f32, {3}, {7, 8, 9}), tensor_of<i32>(DType::i32, {4}, {2, 0, 2, 0}),
              tensor_of<f32>(DType::f32, {4}, {1, 2, 3, 4})});
  ASSERT_EQ(outputs.size(), 1u);
  EXPECT_EQ(values<f32>(outputs[0]), (std::vector<f32>{4, 8, 3}));
  EXPECT_MENTIONS(
      error_of(b, {tensor_of<f32>(DType::f32, {3}, {7, 8, 9}), tensor_of<i32>(DType::i32, {4}, {2, 0, 3, 0}),
                   tensor_of<f32>(DType::f32, {4}, {1, 2, 3, 4})}),
      "index 3");
}

TEST(Scatter, RejectsReductionsThatNobodyKnows) {
  GraphBuilder b;
  const u32 x = b.input(b.tensor(DType::f32, {3})), index = b.input(b.tensor(DType::i32, {3})),
            y = b.tensor(DType::f32, {3});
  b.op("aten.scatter_reduce.two", {x, b.integer(0), index, x, b.value(std::string("median")), b.boolean(true), y});
  b.output(y);
  EXPECT_MENTIONS(error_of(b), "the reduction 'median' is not known");
}

TEST(MaskedScatter, ReportsMoreMarksThanValues) {
  GraphBuilder b;
  const u32 x = b.input(b.tensor(DType::f32, {4})), mask = b.input(b.tensor(DType::boolean, {4})),
            source = b.input(b.tensor(DType::f32, {2})), y = b.tensor(DType::f32, {4});
  b.op("aten.masked_scatter.default", {x, mask, source, y});
  b.output(y);
  EXPECT_MENTIONS(
      error_of(b, {Tensor(DType::f32, {4}), tensor_of<u8>(DType::boolean, {4}, {1, 1, 0, 1}), Tensor(DType::f32, {2})}),
      "number of marked elements 3 is out of range");
}

TEST(IndexPut, SaysThatAMaskTakesOneValue) {
  GraphBuilder b;
  const u32 x = b.input(b.tensor(DType::f32, {4})), mask = b.input(b.tensor(DType::boolean, {4})),
            source = b.input(b.tensor(DType::f32, {2})), y = b.tensor(DType::f32, {4});
  b.op("aten.index_put.default", {x, b.list({mask}), source, b.boolean(false), y});
  b.output(y);
  EXPECT_MENTIONS(error_of(b), "one is supported");
}

TEST(SliceScatter, RejectsASourceOfAnotherShape) {
  GraphBuilder b;
  const u32 x = b.input(b.tensor(DType::f32, {4, 3})), source = b.input(b.tensor(DType::f32, {1, 3})),
            y = b.tensor(DType::f32, {4, 3});
  b.op("aten.slice_scatter.default", {x, source, b.integer(0), b.integer(1), b.integer(3), b.integer(1), y});
  b.output(y);
  EXPECT_MENTIONS(error_of(b), "the source is [1, 3], but the slice has shape [2, 3]");
}

}  // namespace
}  // namespace pteron::test
