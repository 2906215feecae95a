// SPDX-License-Identifier: BSD-3-Clause
#include "gpu/language_model.h"

#include <algorithm>
#include <cmath>
#include <random>

namespace pteron::test {
namespace {

std::vector<u32> some_text(size_t count, size_t seed = 0) {
  std::vector<u32> out(count);
  for (size_t i = 0; i < count; ++i) out[i] = u32((i * 37 + 11 + seed * 101) % 512);
  return out;
}

std::vector<f32> logits_of(Session& session) {
  while (session.answer() == Readback::none) {
    EXPECT_EQ(error_of(session.begin(Readback::logits)), "");
    EXPECT_EQ(error_of(session.finish()), "");
    if (::testing::Test::HasFailure()) return {};
  }
  const auto logits = session.logits();
  return {logits.begin(), logits.end()};
}

void expect_close(const std::vector<f32>& a, const std::vector<f32>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], b[i], 2e-4) << "logit " << i;
}

TEST(ModelInfo, IsReadFromTheProgram) {
  const LanguageModel model = tiny_model();
  EXPECT_EQ(model.info().vocab_size, 512u);
  EXPECT_EQ(model.info().context, 128u);
  EXPECT_EQ(model.info().max_run, 127u);
  EXPECT_TRUE(model.info().any_run && model.info().kv_cache && model.info().position);
  EXPECT_FALSE(model.info().every_token);
  EXPECT_TRUE(tiny_model("full_logits").info().every_token);
}

TEST(ModelInfo, ProgramsThatAreNoLanguageModelsAreRefusedWithTheReason) {
  const auto none = [](std::string_view) -> std::optional<std::vector<i64>> { return std::nullopt; };
  const ValueInfo tokens{true, DType::i64, Shape{1, 8}, true}, position{true, DType::i64, Shape{1}, false},
      logits{true, DType::f32, Shape{1, 100}, false};
  EXPECT_TRUE(ModelInfo::read({"forward", {tokens, position}, {logits}}, none).has_value());
  const auto refused = [&](const MethodInfo& method, const char* why) {
    const auto info = ModelInfo::read(method, none);
    ASSERT_FALSE(info.has_value());
    EXPECT_NE(info.error().message.find(why), std::string::npos) << info.error().message;
  };
  refused({"forward", {}, {logits}}, "0 inputs");
  refused({"forward", {{true, DType::f32, Shape{1, 8}, true}}, {logits}}, "int64");
  refused({"forward", {{true, DType::i64, Shape{2, 8}, true}, position}, {logits}}, "[2, 8]");
  refused({"forward", {{true, DType::i64, Shape{1, 8}, false}, position}, {logits}}, "always reads 8 tokens");
  refused({"forward", {tokens, {true, DType::i64, Shape{8}, true}}, {logits}}, "one starting position");
  refused({"forward", {tokens, position}, {}}, "no logits");
  refused({"forward", {tokens, position}, {{true, DType::f32, Shape{100}, false}}}, "[100]");
}

TEST(Session, PromptsBeyondARunAreReadInPieces) {
  const LanguageModel model = tiny_model();
  auto info = std::make_shared<ModelInfo>(model.info());
  info->max_run = 16;
  const LoadOptions options{.device = device()};
  auto program = *Program::load(data_folder() / "llama_tiny" / "rope_llama" / "model.pte", options);
  Session pieces(*program.method("forward", info->method_options()), info), whole = *model.session();
  for (size_t length : {16, 17, 33, 100}) {
    ASSERT_EQ(error_of(pieces.replace(some_text(length, length))), "");
    ASSERT_EQ(error_of(whole.replace(some_text(length, length))), "");
    expect_close(logits_of(pieces), logits_of(whole));
  }
  ASSERT_EQ(error_of(whole.replace(some_text(128))), "");  // one more than the program takes at once
  ASSERT_EQ(error_of(pieces.replace(some_text(128))), "");
  expect_close(logits_of(pieces), logits_of(whole));
}

TEST(Session, LogitsOfEveryTokenGiveTheSameAnswerAsThoseOfTheLast) {
  const LanguageModel model = tiny_model("full_logits");
  Session session = *model.session();
  ASSERT_EQ(error_of(session.append(some_text(20))), "");
  const auto logits = logits_of(session);
  EXPECT_LE(session.stats().read_back_bytes, 512 * 4 + 64u);  // one row
  ASSERT_EQ(error_of(session.begin(Readback::best)), "");
  ASSERT_EQ(error_of(session.finish()), "");
  EXPECT_EQ(session.best(), u32(std::ranges::max_element(logits) - logits.begin()));
}

TEST(Session, CandidatesComeWithWhatTheirProbabilitiesAreRelativeTo) {
  Session session = *tiny_model().session();
  ASSERT_EQ(error_of(session.append(some_text(20))), "");
  const auto logits = logits_of(session);
  f64 sum = 0;
  for (const f32 v : logits) sum += std::exp(f64(v));
  ASSERT_EQ(error_of(session.begin(Readback::scored)), "");
  ASSERT_EQ(error_of(session.finish()), "");
  EXPECT_NEAR(session.log_sum_exp(), std::log(sum), 1e-4);
  EXPECT_NEAR(session.candidates().logits[0], *std::ranges::max_element(logits), 1e-4);
  EXPECT_LE(session.stats().read_back_bytes, 2 * 64 * 4 + 64u);
}

TEST(Session, OnlyWhatDiffersIsReadAgain) {
  const LanguageModel model = tiny_model();
  Session session = *model.session();
  auto text = some_text(40);
  EXPECT_EQ(*session.replace(text), 0u);
  (void)logits_of(session);
  EXPECT_EQ(session.cached(), 40u);
  text[30] = 7;
  EXPECT_EQ(*session.replace(text), 30u);
  Session fresh = *model.session();
  ASSERT_EQ(error_of(fresh.append(text)), "");
  expect_close(logits_of(session), logits_of(fresh));
  text.resize(50, 3);
  EXPECT_EQ(*session.replace(text), 40u);
  EXPECT_EQ(*session.replace(std::vector<u32>{5, 6}), 0u);
}

TEST(Session, TheWholeTextAgainGivesTheSameLogits) {
  Session session = *tiny_model().session();
  ASSERT_EQ(error_of(session.append(some_text(9))), "");
  const auto first = logits_of(session);
  EXPECT_EQ(*session.replace(some_text(9)), 9u);
  EXPECT_EQ(session.answer(), Readback::none);
  expect_close(logits_of(session), first);
}

TEST(Session, ForksGoTheirOwnWays) {
  const LanguageModel model = tiny_model();
  Session one = *model.session();
  ASSERT_EQ(error_of(one.append(some_text(20))), "");
  (void)logits_of(one);
  Session other = *one.fork();
  EXPECT_EQ(other.cached(), 20u);
  ASSERT_EQ(error_of(one.append(some_text(5, 1))), "");
  ASSERT_EQ(error_of(other.append(some_text(9, 2))), "");
  for (Session* session : {&one, &other}) {
    Session fresh = *model.session();
    ASSERT_EQ(error_of(fresh.append(session->tokens())), "");
    expect_close(logits_of(*session), logits_of(fresh));
  }
}

TEST(Session, MistakesAreErrorsThatChangeNothing) {
  Session session = *tiny_model().session();
  EXPECT_NE(error_of(session.begin(Readback::best)).find("nothing to read"), std::string::npos);
  EXPECT_NE(error_of(session.finish()).find("not running"), std::string::npos);
  EXPECT_NE(error_of(session.append(std::vector<u32>{512})).find("vocabulary of 512"), std::string::npos);
  EXPECT_NE(error_of(session.append(some_text(129))).find("129 tokens"), std::string::npos);
  EXPECT_NE(error_of(session.rewind(1)).find("only 0"), std::string::npos);
  EXPECT_TRUE(session.tokens().empty());
  ASSERT_EQ(error_of(session.append(some_text(3))), "");
  ASSERT_EQ(error_of(session.begin(Readback::best)), "");
  EXPECT_NE(error_of(session.append(some_text(1))).find("call finish first"), std::string::npos);
  EXPECT_NE(error_of(session.rewind(0)).find("call finish first"), std::string::npos);
  EXPECT_FALSE(session.fork().has_value());
  ASSERT_EQ(error_of(session.finish()), "");
  EXPECT_EQ(session.cached(), 3u);
}

TEST(Session, ARunCanBeLeftUnfinished) {
  const LanguageModel model = tiny_model();
  Session session = *model.session();
  ASSERT_EQ(error_of(session.append(some_text(30))), "");
  ASSERT_EQ(error_of(session.begin(Readback::best)), "");
  session = *model.session();  // waits for the GPU
  ASSERT_EQ(error_of(session.append(some_text(3))), "");
  EXPECT_EQ(logits_of(session).size(), 512u);
}

// Random appends, rewinds, forks, replacements and answers that are cut off; each answer is that of a fresh session.
TEST(Session, ThirtyTurnsWithRewindsForksAndCancelsEqualFreshPrefills) {
  const LanguageModel model = tiny_model();
  Session session = *model.session();
  std::optional<Session> branch;
  std::mt19937 random(5);
  for (u32 turn = 0; turn < 30; ++turn) {
    std::vector<u32> text(session.tokens().begin(), session.tokens().end());
    if (turn % 4 == 3) text.resize(random() % (text.size() + 1));
    if (text.size() > 90) text.erase(text.begin() + 10, text.begin() + 70);
    const auto question = some_text(1 + random() % 12, turn);
    text.insert(text.end(), question.begin(), question.end());
    auto answer = Generation::start(model, session, text, {.max_tokens = 1 + random() % 10, .ignore_end = true});
    ASSERT_EQ(error_of(answer), "");
    const u64 cancel_after = turn % 5 == 4 ? 1 + random() % 3 : UINT64_MAX;
    while (!answer->done()) {
      ASSERT_EQ(error_of(answer->next()), "");
      if (answer->tokens().size() >= cancel_after) answer->cancel();
    }
    ASSERT_NO_FATAL_FAILURE(expect_same_answer(answer->tokens(), fresh_answer(model, text, answer->tokens().size())));
    if (turn % 7 == 2) branch.emplace(*session.fork());
    if (turn % 7 == 6) std::swap(session, *branch);
  }
}

}  // namespace
}  // namespace pteron::test
