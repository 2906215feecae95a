// SPDX-License-Identifier: BSD-3-Clause
#include "server/engine/scheduler.h"

#include "gpu/native/native.h"
#include "runtime/device_inside.h"
#include "support/fixture.h"
#include "support/repetitive_llama.h"

#include <gtest/gtest.h>

#include <future>

namespace pteron::server {
namespace {

using test::data_folder;

// Collects what becomes of a job.
class Watcher : public JobListener {
 public:
  std::function<void()> at_piece = [] {};
  std::vector<u32> tokens;
  JobStats stats;
  std::atomic<bool> gone = false;

  bool wanted() const override { return !gone; }
  void on_piece(const GeneratedPiece& piece) override {
    if (piece.token) tokens.push_back(*piece.token);
    at_piece();
  }
  void on_done(StopReason, const JobStats& given) override {
    stats = given;
    end_.set_value(std::nullopt);
  }
  void on_failed(const Error& error) override { end_.set_value(error); }
  // The error, or nothing if the answer is complete.
  std::optional<Error> wait() {
    auto future = end_.get_future();
    if (future.wait_for(std::chrono::seconds(120)) != std::future_status::ready)
      return Error{ErrorKind::internal, "nothing happened", {}};
    return future.get();
  }

 private:
  std::promise<std::optional<Error>> end_;
};

class SchedulerTest : public testing::Test {
 protected:
  SchedulerTest() { EXPECT_TRUE(models.add(data_folder() / "llama_tiny" / "rope_llama" / "model.pte").has_value()); }

  Result<LanguageModel> load(const std::string& path) {
    auto opened = Device::open({});
    if (!opened) return std::unexpected(opened.error());
    device = *opened;
    LanguageModelOptions options;
    options.load.device = *opened;
    options.tokenizer = data_folder() / "tiny_tokenizer" / "tokenizer.json";
    return LanguageModel::load(path, options);
  }
  Job job(const std::shared_ptr<Watcher>& watcher, std::vector<u32> prompt, u64 length = 12) {
    Job out{.model = models.find(""), .prompt = std::move(prompt), .listener = watcher};
    out.options.max_tokens = length;
    out.options.ignore_end = true;
    return out;
  }
  static std::vector<u32> count_up(u32 first, u32 size) {
    std::vector<u32> out;
    out.reserve(size);
    for (u32 i = 0; i < size; ++i) out.push_back(first + i);
    return out;
  }

  std::optional<Device> device;
  ModelTable models{[this](const std::string& path) { return load(path); }};
  Metrics metrics;
};

TEST_F(SchedulerTest, AnAnswerThatIsAloneDraftsAndIsTheSame) {
  ModelTable all{[](const std::string&) -> Result<LanguageModel> {
    auto program = Program::load(test::repetitive_llama());
    if (!program) return std::unexpected(program.error());
    return LanguageModel::create(*std::move(program), std::nullopt, std::nullopt);
  }};
  ASSERT_TRUE(all.add("repetitive.pte").has_value());
  std::vector<std::vector<u32>> answers;
  for (const bool speculate : {false, true}) {
    std::optional<Scheduler> scheduler;
    scheduler.emplace(all, metrics, SchedulerOptions{.speculate = speculate});
    const auto watcher = std::make_shared<Watcher>();
    Job asked = job(watcher, {0, 1, 2, 3, 4, 0, 1, 2}, 60);
    asked.model = all.find("");
    std::vector<Job> jobs;
    jobs.push_back(std::move(asked));
    ASSERT_TRUE(scheduler->submit(std::move(jobs)));
    ASSERT_FALSE(watcher->wait());
    scheduler.reset();  // now all is counted
    EXPECT_EQ(watcher->stats.answer_tokens, 60u);
    answers.push_back(watcher->tokens);
    EXPECT_EQ(metrics.drafted_tokens > 0, speculate);
  }
  EXPECT_EQ(answers[0], answers[1]);
  EXPECT_GT(metrics.held_tokens, 0u);
}

TEST_F(SchedulerTest, ALostDeviceFailsWhatRunsAndTheNextJobWorks) {
  Scheduler scheduler(models, metrics, {});
  const auto calm = std::make_shared<Watcher>(), doomed = std::make_shared<Watcher>(),
             next = std::make_shared<Watcher>();
  ASSERT_TRUE(scheduler.submit({job(calm, count_up(5, 20))}));
  ASSERT_FALSE(calm->wait());
  doomed->at_piece = [&] {
    if (doomed->tokens.size() == 3) gpu::destroy_underlying_device(context_of(*device)->device());
  };
  ASSERT_TRUE(scheduler.submit({job(doomed, count_up(9, 20), 100)}));
  const auto error = doomed->wait();
  ASSERT_TRUE(error);
  EXPECT_EQ(error->kind, ErrorKind::device_lost) << error->to_string();
  ASSERT_TRUE(scheduler.submit({job(next, count_up(5, 20))}));
  EXPECT_FALSE(next->wait());
  EXPECT_EQ(next->tokens, calm->tokens);
  EXPECT_EQ(metrics.devices_lost, 1);
}

TEST_F(SchedulerTest, JobsWithTheSamePromptReadItOnce) {
  Scheduler scheduler(models, metrics, {.chunk = 16});
  std::vector<std::shared_ptr<Watcher>> watchers;
  std::vector<Job> jobs;
  jobs.reserve(3);
  for (int i = 0; i < 3; ++i) jobs.push_back(job(watchers.emplace_back(std::make_shared<Watcher>()), count_up(3, 90)));
  ASSERT_TRUE(scheduler.submit(std::move(jobs)));
  for (const auto& watcher : watchers) {
    ASSERT_FALSE(watcher->wait());
    EXPECT_EQ(watcher->tokens, watchers[0]->tokens);
  }
  EXPECT_EQ(watchers[0]->stats.cached_tokens, 0);
  EXPECT_EQ(watchers[1]->stats.cached_tokens, 89);
  EXPECT_EQ(watchers[2]->stats.cached_tokens, 89);
}

TEST_F(SchedulerTest, ALongPromptHoldsUpAnswersByAChunkOnly) {
  Scheduler scheduler(models, metrics, {.chunk = 8});
  const auto talker = std::make_shared<Watcher>(), reader = std::make_shared<Watcher>();
  std::atomic<size_t> said_before_reading_ended = 0;
  reader->at_piece = [&] {
    if (reader->tokens.size() == 1) said_before_reading_ended = talker->tokens.size();
  };
  std::vector<Job> jobs;
  jobs.push_back(job(talker, {7, 8, 9}, 40));
  jobs.push_back(job(reader, count_up(100, 100), 2));
  ASSERT_TRUE(scheduler.submit(std::move(jobs)));
  EXPECT_FALSE(talker->wait());
  EXPECT_FALSE(reader->wait());
  EXPECT_GE(said_before_reading_ended, 10);  // one token for each of 13 chunks, nearly
}

TEST_F(SchedulerTest, AJobThatNobodyWantsEndsWithinAToken) {
  Scheduler scheduler(models, metrics, {});
  const auto leaver = std::make_shared<Watcher>(), stayer = std::make_shared<Watcher>();
  leaver->at_piece = [&] { leaver->gone = leaver->tokens.size() >= 4; };
  std::vector<Job> jobs;
  jobs.push_back(job(leaver, {7, 8, 9}, 100));
  jobs.push_back(job(stayer, {17, 8, 9}, 20));
  ASSERT_TRUE(scheduler.submit(std::move(jobs)));
  EXPECT_FALSE(stayer->wait());
  EXPECT_EQ(leaver->tokens.size(), 4);
  EXPECT_EQ(metrics.cancelled, 1);
}

TEST_F(SchedulerTest, AnswersThatGrowTogetherAreThoseOfOneAlone) {
  constexpr u32 count = 5;
  std::vector<std::vector<u32>> calm;
  u64 alone = 0, together = 0;
  for (const bool at_once : {false, true}) {
    Scheduler scheduler(models, metrics, {.parallel = count});
    std::vector<std::shared_ptr<Watcher>> watchers;
    const u64 before = device->usage().submits;
    for (u32 i = 0; i < count; ++i) {
      // Each ends at another step.
      ASSERT_TRUE(scheduler.submit(
          {job(watchers.emplace_back(std::make_shared<Watcher>()), count_up(11 * i + 1, 4 + 3 * i), 20 + 4 * i)}));
      if (!at_once) EXPECT_FALSE(watchers.back()->wait());
    }
    for (u32 i = 0; i < count; ++i) {
      if (!at_once) {
        calm.push_back(watchers[i]->tokens);
        continue;
      }
      EXPECT_FALSE(watchers[i]->wait());
      EXPECT_EQ(watchers[i]->tokens, calm[i]) << i;
    }
    (at_once ? together : alone) = device->usage().submits - before;
  }
  EXPECT_LT(together, alone / 2);
}

TEST_F(SchedulerTest, ALostDeviceFailsAllThatGrowTogether) {
  Scheduler scheduler(models, metrics, {});
  const auto first = std::make_shared<Watcher>(), second = std::make_shared<Watcher>(),
             next = std::make_shared<Watcher>();
  first->at_piece = [&] {
    if (first->tokens.size() == 5) gpu::destroy_underlying_device(context_of(*device)->device());
  };
  std::vector<Job> jobs;
  jobs.push_back(job(first, {7, 8, 9}, 100));
  jobs.push_back(job(second, {17, 8, 9}, 100));
  ASSERT_TRUE(scheduler.submit(std::move(jobs)));
  for (const auto& watcher : {first, second}) {
    const auto error = watcher->wait();
    ASSERT_TRUE(error);
    EXPECT_EQ(error->kind, ErrorKind::device_lost) << error->to_string();
  }
  ASSERT_TRUE(scheduler.submit({job(next, count_up(5, 20))}));
  EXPECT_FALSE(next->wait());
}

}  // namespace
}  // namespace pteron::server
