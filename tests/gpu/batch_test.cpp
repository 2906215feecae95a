// SPDX-License-Identifier: BSD-3-Clause
// Conversations of one program that share a submit.
#include "gpu/llama.h"
#include "gpu/run_graph.h"
#include "support/allocations.h"

namespace pteron::test {
namespace {

std::vector<i64> text(i64 seed, size_t count) {
  std::vector<i64> out(count);
  for (size_t i = 0; i < count; ++i) out[i] = (seed * 131 + i64(i) * 17) % 256;
  return out;
}

std::vector<f32> first_output(const Method& method) {
  const auto values = method.outputs()[0].as<f32>();
  return {values.begin(), values.end()};
}

// One conversation of several, and what it reads next.
struct Talk {
  Method method;
  i64 token = 0, position = 0;
  std::array<TensorView, 2> inputs{};

  explicit Talk(Method m) : method(std::move(m)) {}
  Batch::Lane lane(const OutputSet& wanted = OutputSet::all()) {
    inputs = {TensorView{DType::i64, Shape{1, 1}, std::as_bytes(std::span(&token, 1))},
              TensorView{DType::i64, Shape{1}, std::as_bytes(std::span(&position, 1))}};
    return {.method = &method, .inputs = inputs, .wanted = wanted};
  }
  void read(const std::vector<i64>& tokens) {
    const auto outputs = Llama::step(method, tokens, position);
    ASSERT_TRUE(outputs.has_value()) << outputs.error().to_string();
    position += i64(tokens.size());
  }
};

class Talks {
 public:
  Talks(Llama& llama, u32 count) : batch_(*llama.program->batch()) {
    for (u32 i = 0; i < count; ++i) {
      auto& talk = talks_.emplace_back(std::make_unique<Talk>(*llama.program->method("forward")));
      talk->read(text(i, 3 + 5 * i));
    }
  }
  Talk& operator[](size_t i) { return *talks_[i]; }
  size_t size() const { return talks_.size(); }
  Batch& batch() { return batch_; }
  void drop(size_t i) { talks_.erase(talks_.begin() + std::ptrdiff_t(i)); }
  void rotate() { std::ranges::rotate(talks_, talks_.begin() + 1); }

  // A token for each.
  void step(i64 turn) {
    std::vector<Batch::Lane> lanes;
    for (size_t i = 0; i < size(); ++i) {
      talks_[i]->token = (7 * turn + i64(i)) % 256;
      lanes.push_back(talks_[i]->lane());
    }
    const Status begun = batch_.begin(lanes);
    ASSERT_TRUE(begun.has_value()) << begun.error().to_string();
    ASSERT_TRUE(batch_.finish().has_value());
    for (size_t i = 0; i < size(); ++i) {
      ASSERT_TRUE(lanes[i].status.has_value()) << lanes[i].status.error().to_string();
      ++talks_[i]->position;
    }
  }

 private:
  Batch batch_;
  std::vector<std::unique_ptr<Talk>> talks_;
};

void expect_alike(const std::vector<f32>& actual, const std::vector<f32>& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t i = 0; i < actual.size(); ++i) ASSERT_NEAR(actual[i], expected[i], 2e-4) << "element " << i;
}

class BatchOf : public testing::TestWithParam<const char*> {};

TEST_P(BatchOf, ConversationsGetWhatTheyGetAlone) {
  constexpr i64 turns = 5;
  for (u32 count : {1, 2, 3, 5, 8}) {
    Llama llama(GetParam());
    Talks talks(llama, count);
    for (i64 turn = 0; turn < turns; ++turn) talks.step(turn);
    for (u32 i = 0; i < count; ++i) {
      Llama alone(GetParam());
      (void)alone.logits(text(i, 3 + 5 * i), 0);
      std::vector<f32> expected;
      for (i64 turn = 0; turn < turns; ++turn) expected = alone.logits({(7 * turn + i) % 256}, 3 + 5 * i + turn);
      expect_alike(first_output(talks[i].method), expected);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Llamas, BatchOf, testing::Values("rope_llama", "hf_rope", "full_logits"),
                         [](const auto& info) { return std::string(info.param); });

// Rows that are worked on together, and each by itself.
TEST_P(BatchOf, EveryOpGivesTheSameBothWays) {
  LoadOptions apart;
  apart.disabled_passes = {"shared-rows"};
  Llama both[] = {Llama(GetParam()), Llama(GetParam(), apart)};
  Talks together(both[0], 4), each(both[1], 4);
  for (i64 turn = 0; turn < 3; ++turn) {
    together.step(turn);
    each.step(turn);
    for (size_t i = 0; i < 4; ++i) expect_alike(first_output(together[i].method), first_output(each[i].method));
  }
  EXPECT_LT(together.batch().stats().dispatches, each.batch().stats().dispatches);
  EXPECT_EQ(together.batch().stats().late_pipelines + each.batch().stats().late_pipelines, 0u);
}

TEST(Batch, ConversationsComeAndGo) {
  Llama llama;
  Talks talks(llama, 4);
  std::vector<std::vector<i64>> read(4);
  const auto expect_as_alone = [&](size_t i, size_t who) {
    Llama alone;
    (void)alone.logits(text(i64(who), 3 + 5 * who), 0);
    std::vector<f32> expected;
    for (size_t k = 0; k < read[who].size(); ++k) expected = alone.logits({read[who][k]}, i64(3 + 5 * who + k));
    expect_alike(first_output(talks[i].method), expected);
  };
  std::vector<size_t> there{0, 1, 2, 3};
  for (i64 turn = 0; turn < 9; ++turn) {
    talks.step(turn);
    for (size_t i = 0; i < there.size(); ++i) read[there[i]].push_back(talks[i].token);
    if (turn != 3 && turn != 6) continue;
    expect_as_alone(0, there[0]);
    const size_t leaves = turn == 3 ? 1 : 0;
    talks.drop(leaves);
    there.erase(there.begin() + std::ptrdiff_t(leaves));
  }
  ASSERT_EQ(there, (std::vector<size_t>{2, 3}));
  for (size_t i = 0; i < 2; ++i) expect_as_alone(i, there[i]);
}

TEST(Batch, OneLanesErrorFailsNoOther) {
  Llama llama;
  Talks talks(llama, 4);
  talks.step(0);
  const auto step = [&](i64 token, i64 position) {
    std::vector<Batch::Lane> lanes;
    for (size_t i = 0; i < 4; ++i) {
      talks[i].token = i64(i);
      lanes.push_back(talks[i].lane());
    }
    talks[2].token = token;
    const i64 at = std::exchange(talks[2].position, position);
    EXPECT_TRUE(talks.batch().begin(lanes).has_value());
    EXPECT_TRUE(talks.batch().finish().has_value());
    talks[2].position = at;
    for (size_t i = 0; i < 4; ++i)
      if (i != 2) EXPECT_TRUE(lanes[i].status.has_value()) << lanes[i].status.error().to_string();
    return lanes[2].status ? std::string() : lanes[2].status.error().to_string();
  };
  const i64 at = talks[2].position;
  EXPECT_NE(step(100'000, at).find("token 100000"), std::string::npos);
  const std::vector<f32> good = first_output(talks[1].method);
  EXPECT_NE(step(2, 100'000).find("100000"), std::string::npos);
  EXPECT_EQ(step(2, at), "");
  expect_alike(first_output(talks[1].method), good);
  Llama alone;
  (void)alone.logits(text(2, 13), 0);
  (void)alone.logits({2}, 13);
  expect_alike(first_output(talks[2].method), alone.logits({2}, 14));
}

TEST(Batch, AKernelsComplaintIsItsLanesAlone) {
  GraphBuilder b;
  const u32 index = b.input(b.tensor(DType::i32, {1, 1}), true, DType::i64), twice = b.tensor(DType::i32, {1, 1});
  b.op("aten.add.Tensor", {index, index, b.integer(1), twice});
  std::vector<f32> counting(40);
  for (size_t i = 0; i < counting.size(); ++i) counting[i] = f32(i);
  const u32 table = b.constant<f32>(DType::f32, {10, 4}, counting), y = b.tensor(DType::f32, {1, 1, 4});
  b.op("aten.embedding.default", {table, twice, b.integer(-1), b.boolean(false), b.boolean(false), y});
  b.output(y, true);
  LoadOptions options;
  options.device = device();
  auto program = *Program::load(b.program(), options);
  auto batch = *program.batch();
  std::vector<Method> methods;
  methods.reserve(3);
  for (u32 i = 0; i < 3; ++i) methods.push_back(*program.method());
  for (const i64 middle : {7, 1}) {  // 14 is too much; then all goes on
    const i64 indices[] = {2, middle, 4};
    std::vector<TensorView> inputs;
    std::vector<Batch::Lane> lanes;
    inputs.reserve(3);
    for (u32 i = 0; i < 3; ++i) inputs.push_back({DType::i64, Shape{1, 1}, std::as_bytes(std::span(&indices[i], 1))});
    lanes.reserve(3);
    for (u32 i = 0; i < 3; ++i) lanes.push_back({&methods[i], std::span(&inputs[i], 1)});
    ASSERT_TRUE(batch.begin(lanes).has_value());
    ASSERT_TRUE(batch.finish().has_value());
    EXPECT_TRUE(lanes[0].status && lanes[2].status);
    EXPECT_EQ(lanes[1].status.has_value(), middle == 1);
    if (middle == 7) EXPECT_NE(lanes[1].status.error().to_string().find("token 14"), std::string::npos);
    EXPECT_EQ(first_output(methods[2])[0], 32);
    EXPECT_EQ(first_output(methods[0])[0], 16);
  }
}

TEST(Batch, SteadyStepsAllocateAndCreateNothing) {
  Llama llama;
  Talks talks(llama, 4);
  std::vector<Batch::Lane> lanes;
  lanes.reserve(4);
  for (size_t i = 0; i < 4; ++i) lanes.push_back(talks[i].lane());
  const auto step = [&] {
    const bool well = talks.batch().begin(lanes).has_value() && talks.batch().finish().has_value();
    for (size_t i = 0; i < 4; ++i) ++talks[i].position;
    return well && lanes[0].status && lanes[3].status;
  };
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(step());
  const GpuUsage before = device().usage();
  const long allocated = allocation_count();
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(step());
  EXPECT_EQ(allocation_count() - allocated, 0);
  const GpuUsage after = device().usage();
  EXPECT_EQ(after.creates, before.creates);
  EXPECT_EQ(after.submits - before.submits, 20u);
  EXPECT_LE(after.writes - before.writes, 20u);
}

// Whoever joins or leaves makes others another lane.
TEST(Batch, WhatIsBoundForLanesThatAConversationOnceWasDoesNotPileUp) {
  constexpr i64 count = 6, turns = 3 * count;
  Llama llama;
  Talks talks(llama, count);
  u64 bound = 0;
  for (i64 turn = 0; turn < turns; ++turn, talks.rotate()) {
    talks.step(turn);
    if (turn == 3) bound = device().usage().bind_groups;
    if (turn > 3) EXPECT_EQ(device().usage().bind_groups, bound) << "turn " << turn;
  }
  Llama alone;
  (void)alone.logits(text(2, 13), 0);
  std::vector<f32> expected;
  for (i64 turn = 0; turn < turns; ++turn)
    expected = alone.logits({(7 * turn + (2 + turns - turn) % count) % 256}, 13 + turn);
  expect_alike(first_output(talks[2].method), expected);
}

TEST(Batch, MemoryIsThatOfItsRows) {
  Llama llama;
  Talks talks(llama, 2);
  talks.step(0);
  // The program allows runs of many tokens; a batch has one for each lane.
  EXPECT_LT(talks.batch().working_bytes(), llama.method->stats().working_bytes);
}

TEST(Batch, RefusesWhatCanNotRunTogether) {
  Llama llama, other;
  Talks talks(llama, 2), strangers(other, 1);
  std::vector<Batch::Lane> lanes{talks[0].lane(), strangers[0].lane()};
  ASSERT_TRUE(talks.batch().begin(lanes).has_value());
  EXPECT_FALSE(talks.batch().begin(lanes).has_value());
  EXPECT_FALSE(talks[0].method.finish().has_value());
  EXPECT_FALSE(talks[0].method.rewind(0).has_value());
  ASSERT_TRUE(talks.batch().finish().has_value());
  EXPECT_TRUE(lanes[0].status.has_value());
  ASSERT_FALSE(lanes[1].status.has_value());
  EXPECT_NE(lanes[1].status.error().message.find("one method"), std::string::npos);

  const std::vector<i64> two = {1, 2};
  const std::array<TensorView, 2> longer = {TensorView{DType::i64, Shape{1, 2}, std::as_bytes(std::span(two))},
                                            TensorView{DType::i64, Shape{1}, std::as_bytes(std::span(two).first(1))}};
  lanes = {talks[0].lane(), Batch::Lane{&talks[1].method, longer}};
  ASSERT_TRUE(talks.batch().begin(lanes).has_value());
  ASSERT_TRUE(talks.batch().finish().has_value());
  ASSERT_FALSE(lanes[1].status.has_value());
  EXPECT_NE(lanes[1].status.error().message.find("other shapes"), std::string::npos);
  EXPECT_FALSE(talks.batch().begin({}).has_value());
  std::vector<Batch::Lane> many(Batch::most_lanes + 1, talks[0].lane());
  EXPECT_FALSE(talks.batch().begin(many).has_value());
}

TEST(Batch, StepsOfSeveralTokensRunTogetherToo) {
  Llama llama;
  Talks talks(llama, 2);
  const std::vector<i64> texts[] = {{5, 6, 7}, {8, 9, 10}};
  std::vector<std::array<TensorView, 2>> inputs;
  inputs.reserve(2);
  for (size_t i = 0; i < 2; ++i)
    inputs.push_back({TensorView{DType::i64, Shape{1, 3}, std::as_bytes(std::span(texts[i]))},
                      TensorView{DType::i64, Shape{1}, std::as_bytes(std::span(&talks[i].position, 1))}});
  std::vector<Batch::Lane> lanes{{&talks[0].method, inputs[0]}, {&talks[1].method, inputs[1]}};
  const Status begun = talks.batch().begin(lanes);
  ASSERT_TRUE(begun.has_value()) << begun.error().to_string();
  ASSERT_TRUE(talks.batch().finish().has_value());
  for (size_t i = 0; i < 2; ++i) {
    Llama alone;
    (void)alone.logits(text(i64(i), 3 + 5 * i), 0);
    expect_alike(first_output(talks[i].method), alone.logits(texts[i], i64(3 + 5 * i)));
  }
}

}  // namespace
}  // namespace pteron::test
