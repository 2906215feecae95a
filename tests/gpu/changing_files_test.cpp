// SPDX-License-Identifier: BSD-3-Clause
// A program's file that changes while it goes to the GPU, or between two loads from it.
#include "gpu/environment.h"
#include "support/builder.h"
#include "support/temporary_file.h"

namespace pteron::test {
namespace {

constexpr u32 count = 1 << 20;  // 4 MiB, several chunks

std::vector<std::byte> program_with_weights() {
  GraphBuilder b;
  const u32 x = b.input(b.tensor(DType::f32, {count})), y = b.tensor(DType::f32, {count});
  const u32 c = b.constant<f32>(DType::f32, {count}, std::vector<f32>(count, 2.0f), "weight");
  b.op("aten.add.Tensor", {x, c, b.integer(1), y});
  b.output(y);
  return b.program();
}

void expect_change_reported(const Result<Method>& method) {
  ASSERT_FALSE(method.has_value());
  EXPECT_EQ(method.error().kind, ErrorKind::invalid);
  EXPECT_NE(method.error().to_string().find("changed while it was in use"), std::string::npos)
      << method.error().to_string();
}

// `change` is called when the first weights have gone.
void expect_change_while_loading_reported(const std::function<void(const TemporaryFile&)>& change) {
  const TemporaryFile file(program_with_weights());
  bool changed = false;
  LoadOptions options;
  options.device = device();
  options.progress = [&](const Progress& now) {
    if (!changed && now.done > 0) {
      changed = true;
      change(file);
    }
    return true;
  };
  auto program = Program::load(file.path(), options);
  ASSERT_TRUE(program.has_value());
  expect_change_reported(program->method());
  EXPECT_TRUE(changed);
  expect_change_reported(program->method());  // it stays so
}

TEST(ChangingFiles, ACutWhileWeightsAreLoadedIsAnError) {
  expect_change_while_loading_reported([](const TemporaryFile& file) { file.truncate(1 << 20); });
}

TEST(ChangingFiles, AWriteWhileWeightsAreLoadedIsAnError) {
  expect_change_while_loading_reported(
      [](const TemporaryFile& file) { file.overwrite(1 << 21, std::vector<std::byte>(4096)); });
}

TEST(ChangingFiles, ALoadedMethodOutlivesItsFile) {
  const TemporaryFile file(program_with_weights());
  LoadOptions options;
  options.device = device();
  auto program = Program::load(file.path(), options);
  auto method = program->method();
  ASSERT_TRUE(method.has_value());
  file.truncate(0);
  const std::vector<f32> x(count, 3.0f);
  const auto outputs = method->execute({{DType::f32, Shape{count}, std::as_bytes(std::span(x))}});
  ASSERT_TRUE(outputs.has_value()) << outputs.error().to_string();
  EXPECT_EQ((*outputs)[0].as<f32>()[count - 1], 5.0f);
  EXPECT_FALSE(program->named_data("weight").has_value());
}

}  // namespace
}  // namespace pteron::test
