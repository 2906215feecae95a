// SPDX-License-Identifier: BSD-3-Clause
// Lookups: bad indices are errors wherever they come from, large tables are split.
#include "gpu/native/native.h"
#include "gpu/one_op.h"
#include "runtime/device_inside.h"

#include <cmath>
#include <limits>

namespace pteron::test {
namespace {

// The index comes straight from an input or, if `hidden`, is computed on the GPU, so that only the kernel can see it.
u32 index_input(GraphBuilder& b, const Shape& shape, bool hidden) {
  const u32 index = b.input(b.tensor(DType::i32, shape), true, DType::i64);
  if (!hidden) return index;
  const u32 twice = b.tensor(DType::i32, shape);
  b.op("aten.add.Tensor", {index, index, b.integer(1), twice});
  return twice;
}

// y = table[index], with a table of `rows` rows that counts its elements.
GraphBuilder embedding(u32 rows, u32 width, DType dtype = DType::f32, bool hidden = false) {
  GraphBuilder b;
  const Tensor table = dtype == DType::f32 ? counting<f32>(dtype, {rows, width}) : counting<u8>(dtype, {rows, width});
  const u32 w = b.constant_bytes(dtype, {rows, width}, {table.bytes().begin(), table.bytes().end()}, "");
  const u32 index = index_input(b, {3}, hidden), y = b.tensor(dtype, {3, width});
  b.op("aten.embedding.default", {w, index, b.integer(-1), b.boolean(false), b.boolean(false), y});
  b.output(y, true);
  return b;
}

TEST(Embedding, RejectsATokenBeyondTheTable) {
  for (const u32 width : {8u, 5u}) {
    const Tensor bad = tensor_of<i64>(DType::i64, {3}, {1, 10, 2}), negative = tensor_of<i64>(DType::i64, {2}, {0, -1});
    EXPECT_MENTIONS(error_of(embedding(10, width), {bad}),
                    "token 10 (element 1 of input 0) is out of range; there are 10");
    EXPECT_MENTIONS(error_of(embedding(10, width), {negative}), "token -1 (element 1 of input 0) is out of range");
    EXPECT_MENTIONS(error_of(embedding(10, width, DType::f32, true), {bad}), "token 20 is out of range; there are 10");
    EXPECT_MENTIONS(error_of(embedding(10, width, DType::f32, true), {negative}),
                    "token -2 is out of range; there are 10");
  }
}

TEST(Embedding, RecoversFromABadToken) {
  auto program = load(embedding(10, 5, DType::f32, true));
  ASSERT_TRUE(program.has_value()) << program.error().to_string();
  auto method = program->method();
  ASSERT_TRUE(method.has_value()) << method.error().to_string();
  for (int round = 0; round < 2; ++round) {
    EXPECT_FALSE(method->execute({tensor_of<i64>(DType::i64, {1}, {5})}).has_value());
    auto outputs = method->execute({tensor_of<i64>(DType::i64, {1}, {4})});
    ASSERT_TRUE(outputs.has_value()) << outputs.error().to_string();
    EXPECT_EQ(values<f32>((*outputs)[0]), (std::vector<f32>{40, 41, 42, 43, 44}));
  }
}

TEST(Embedding, TableLargerThanOneBindingIsSplit) {
  gpu::OpenOptions small;
  small.max_storage_binding_bytes = 4096;
  auto raw = gpu::open_device(small);
  ASSERT_TRUE(raw.has_value());
  const Device tiny = make_device(std::make_shared<graph::Context>(*raw));
  const Tensor index = tensor_of<i64>(DType::i64, {3}, {999, 0, 300});
  for (const u32 width : {8u, 7u})
    for (const DType dtype : {DType::f32, DType::u8}) {
      const auto whole = run(embedding(1000, width, dtype), {index}),
                 split = run(embedding(1000, width, dtype), {index}, tiny);
      ASSERT_EQ(split.size(), 1u);
      EXPECT_EQ(values<u8>(split[0]), values<u8>(whole[0])) << width << " " << name_of(dtype);
      EXPECT_EQ(values<u8>(whole[0])[3 * width * size_of(dtype) / 4],
                values<u8>(whole[0])[3 * width * size_of(dtype) / 4]);
    }
}

// Goldens: torch.nn.functional.embedding_bag. What comes later must be larger.
TEST(EmbeddingBag, TheLargestIsNoNumberWhereTheFirstIsNone) {
  constexpr f32 nan = std::numeric_limits<f32>::quiet_NaN(), infinity = std::numeric_limits<f32>::infinity();
  GraphBuilder b;
  const u32 table = b.input(b.tensor(DType::f32, {3, 3})), indices = b.input(b.tensor(DType::i32, {4})),
            offsets = b.input(b.tensor(DType::i32, {2})), y = b.tensor(DType::f32, {2, 3});
  b.op("aten._embedding_bag.default", {table, indices, offsets, b.boolean(false), b.integer(2), b.boolean(false),
                                       b.null(), b.boolean(false), b.integer(-1), b.list({y})});
  b.output(y);
  const auto outputs = run(b, {tensor_of<f32>(DType::f32, {3, 3}, {1, nan, -infinity, nan, 2, -infinity, 3, 1, 0}),
                               tensor_of<i32>(DType::i32, {4}, {0, 1, 1, 2}), tensor_of<i32>(DType::i32, {2}, {0, 2})});
  ASSERT_EQ(outputs.size(), 1u);
  const auto values = outputs[0].as<f32>();
  EXPECT_TRUE(std::isnan(values[1]) && std::isnan(values[3]));
  EXPECT_EQ(values[0], 1);
  EXPECT_EQ(values[2], -infinity);
  EXPECT_EQ(values[4], 2);
  EXPECT_EQ(values[5], 0);
}

TEST(Index, CountsFromTheEndAndRejectsTheRest) {
  const auto graph = [](bool hidden) {
    GraphBuilder b;
    const u32 x = b.input(b.tensor(DType::i32, {2, 5})), index = index_input(b, {3}, hidden);
    const u32 y = b.tensor(DType::i32, {2, 3});
    b.op("aten.index.Tensor", {x, b.list({b.null(), index}), y});
    b.output(y, true);
    return b;
  };
  const Tensor x = counting<i32>(DType::i32, {2, 5});
  const auto outputs = run(graph(false), {x, tensor_of<i64>(DType::i64, {3}, {-5, 4, -1})});
  ASSERT_EQ(outputs.size(), 1u);
  EXPECT_EQ(values<i32>(outputs[0]), (std::vector<i32>{0, 4, 4, 5, 9, 9}));
  EXPECT_MENTIONS(error_of(graph(false), {x, tensor_of<i64>(DType::i64, {3}, {0, -6, 0})}), "index -6");
  EXPECT_MENTIONS(error_of(graph(true), {x, tensor_of<i64>(DType::i64, {3}, {0, -3, 0})}),
                  "index -6 is out of range; there are 5");
  EXPECT_MENTIONS(error_of(graph(true), {x, tensor_of<i64>(DType::i64, {3}, {0, 3, 0})}),
                  "index 6 is out of range; there are 5");
}

TEST(Index, TakesTheShapeOfItsIndices) {
  GraphBuilder b;
  const u32 x = b.input(b.tensor(DType::f32, {2, 3, 4})), index = b.input(b.tensor(DType::i32, {2, 2}));
  const u32 y = b.tensor(DType::f32, {2, 2, 2, 4});
  b.op("aten.index.Tensor", {x, b.list({b.null(), index}), y});
  b.output(y);
  const auto outputs =
      run(b, {counting<f32>(DType::f32, {2, 3, 4}), tensor_of<i32>(DType::i32, {2, 2}, {2, 0, -1, 1})});
  ASSERT_EQ(outputs.size(), 1u);
  const u32 rows[] = {2, 0, 2, 1};
  for (u32 i = 0; i < 32; ++i) {
    const u32 from = i / 16 * 12 + rows[i / 4 % 4] * 4 + i % 4;
    EXPECT_EQ(outputs[0].as<f32>()[i], f32(from)) << i;
  }
}

TEST(Index, OfSeveralAxesNamesTheOneThatIsWrong) {
  GraphBuilder b;
  const u32 x = b.input(b.tensor(DType::f32, {3, 4})), i = b.input(b.tensor(DType::i32, {2})),
            j = index_input(b, {2}, true), y = b.tensor(DType::f32, {2});
  b.op("aten.index.Tensor", {x, b.list({i, j}), y});
  b.output(y);
  const Tensor numbers = counting<f32>(DType::f32, {3, 4}), good = tensor_of<i32>(DType::i32, {2}, {0, -1});
  EXPECT_MENTIONS(
      error_of(b, {numbers, tensor_of<i32>(DType::i32, {2}, {0, 3}), tensor_of<i64>(DType::i64, {2}, {0, 1})}),
      "index of axis 0 3");
  EXPECT_MENTIONS(error_of(b, {numbers, good, tensor_of<i64>(DType::i64, {2}, {0, 2})}),
                  "index of axis 1 4 is out of range; there are 4");
  const auto outputs = run(b, {numbers, good, tensor_of<i64>(DType::i64, {2}, {1, 0})});
  ASSERT_EQ(outputs.size(), 1u);
  EXPECT_EQ(values<f32>(outputs[0]), (std::vector<f32>{2, 8}));
}

TEST(Index, SaysThatAMaskTellsTooLittle) {
  GraphBuilder b;
  const u32 x = b.input(b.tensor(DType::f32, {3})), mask = b.input(b.tensor(DType::boolean, {3})),
            y = b.tensor(DType::f32, {2});
  b.op("aten.index.Tensor", {x, b.list({mask}), y});
  b.output(y);
  EXPECT_MENTIONS(error_of(b), "axis 0 is indexed by a mask");
}

TEST(Index, LiveSizeDecidesWhatIsInRange) {
  GraphBuilder b;
  const u32 x = b.input(b.tensor(DType::f32, {9}), true), index = index_input(b, {1}, true),
            y = b.tensor(DType::f32, {1});
  b.op("aten.index_select.default", {x, b.integer(0), index, y});
  b.output(y, true);
  EXPECT_MENTIONS(error_of(b, {Tensor(DType::f32, {5}), tensor_of<i64>(DType::i64, {1}, {3})}),
                  "index 6 is out of range; there are 5");
  const auto outputs = run(b, {counting<f32>(DType::f32, {9}), tensor_of<i64>(DType::i64, {1}, {3})});
  ASSERT_EQ(outputs.size(), 1u);
  EXPECT_EQ(outputs[0].as<f32>()[0], 6);
}

TEST(IndexSelect, OfAScalarTakesOneIndex) {
  for (const u32 count : {0, 1, 2}) {
    GraphBuilder b;
    const u32 x = b.input(b.tensor(DType::f32, {})), index = b.input(b.tensor(DType::i32, {count}));
    b.op("aten.index_select.default", {x, b.integer(0), index, b.output(b.tensor(DType::f32, {}))});
    const std::string error = error_of(b, {tensor_of<f32>(DType::f32, {}, {7}), Tensor(DType::i32, {count})});
    EXPECT_MENTIONS(error,
                    count == 1 ? "nothing" : std::to_string(count).append(" indices are given for [], one is needed"));
  }
}

TEST(Gather, RefusesIndicesThatExceedTheInput) {
  GraphBuilder b;
  const u32 x = b.input(b.tensor(DType::f32, {3, 3})), index = b.input(b.tensor(DType::i32, {4, 3})),
            y = b.tensor(DType::f32, {4, 3});
  b.op("aten.gather.default", {x, b.integer(1), index, b.boolean(false), y});
  b.output(y);
  EXPECT_MENTIONS(error_of(b), "indices [4, 3] exceed [3, 3] in axis 0");
}

TEST(Gather, RefusesIndicesThatAreNotIntegers) {
  GraphBuilder b;
  const u32 x = b.input(b.tensor(DType::f32, {3})), index = b.input(b.tensor(DType::f32, {3})),
            y = b.tensor(DType::f32, {3});
  b.op("aten.gather.default", {x, b.integer(0), index, b.boolean(false), y});
  b.output(y);
  EXPECT_MENTIONS(error_of(b), "indices must be int32 or int64, not float32");
}

TEST(Gather, OfScalars) {
  GraphBuilder b;
  const u32 x = b.input(b.tensor(DType::f32, {})), index = b.input(b.tensor(DType::i32, {})),
            y = b.tensor(DType::f32, {});
  const u32 z = b.tensor(DType::f32, {});
  b.op("aten.gather.default", {x, b.integer(0), index, b.boolean(false), y});
  b.op("aten.index_select.default", {y, b.integer(-1), index, z});
  b.output(z);
  const auto outputs = run(b, {tensor_of<f32>(DType::f32, {}, {7}), tensor_of<i32>(DType::i32, {}, {0})});
  ASSERT_EQ(outputs.size(), 1u);
  EXPECT_EQ(outputs[0].as<f32>()[0], 7);
}

TEST(Gather, Bytes) {
  GraphBuilder b;
  const Shape shape{3, 7};
  const u32 x = b.input(b.tensor(DType::i8, shape)), index = b.input(b.tensor(DType::i32, shape)),
            y = b.tensor(DType::i8, shape);
  b.op("aten.gather.default", {x, b.integer(1), index, b.boolean(false), y});
  b.output(y);
  Tensor in(DType::i8, shape), backwards(DType::i32, shape);
  for (u32 i = 0; i < 21; ++i) in.as<i8>()[i] = i8(100 - 10 * i), backwards.as<i32>()[i] = 6 - i % 7;
  const auto outputs = run(b, {in, backwards});
  ASSERT_EQ(outputs.size(), 1u);
  for (u32 i = 0; i < 21; ++i) EXPECT_EQ(outputs[0].as<i8>()[i], in.as<i8>()[i / 7 * 7 + 6 - i % 7]) << i;
}

}  // namespace
}  // namespace pteron::test
