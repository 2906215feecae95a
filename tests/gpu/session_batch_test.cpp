// SPDX-License-Identifier: BSD-3-Clause
// Answers of one model that grow in one submit.
#include "convert/convert.h"
#include "gpu/language_model.h"
#include "gpu/run_graph.h"
#include "support/gguf_file.h"

#include <pteron/generation.h>

namespace pteron::test {
namespace {

std::vector<u32> prompt(u32 seed, u32 size) {
  std::vector<u32> out;
  out.reserve(size);
  for (u32 i = 0; i < size; ++i) out.push_back((seed * 37 + i * 11) % 250);
  return out;
}

// Answers with a session each; the first token is there.
struct Answers {
  Answers(const LanguageModel& model, u32 count, const std::function<GenerationOptions(u32)>& options) {
    for (u32 i = 0; i < count; ++i) {
      sessions.push_back(std::make_unique<Session>(*model.session()));
      auto answer = Generation::start(model, *sessions.back(), prompt(i, 4 + 3 * i), options(i));
      EXPECT_TRUE(answer.has_value()) << answer.error().to_string();
      answers.push_back(*std::move(answer));
      EXPECT_TRUE(answers.back().next().has_value());
    }
  }
  void step(SessionBatch& batch) {
    std::vector<Generation::Turn> turns;
    for (Generation& answer : answers)
      if (!answer.done()) turns.push_back({&answer});
    Generation::step(batch, turns);
    for (const Generation::Turn& turn : turns) EXPECT_TRUE(turn.status.has_value()) << turn.status.error().to_string();
  }

  std::vector<std::unique_ptr<Session>> sessions;
  std::vector<Generation> answers;
};

TEST(SessionBatch, AnswersAreThoseOfOneAlone) {
  const LanguageModel model = tiny_model();
  auto batch = model.batch();
  ASSERT_TRUE(batch.has_value()) << batch.error().to_string();
  Answers together(model, 4, [](u32 i) { return GenerationOptions{.max_tokens = 8 + i, .ignore_end = true}; });
  while (!together.answers.back().done()) together.step(*batch);
  for (u32 i = 0; i < 4; ++i) {
    EXPECT_EQ(together.answers[i].tokens().size(), 8 + i);
    expect_same_answer(together.answers[i].tokens(), fresh_answer(model, prompt(i, 4 + 3 * i), 8 + i));
  }
}

TEST(SessionBatch, EachReadsBackWhatItNeeds) {
  const LanguageModel model = tiny_model();
  auto batch = *model.batch();
  // The best token, candidates, and all logits.
  const auto options = [](u32 i) {
    GenerationOptions out{.max_tokens = 8, .ignore_end = true};
    out.sampling.seed = 5;
    if (i == 1) out.sampling.temperature = 1, out.sampling.top_k = 8;
    if (i == 2) out.sampling.temperature = 1, out.sampling.top_k = 0;
    return out;
  };
  Answers together(model, 3, options), alone(model, 3, options);
  for (u32 step = 1; step < 8; ++step) together.step(batch);
  for (u32 i = 0; i < 3; ++i) {
    while (!alone.answers[i].done()) ASSERT_TRUE(alone.answers[i].next().has_value());
    EXPECT_TRUE(std::ranges::equal(together.answers[i].tokens(), alone.answers[i].tokens())) << i;
  }
  EXPECT_EQ(together.answers[2].stats().readback, Readback::logits);
}

TEST(SessionBatch, ARewoundSessionJoinsAgain) {
  const LanguageModel model = tiny_model();
  auto batch = *model.batch();
  auto a = *model.session(), b = *model.session();
  const auto read = [](Session& session, const std::vector<u32>& tokens) {
    EXPECT_EQ(error_of(session.replace(tokens)), "");
    EXPECT_EQ(error_of(session.begin(Readback::best)), "");
    EXPECT_EQ(error_of(session.finish()), "");
  };
  read(a, prompt(1, 9));
  read(b, prompt(2, 20));
  const u32 first = a.best();
  for (int again = 0; again < 3; ++again) {
    // The last token once more, after whatever came behind it.
    EXPECT_TRUE(a.rewind(9).has_value());
    EXPECT_TRUE(b.rewind(20).has_value());
    std::vector<SessionBatch::Run> runs{{&a, Readback::best}, {&b, Readback::best}};
    EXPECT_TRUE(a.reads_one() && b.reads_one());
    EXPECT_TRUE(batch.begin(runs).has_value());
    EXPECT_EQ(error_of(batch.finish()), "");
    EXPECT_EQ(a.best(), first);
    const u32 more[] = {a.best()};
    EXPECT_TRUE(a.append(more).has_value());
    EXPECT_EQ(error_of(a.begin(Readback::best)), "");
    EXPECT_EQ(error_of(a.finish()), "");
  }
}

// Caches of 1000 positions start with 256.
TEST(SessionBatch, CachesGrowEachForItself) {
  std::vector<std::byte> file;
  const auto collect = [&](Bytes bytes) -> Status {
    return file.insert(file.end(), bytes.begin(), bytes.end()), Status();
  };
  convert::Options options;
  options.max_context = 1000;
  options.max_seq_len = 400;
  GgufFile gguf = GgufFile::tiny_llama();
  gguf.set("llama.context_length", 1000u);
  u32 seed = 0;
  for (GgufFile::Item& item : gguf.items) {
    const auto values = noise(item.data.size() / sizeof(f32), ++seed);
    std::memcpy(item.data.data(), values.data(), item.data.size());
  }
  ASSERT_TRUE(convert::convert(format::from_memory(gguf.bytes()), options, collect).has_value());
  LoadOptions load;
  load.device = device();
  const auto model = *LanguageModel::create(*Program::load(std::move(file), load), {}, {});
  auto batch = *model.batch();
  const auto text = [&](u32 size) {
    std::vector<u32> out;
    out.reserve(size);
    for (u32 i = 0; i < size; ++i) out.push_back((i * i + 1) % 5);
    return out;
  };
  auto a = *model.session(), b = *model.session(), expected = *model.session();
  for (auto [session, size] : {std::pair(&a, 253u), std::pair(&b, 20u)}) {
    ASSERT_EQ(error_of(session->replace(text(size))), "");
    ASSERT_EQ(error_of(session->begin(Readback::logits)), "");
    ASSERT_EQ(error_of(session->finish()), "");
  }
  const u64 before = b.stats().gpu_bytes;
  for (u32 step = 1; step <= 8; ++step) {
    ASSERT_EQ(error_of(a.replace(text(253 + step))), "");
    ASSERT_EQ(error_of(b.replace(text(20 + step))), "");
    std::vector<SessionBatch::Run> runs{{&a, Readback::logits}, {&b, Readback::logits}};
    ASSERT_TRUE(batch.begin(runs).has_value());
    ASSERT_EQ(error_of(batch.finish()), "");
    ASSERT_TRUE(runs[0].status && runs[1].status);
  }
  EXPECT_EQ(b.stats().gpu_bytes, before);
  EXPECT_GT(a.stats().gpu_bytes, before);
  ASSERT_EQ(error_of(expected.replace(text(261))), "");
  ASSERT_EQ(error_of(expected.begin(Readback::logits)), "");
  ASSERT_EQ(error_of(expected.finish()), "");
  for (size_t i = 0; i < expected.logits().size(); ++i) ASSERT_NEAR(a.logits()[i], expected.logits()[i], 1e-4);
}

}  // namespace
}  // namespace pteron::test
