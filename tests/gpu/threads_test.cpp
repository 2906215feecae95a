// SPDX-License-Identifier: BSD-3-Clause
// Several threads on one device.
#include "gpu/environment.h"
#include "support/builder.h"

#include <thread>

namespace pteron::test {
namespace {

constexpr u32 width = 1000;

// y = x + x
Program doubling() {
  GraphBuilder b;
  const u32 x = b.input(b.tensor(DType::f32, {width})), y = b.tensor(DType::f32, {width});
  b.op("aten.add.Tensor", {x, x, b.integer(1), y});
  b.output(y);
  LoadOptions options;
  options.device = device();
  return *Program::load(b.program(), options);
}

Tensor filled(f32 value) { return tensor_of<f32>(DType::f32, {width}, std::vector<f32>(width, value)); }

TEST(Threads, MethodsOfOneDeviceRunAtTheSameTime) {
  constexpr u32 threads = 4, steps = 60;
  Program program = doubling();
  std::vector<std::string> problems(threads);
  std::vector<std::thread> running;
  for (u32 t = 0; t < threads; ++t)
    running.emplace_back([&, t] {
      auto method = program.method();
      for (u32 step = 0; step < steps && problems[t].empty(); ++step) {
        const f32 value = f32(t * 1000 + step);
        const auto outputs = method->execute({filled(value)});
        if (!outputs)
          problems[t] = outputs.error().to_string();
        else if ((*outputs)[0].as<f32>()[width - 1] != 2 * value)
          problems[t] = str("step ", step, " gave ", (*outputs)[0].as<f32>()[width - 1]);
      }
    });
  for (std::thread& thread : running) thread.join();
  for (const std::string& problem : problems) EXPECT_EQ(problem, "");
}

TEST(Threads, AMethodMayGoWhileItsStepIsUnderWay) {
  Program program = doubling();
  std::thread other([&] {
    auto method = program.method();
    for (u32 step = 0; step < 60; ++step) ASSERT_TRUE(method->execute({filled(1)}).has_value());
  });
  for (u32 i = 0; i < 30; ++i) {
    auto method = program.method();
    const Tensor x = filled(3);
    const TensorView inputs[] = {x};
    ASSERT_TRUE(method->begin(inputs).has_value());
  }
  other.join();
  auto method = program.method();
  const auto outputs = method->execute({filled(5)});
  ASSERT_TRUE(outputs.has_value()) << outputs.error().to_string();
  EXPECT_EQ((*outputs)[0].as<f32>()[0], 10);
}

// They may have shared a working memory before.
TEST(Threads, AClonedMethodRunsBesideTheOneThatItCameFrom) {
  Program program = doubling();
  auto first = program.method();
  auto second = first->clone();
  std::thread other([&] {
    for (u32 step = 0; step < 60; ++step) {
      const auto outputs = second->execute({filled(f32(step))});
      ASSERT_TRUE(outputs.has_value());
      ASSERT_EQ((*outputs)[0].as<f32>()[0], f32(2 * step));
    }
  });
  for (u32 step = 0; step < 60; ++step) {
    const auto outputs = first->execute({filled(f32(1000 + step))});
    ASSERT_TRUE(outputs.has_value());
    ASSERT_EQ((*outputs)[0].as<f32>()[width - 1], f32(2000 + 2 * step));
  }
  other.join();
}

// Nobody waits for kernels that were not begun.
TEST(Threads, ALoadThatIsCancelledCompilesNoFurther) {
  GraphBuilder b;
  const u32 x = b.input(b.tensor(DType::f32, {width}));
  for (const char* name : {"aten.relu.default", "aten.sigmoid.default", "aten.tanh.default", "aten.exp.default",
                           "aten.sin.default", "aten.cos.default", "aten.abs.default", "aten.neg.default"}) {
    const u32 y = b.tensor(DType::f32, {width});
    b.op(name, {x, y});
    b.output(y);
  }
  const Device fresh = *Device::open({});
  LoadOptions options{.device = fresh};
  options.progress = [](const Progress&) { return false; };
  auto program = *Program::load(b.program(), options);
  const auto method = program.method();
  ASSERT_FALSE(method.has_value());
  EXPECT_EQ(method.error().kind, ErrorKind::cancelled);
  EXPECT_EQ(fresh.usage().pipelines, 0u);
  EXPECT_LT(fresh.usage().creates, 8u);
}

}  // namespace
}  // namespace pteron::test
