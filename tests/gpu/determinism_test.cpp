// SPDX-License-Identifier: BSD-3-Clause
// One device gives the same bits for the same inputs, whatever ran before, beside it, or in which order the graph was
// rewritten.
#include "format/data_source.h"
#include "gpu/llama.h"
#include "gpu/run_graph.h"
#include "ops/passes/passes.h"
#include "runtime/open_files.h"

#include <algorithm>

namespace pteron::test {
namespace {

using Bits = std::vector<std::vector<std::byte>>;  // of all outputs

// A program of the repository, with the inputs of its first golden.
struct Subject {
  explicit Subject(const std::string& folder) : fixture(read_fixture(data_folder() / folder)) {
    LoadOptions options{.device = device(), .data_files = fixture.data_files};
    auto program = Program::load(fixture.model(), options);
    EXPECT_TRUE(program.has_value()) << program.error().to_string();
    method.emplace(*program->method());
  }
  Bits run() {
    EXPECT_TRUE(method->reset().has_value());
    const std::vector<Tensor>& inputs = fixture.sets[0].inputs;
    const auto outputs = method->execute(std::vector<TensorView>(inputs.begin(), inputs.end()));
    if (!outputs) return ADD_FAILURE() << outputs.error().to_string(), Bits();
    Bits out;
    for (const Tensor& output : *outputs) out.emplace_back(output.bytes().begin(), output.bytes().end());
    return out;
  }

  Fixture fixture;
  std::optional<Method> method;
};

class DeterminismOf : public testing::TestWithParam<const char*> {};

INSTANTIATE_TEST_SUITE_P(Programs, DeterminismOf,
                         testing::Values("zoo/vision/resnet", "zoo/text/bert", "zoo/recurrent/lstm"),
                         [](const auto& info) {
                           const std::string_view name = info.param;
                           return std::string(name.substr(name.rfind('/') + 1));
                         });

TEST_P(DeterminismOf, ReplaysAreBitEqual) {
  Subject subject(GetParam());
  const Bits first = subject.run();
  for (u32 replay = 1; replay < 20; ++replay) ASSERT_EQ(subject.run(), first) << "replay " << replay;
}

TEST_P(DeterminismOf, OtherProgramsMakeNoDifference) {
  const Bits alone = Subject(GetParam()).run();
  Llama before;
  (void)before.logits({9, 8, 7}, 0);
  Subject subject(GetParam());
  EXPECT_EQ(subject.run(), alone);
  Llama beside;
  (void)beside.logits({1, 2, 3, 4, 5}, 0);
  EXPECT_EQ(subject.run(), alone);
}

// The runner and its memory are those of the text before.
TEST(Determinism, WhatAMethodReadBeforeMakesNoDifference) {
  const std::vector<i64> text{3, 1, 4, 1, 5};
  const std::vector<f32> fresh = Llama().logits(text, 0);
  Llama llama;
  for (const i64 length : {1, 30, 7}) {
    (void)llama.logits(std::vector<i64>(size_t(length), length), 0);
    for (i64 i = 0; i < 4; ++i) (void)llama.logits({i}, length + i);
    ASSERT_TRUE(llama.method->reset().has_value());
    EXPECT_EQ(llama.logits(text, 0), fresh);
    auto other = *llama.program->method("forward");
    const auto outputs = Llama::step(other, text, 0);
    ASSERT_TRUE(outputs.has_value());
    EXPECT_TRUE(std::ranges::equal((*outputs)[0].as<f32>(), fresh));
  }
}

using Group = std::vector<const graph::Pass*>;

// What a delegate's graph becomes.
std::string rewritten(const std::string& path, const std::vector<Group>& groups) {
  const OpenFiles open = *open_files(*format::open_file(path), {});
  const format::DataRange blob = open.files.spec.methods[0].delegates[0].blob;
  std::vector<std::byte> bytes(blob.size);
  EXPECT_TRUE(open.sources[0]->read(blob.offset, bytes).has_value());
  const auto parsed = format::read_delegate_graph(bytes, *format::read_delegate_header(bytes));
  auto graph = graph::build_graph(*parsed, {0, blob}, [&](std::string_view key) { return open.files.find(key); });
  EXPECT_TRUE(graph.has_value()) << graph.error().to_string();
  graph::Rewriter rewriter(*graph);
  for (const Group& group : groups)
    for (const graph::Pass* pass : group) {
      pass->run(rewriter, context_of(device())->info());
      rewriter.commit();
    }
  std::string out;
  for (const graph::Op& op : graph->ops) {
    out += op.name;
    for (const graph::ValueId id : op.args)
      if (const graph::Tensor* tensor = graph->tensor(id)) out += str(" ", tensor->dtype, tensor->max);
    out += '\n';
  }
  return out;
}

// Some want others before them, as src/ops/passes/passes.cpp says; these groups don't.
TEST(Determinism, TheOrderOfIndependentPassesMakesNoDifference) {
  const std::string path = data_folder() / "llama_tiny" / "hf_rope" / "model.pte";
  const Group last{&ops::elementwise_pass, &ops::dead_code_pass};
  std::vector<Group> groups{{&ops::offsets_pass, &ops::embedding_pass, &ops::swiglu_pass, &ops::residual_pass,
                             &ops::siblings_pass, &ops::norm_pass},
                            {&ops::rotary_cache_pass},
                            {&ops::attention_heads_pass}};
  std::ranges::sort(groups);
  std::vector<std::string> results;
  do {
    std::vector<Group> order = groups;
    order.push_back(last);
    results.push_back(rewritten(path, order));
  } while (std::ranges::next_permutation(groups).found);
  ASSERT_EQ(results.size(), 6u);
  for (const std::string& result : results) EXPECT_EQ(result, results[0]);
}

}  // namespace
}  // namespace pteron::test
