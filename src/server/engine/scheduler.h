// SPDX-License-Identifier: BSD-3-Clause
// The one thread that uses the GPU. Jobs take turns: in a round, one prompt is read on by a chunk and every answer
// grows by a token, so that nobody waits for long.
#pragma once

#include "server/engine/job.h"
#include "server/engine/session_cache.h"
#include "server/metrics.h"

#include <condition_variable>
#include <deque>
#include <list>
#include <thread>

namespace pteron::server {

struct SchedulerOptions {
  u32 parallel = 4;        // jobs that take turns
  u32 queue = 64;          // jobs that wait
  u32 chunk = 64;          // tokens of a prompt in a step
  bool speculate = false;  // answers that are written alone draft
  u64 kv_memory = u64(1) << 30;
  std::chrono::milliseconds ping{10'000};  // how often those who wait hear something
  std::shared_ptr<DiskCache> disk;         // where states go that have no place in memory; none: they are dropped
};

class Scheduler {
 public:
  Scheduler(ModelTable& models, Metrics& metrics, SchedulerOptions options);
  // Ends what is under way.
  ~Scheduler();

  // All of them or, if the queue has no room, none.
  bool submit(std::vector<Job> jobs);
  bool submit(std::unique_ptr<Task> task);
  // The table has other models now: states of those that are gone are dropped, soon.
  void forget_old_models();

 private:
  struct Active;
  using ActiveList = std::list<std::unique_ptr<Active>>;

  void loop();
  bool take_over();  // from the queue; false: the scheduler ends
  Status start(Active& active);
  bool must_wait(const Job& job) const;
  void run_task();
  void read_prompts();
  Status read_chunk(Active& active);
  Status begin_answer(Active& active);
  // The place where answers grow by a token: those of one model in one submit.
  void decode(std::span<Active* const> answers);
  void decode_together(const ModelPtr& model, std::span<Active* const> answers);
  SessionBatch* batch_for(const ModelPtr& model);  // nothing if the model can't be batched
  void settle();
  void end(Active& active);
  void fail(Active& active, const Error& error);
  void reopen();
  void tell_waiting();
  void publish() const;
  u64 bytes_in_use() const;

  ModelTable& models_;
  Metrics& metrics_;
  const SchedulerOptions options_;
  SessionCache cache_;
  ActiveList active_;
  struct ModelBatch {
    ModelPtr model;
    std::optional<SessionBatch> batch;
  };
  std::vector<ModelBatch> batches_;
  Job::Clock::time_point last_ping_ = Job::Clock::now();

  std::mutex mutex_;  // what follows
  std::condition_variable changed_;
  std::deque<Job> queue_;
  std::deque<std::unique_ptr<Task>> tasks_;
  bool models_changed_ = false, stopping_ = false;

  std::thread thread_;  // last: it uses all of the above
};

}  // namespace pteron::server
