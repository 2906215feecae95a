// SPDX-License-Identifier: BSD-3-Clause
// Outputs that are shortened on the GPU, and which outputs are computed at all.
#include "format/program_writer.h"
#include "gpu/llama.h"
#include "gpu/run_graph.h"

#include <cmath>
#include <numeric>

namespace pteron::test {
namespace {

constexpr u32 vocabulary = 512;

std::vector<i64> some_tokens(size_t count) {
  std::vector<i64> out(count);
  for (size_t i = 0; i < count; ++i) out[i] = i64(i * 37 + 11) % vocabulary;
  return out;
}

f64 log_sum_exp(std::span<const f32> row) {
  const f64 largest = *std::ranges::max_element(row);
  f64 sum = 0;
  for (const f32 v : row) sum += std::exp(f64(v) - largest);
  return largest + std::log(sum);
}

std::vector<i32> best_first(std::span<const f32> row) {
  std::vector<i32> order(row.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, [&](i32 a, i32 b) { return row[size_t(a)] > row[size_t(b)]; });
  return order;
}

TEST(Epilogues, OfEveryRowAgreeWithTheLogits) {
  constexpr u32 k = 5;
  Llama llama("full_logits", {},
              {.epilogues = {{.kind = Epilogue::arg_max, .rows = Epilogue::all},
                             {.kind = Epilogue::top_k, .k = k, .rows = Epilogue::all},
                             {.kind = Epilogue::log_sum_exp, .rows = Epilogue::all},
                             {.kind = Epilogue::log_sum_exp}}});
  for (const u32 length : {5u, 1u, 30u, 2u}) {
    const auto outputs = llama.step(some_tokens(length), 0);
    ASSERT_TRUE(outputs.has_value()) << outputs.error().to_string();
    ASSERT_EQ(outputs->size(), 6u);
    const auto logits = (*outputs)[0].as<f32>();
    ASSERT_EQ(logits.size(), size_t(length) * vocabulary);
    EXPECT_EQ((*outputs)[1].shape(), Shape{length});
    EXPECT_EQ((*outputs)[2].shape(), (Shape{length, k}));
    EXPECT_EQ((*outputs)[3].shape(), (Shape{length, k}));
    EXPECT_EQ((*outputs)[4].shape(), Shape{length});
    EXPECT_EQ((*outputs)[5].shape(), Shape{1});
    for (u32 row = 0; row < length; ++row) {
      const auto values = logits.subspan(size_t(row) * vocabulary, vocabulary);
      const auto order = best_first(values);
      EXPECT_EQ((*outputs)[1].as<i32>()[row], order[0]) << row;
      for (u32 i = 0; i < k; ++i) {
        EXPECT_EQ((*outputs)[2].as<f32>()[row * k + i], values[size_t(order[i])]);
        EXPECT_EQ((*outputs)[3].as<i32>()[row * k + i], order[i]);
      }
      EXPECT_NEAR((*outputs)[4].as<f32>()[row], log_sum_exp(values), 1e-4);
    }
    EXPECT_EQ((*outputs)[5].as<f32>()[0], (*outputs)[4].as<f32>()[length - 1]);
  }
}

TEST(Epilogues, SumsOfExponentialsKeepInfinities) {
  constexpr f32 inf = std::numeric_limits<f32>::infinity();
  GraphBuilder b;
  const u32 x = b.input(b.tensor(DType::f32, {4, 3})), y = b.tensor(DType::f32, {4, 3});
  b.op("aten.neg.default", {x, y});
  b.output(y);
  auto program = *Program::load(b.program(), {.device = device()});
  auto method = *program.method("forward", {.epilogues = {{.kind = Epilogue::log_sum_exp, .rows = Epilogue::all}}});
  const auto outputs = method.execute({floats({4, 3}, {-1, inf, -2, inf, inf, inf, -inf, 0, 1, -300, -300, 5})});
  ASSERT_TRUE(outputs.has_value()) << outputs.error().to_string();
  const auto sums = (*outputs)[1].as<f32>();
  EXPECT_NEAR(sums[0], 2.3132617, 1e-5);
  EXPECT_EQ(sums[1], -inf);
  EXPECT_EQ(sums[2], inf);
  EXPECT_NEAR(sums[3], 300.693147, 1e-3);
}

TEST(Epilogues, OneMethodWithAndOneWithoutShareTheirWeights) {
  const Device fresh = *Device::open({});
  Llama llama("rope_llama", {.device = fresh});
  const u64 before = fresh.usage().buffer_bytes;
  auto best = *llama.program->method("forward", {.epilogues = {{.kind = Epilogue::arg_max}}});
  EXPECT_EQ(fresh.usage().buffer_bytes - before, best.stats().gpu_bytes + best.stats().working_bytes);
  EXPECT_EQ(best.info().outputs.size(), 2u);
  EXPECT_EQ(llama.method->info().outputs.size(), 1u);
  const auto logits = llama.logits(some_tokens(4), 0);
  const auto outputs = Llama::step(best, some_tokens(4), 0);
  EXPECT_EQ((*outputs)[1].as<i32>()[0], best_first(logits)[0]);
}

// y = -x by one delegate, z = exp(y) by another.
std::vector<std::byte> two_delegates() {
  const auto graph = [](const char* name) {
    GraphBuilder b;
    const u32 x = b.input(b.tensor(DType::f32, {3})), y = b.tensor(DType::f32, {3});
    b.op(name, {x, y});
    b.output(y);
    return b;
  };
  const GraphBuilder first = graph("aten.neg.default"), second = graph("aten.exp.default");
  format::ProgramDraft draft;
  format::MethodDraft& method = draft.methods.emplace_back(first.method("forward"));
  const u32 x = method.spec.inputs[0], y = method.spec.outputs[0], z = u32(method.spec.values.size());
  method.spec.values.push_back(method.spec.values[y]);
  method.spec.outputs.push_back(z);
  method.spec.delegates.push_back(method.spec.delegates[0]);
  method.spec.instructions = {format::DelegateCall{0, {x, y}}, format::DelegateCall{1, {y, z}}};
  method.blobs = {first.blob(), second.blob()};
  std::vector<std::byte> out;
  const auto collect = [&](Bytes bytes) -> Status {
    out.insert(out.end(), bytes.begin(), bytes.end());
    return {};
  };
  EXPECT_TRUE(format::write_program(draft, collect).has_value());
  return out;
}

TEST(Epilogues, OfTwoDelegatesDoNotOverwriteEachOther) {
  auto program = *Program::load(two_delegates(), {.device = device()});
  auto method = program.method("forward", {.epilogues = {{.kind = Epilogue::log_sum_exp, .output = 1},
                                                         {.kind = Epilogue::top_k, .output = 0, .k = 2},
                                                         {.kind = Epilogue::arg_max, .output = 1}}});
  ASSERT_TRUE(method.has_value()) << method.error().to_string();
  const auto outputs = method->execute({floats({3}, {-1, 2, -3})});
  ASSERT_TRUE(outputs.has_value()) << outputs.error().to_string();
  ASSERT_EQ(outputs->size(), 6u);
  EXPECT_EQ((*outputs)[0].as<f32>()[2], 3);
  EXPECT_NEAR((*outputs)[1].as<f32>()[2], std::exp(3.0), 1e-4);
  EXPECT_NEAR((*outputs)[2].as<f32>()[0], log_sum_exp((*outputs)[1].as<f32>()), 1e-4);
  EXPECT_EQ((*outputs)[3].as<f32>()[0], 3);
  EXPECT_EQ((*outputs)[4].as<i32>()[1], 0);
  EXPECT_EQ((*outputs)[5].as<i32>()[0], 2);
}

// The second delegate reads its input when the first has ended: until then the method keeps what it needs.
TEST(Epilogues, OnlyOneOfTwoDelegatesMayBeAskedFor) {
  auto program = *Program::load(two_delegates(), {.device = device()});
  auto method = *program.method("forward", {.epilogues = {{.output = 1}}});
  const Tensor x = floats({3}, {-1, 2, -3});
  const TensorView inputs[] = {x};
  ASSERT_TRUE(method.begin(inputs, {2}).has_value());
  ASSERT_TRUE(method.finish().has_value());
  EXPECT_EQ(method.outputs()[2].as<i32>()[0], 2);
}

TEST(Epilogues, OfOutputsThatAreNotThereAreRefused) {
  Llama llama;
  const auto refused = [&](const Epilogue& epilogue, const char* why) {
    const auto method = llama.program->method("forward", {.epilogues = {epilogue}});
    ASSERT_FALSE(method.has_value());
    EXPECT_NE(method.error().message.find(why), std::string::npos) << method.error().message;
  };
  refused({.output = 1}, "output 1, but method forward has 1 outputs");
  refused({.kind = Epilogue::top_k, .k = 257}, "top-k of 257");
  refused({.kind = Epilogue::top_k, .k = 0}, "top-k of 0");
}

// Output i is x + i.
GraphBuilder many(u32 count) {
  GraphBuilder b;
  const u32 x = b.input(b.tensor(DType::f32, {2}));
  for (u32 i = 0; i < count; ++i) {
    const u32 y = b.tensor(DType::f32, {2});
    b.op("aten.add.Tensor", {x, b.constant<f32>(DType::f32, {2}, {f32(i), f32(i)}), b.integer(1), y});
    b.output(y);
  }
  return b;
}

TEST(Outputs, AnyNumberOfThemCanBeChosenFrom) {
  for (const u32 count : {70u, 200u}) {
    auto program = *Program::load(many(count).program(), {.device = device()});
    auto method = program.method();
    ASSERT_TRUE(method.has_value()) << method.error().to_string();
    const Tensor x = floats({2}, {1, 2});
    const TensorView inputs[] = {x};
    for (const u32 wanted : {0u, 5u, 61u, 62u, 63u, 64u, 69u, count - 1}) {
      ASSERT_TRUE(method->begin(inputs, {wanted}).has_value());
      ASSERT_TRUE(method->finish().has_value());
      EXPECT_EQ(method->outputs()[wanted].as<f32>()[1], f32(2 + wanted));
      EXPECT_EQ(method->stats().dispatches, 1u) << wanted;
      EXPECT_EQ(method->stats().read_back_bytes, 16u);
    }
    const auto all = method->execute(inputs);
    ASSERT_TRUE(all.has_value());
    for (u32 i = 0; i < count; ++i) EXPECT_EQ((*all)[i].as<f32>()[0], f32(1 + i));
    EXPECT_EQ(method->stats().dispatches, count);
  }
}

TEST(Outputs, EpiloguesComeBehindAnyNumberOfThem) {
  auto program = *Program::load(many(70).program(), {.device = device()});
  auto method =
      *program.method("forward", {.epilogues = {{.output = 3}, {.kind = Epilogue::log_sum_exp, .output = 69}}});
  const Tensor x = floats({2}, {1, 2});
  const TensorView inputs[] = {x};
  ASSERT_TRUE(method.begin(inputs, {70, 71}).has_value());
  ASSERT_TRUE(method.finish().has_value());
  EXPECT_EQ(method.outputs()[70].as<i32>()[0], 1);
  EXPECT_NEAR(method.outputs()[71].as<f32>()[0], 71.3132617, 1e-4);
  EXPECT_EQ(method.stats().dispatches, 4u);
}

}  // namespace
}  // namespace pteron::test
