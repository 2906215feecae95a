// SPDX-License-Identifier: BSD-3-Clause
#include "gpu/one_op.h"

namespace pteron::test {
namespace {

// cat of inputs of shape [2, sizes[i]] along axis 1; every element says which input it is from.
std::vector<u8> joined_bytes(const std::vector<u32>& sizes, u32* dispatches = nullptr) {
  GraphBuilder b;
  std::vector<u32> ids;
  std::vector<Tensor> inputs;
  u32 total = 0;
  for (u32 size : sizes) {
    ids.push_back(b.input(b.tensor(DType::i8, {2, size})));
    inputs.emplace_back(DType::i8, Shape{2, size});
    for (u32 i = 0; i < 2 * size; ++i) inputs.back().as<i8>()[i] = i8(10 * ids.size() + i);
    total += size;
  }
  const u32 y = b.tensor(DType::i8, {2, total});
  b.op("aten.cat.default", {b.list(ids), b.integer(1), y});
  b.output(y);
  auto program = load(b);
  auto method = program->method();
  if (!method) return ADD_FAILURE() << method.error().to_string(), std::vector<u8>();
  const std::vector<TensorView> views(inputs.begin(), inputs.end());
  auto outputs = method->execute(views);
  if (!outputs) return ADD_FAILURE() << outputs.error().to_string(), std::vector<u8>();
  if (dispatches) *dispatches = method->stats().dispatches;
  return values<u8>((*outputs)[0]);
}

std::vector<u8> expected_bytes(const std::vector<u32>& sizes) {
  std::vector<u8> out;
  for (u32 row = 0; row < 2; ++row)
    for (u32 i = 0; i < sizes.size(); ++i)
      for (u32 k = 0; k < sizes[i]; ++k) out.push_back(u8(10 * (i + 1) + row * sizes[i] + k));
  return out;
}

TEST(Cat, BytesOfManyInputs) {
  const std::vector<std::vector<u32>> lists = {{1, 2},
                                               {4, 8, 4},
                                               {3},
                                               {1, 1, 1, 1, 1, 1, 1},
                                               {3, 0, 2},
                                               {4, 4, 4, 4, 4, 4, 4, 4, 4, 4},
                                               {1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 3, 1}};
  for (const auto& sizes : lists) EXPECT_EQ(joined_bytes(sizes), expected_bytes(sizes)) << sizes.size();
}

TEST(Cat, SevenInputsAreOneDispatch) {
  u32 dispatches = 0;
  joined_bytes({1, 2, 3, 4, 5, 6, 7}, &dispatches);
  EXPECT_EQ(dispatches, 1u);
  joined_bytes({1, 2, 3, 4, 5, 6, 7, 8}, &dispatches);
  EXPECT_EQ(dispatches, 2u);
}

TEST(Cat, OutputMayBeAnInput) {
  GraphBuilder b;
  const u32 x = b.input(b.tensor(DType::f32, {2})), nothing = b.constant<f32>(DType::f32, {0}, {});
  const u32 y = b.constant<f32>(DType::f32, {2}, {5, 6});
  b.op("aten.cat.default", {b.list({nothing, y}), b.integer(0), y});
  b.op("aten.add.Tensor", {y, x, b.integer(1), y});
  b.output(y);
  const auto outputs = run(b, {tensor_of<f32>(DType::f32, {2}, {1, 2})});
  ASSERT_EQ(outputs.size(), 1u);
  EXPECT_EQ(values<f32>(outputs[0]), (std::vector<f32>{6, 8}));
}

TEST(Cat, RefusesInputsThatDontFit) {
  const auto complaint = [](const Shape& left, const Shape& right, DType type, i64 axis) {
    GraphBuilder b;
    const u32 x = b.input(b.tensor(DType::f32, left)), z = b.input(b.tensor(type, right)),
              y = b.tensor(DType::f32, {5, 3});
    b.op("aten.cat.default", {b.list({x, z}), b.integer(axis), y});
    b.output(y);
    return error_of(b);
  };
  EXPECT_MENTIONS(complaint({2, 3}, {3, 4}, DType::f32, 0), "input 1 [3, 4] differs from [2, 3] in axis 1");
  EXPECT_MENTIONS(complaint({2, 3}, {3}, DType::f32, 0), "input 1 [3] has another rank than [2, 3]");
  EXPECT_MENTIONS(complaint({2, 3}, {3, 3}, DType::i32, 0), "input 1 is int32, but the result is float32");
  EXPECT_MENTIONS(complaint({2, 3}, {3, 3}, DType::f32, 2), "axis 2 is out of range for rank 2");
}

}  // namespace
}  // namespace pteron::test
