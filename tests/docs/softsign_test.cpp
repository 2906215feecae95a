// SPDX-License-Identifier: BSD-3-Clause
// The one line of docs/adding-an-op.md makes an op.
#include "gpu/environment.h"
#include "support/builder.h"

#include <cmath>

namespace pteron::test {
namespace {

TEST(AddingAnOp, OneLineMakesAnElementwiseOp) {
  GraphBuilder b;
  const u32 x = b.input(b.tensor(DType::f32, {5})), y = b.tensor(DType::f32, {5});
  b.op("aten.softsign.default", {x, y});
  b.output(y);
  LoadOptions options;
  options.device = device();
  auto program = Program::load(b.program(), options);
  ASSERT_TRUE(program.has_value()) << program.error().to_string();
  auto method = program->method();
  ASSERT_TRUE(method.has_value()) << method.error().to_string();
  const std::vector<f32> numbers{-2, -0.5f, 0, 1, 3};
  auto outputs = method->execute({tensor_of<f32>(DType::f32, {5}, numbers)});
  ASSERT_TRUE(outputs.has_value()) << outputs.error().to_string();
  for (size_t i = 0; i < numbers.size(); ++i)
    EXPECT_NEAR((*outputs)[0].as<f32>()[i], numbers[i] / (1 + std::abs(numbers[i])), 1e-6);
}

}  // namespace
}  // namespace pteron::test
