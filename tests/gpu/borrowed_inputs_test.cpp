// SPDX-License-Identifier: BSD-3-Clause
// How long a method reads its inputs: from `begin` until `finish` is true, and not a byte after that.
#include "gpu/environment.h"
#include "support/builder.h"

namespace pteron::test {
namespace {

constexpr u32 width = 5;

// y = -x by one delegate, z = y · x by another, which reads x when the first has ended.
std::vector<std::byte> two_delegates() {
  GraphBuilder first, second;
  const u32 x = first.input(first.tensor(DType::f32, {width})), y = first.tensor(DType::f32, {width});
  first.op("aten.neg.default", {x, y});
  first.output(y);
  const u32 left = second.input(second.tensor(DType::f32, {width}));
  const u32 right = second.input(second.tensor(DType::f32, {width})), z = second.tensor(DType::f32, {width});
  second.op("aten.mul.Tensor", {left, right, z});
  second.output(z);
  format::ProgramDraft draft;
  format::MethodDraft& method = draft.methods.emplace_back(first.method("forward"));
  const u32 in = method.spec.inputs[0], between = method.spec.outputs[0], out = u32(method.spec.values.size());
  method.spec.values.push_back(method.spec.values[between]);
  method.spec.outputs.push_back(out);
  method.spec.delegates.push_back(method.spec.delegates[0]);
  method.spec.instructions = {format::DelegateCall{0, {in, between}}, format::DelegateCall{1, {between, in, out}}};
  method.blobs = {first.blob(), second.blob()};
  std::vector<std::byte> bytes;
  const auto collect = [&](Bytes part) -> Status {
    bytes.insert(bytes.end(), part.begin(), part.end());
    return {};
  };
  EXPECT_TRUE(format::write_program(draft, collect).has_value());
  return bytes;
}

// In memory of its own, so that a sanitizer sees who reads it when it is gone.
std::unique_ptr<f32[]> filled(f32 value) {
  auto out = std::make_unique<f32[]>(width);
  std::fill_n(out.get(), width, value);
  return out;
}

TensorView view(const std::unique_ptr<f32[]>& values) {
  return {DType::f32, Shape{width}, std::as_bytes(std::span(values.get(), width))};
}

TEST(BorrowedInputs, AreReadUntilTheLastDelegateHasBegun) {
  auto program = *Program::load(two_delegates(), {.device = device()});
  auto method = *program.method();
  for (const f32 value : {2.0f, 3.0f, 4.0f, 5.0f}) {
    auto x = filled(value);
    const TensorView inputs[] = {view(x)};
    ASSERT_TRUE(method.begin(inputs).has_value());
    for (;;) {
      const auto done = method.finish(/*wait=*/false);
      ASSERT_TRUE(done.has_value()) << done.error().to_string();
      if (*done) break;
    }
    std::fill_n(x.get(), width, -1.0f);
    x.reset();
    EXPECT_EQ(method.outputs()[0].as<f32>()[width - 1], -value);
    EXPECT_EQ(method.outputs()[1].as<f32>()[width - 1], -value * value);
  }
}

// The next step may be prepared from the last one's inputs, but by then the engine has what it needs of them.
TEST(BorrowedInputs, AreTheCallersAgainAfterFinish) {
  GraphBuilder b;
  const u32 x = b.input(b.tensor(DType::f32, {width})), y = b.tensor(DType::f32, {width});
  b.op("aten.neg.default", {x, y});
  b.output(y);
  auto program = *Program::load(b.program(), {.device = device()});
  auto method = *program.method();
  for (u32 step = 0; step < 6; ++step) {
    auto values = filled(f32(step));
    const TensorView inputs[] = {view(values)};
    ASSERT_TRUE(method.begin(inputs).has_value());
    ASSERT_TRUE(method.finish().has_value());
    std::fill_n(values.get(), width, 1e9f);
    values.reset();
    EXPECT_EQ(method.outputs()[0].as<f32>()[0], -f32(step));
  }
}

// A method that goes in the middle of a run lets go of them, too.
TEST(BorrowedInputs, AreLetGoOfByAMethodThatGoes) {
  auto program = *Program::load(two_delegates(), {.device = device()});
  auto x = filled(2);
  {
    auto method = *program.method();
    const TensorView inputs[] = {view(x)};
    ASSERT_TRUE(method.begin(inputs).has_value());
  }
  x.reset();
  auto again = *program.method();
  auto fresh = filled(3);
  const auto outputs = again.execute({view(fresh)});
  ASSERT_TRUE(outputs.has_value()) << outputs.error().to_string();
  EXPECT_EQ((*outputs)[1].as<f32>()[0], -9);
}

}  // namespace
}  // namespace pteron::test
