// SPDX-License-Identifier: BSD-3-Clause
#include "server/engine/scheduler.h"

#include "base/error.h"

#include <algorithm>

namespace pteron::server {
namespace {

constexpr u32 worth_waiting_for = 32;  // tokens in common with a prompt that is being read

f64 seconds_since(Job::Clock::time_point start) {
  return std::chrono::duration<f64>(Job::Clock::now() - start).count();
}

Failure took_too_long() { return fail(ErrorKind::cancelled, "the request took longer than the server allows"); }

}  // namespace

struct Scheduler::Active {
  Job job;
  std::unique_ptr<Session> session;
  std::optional<Generation> answer;  // once all but the last chunk of the prompt was read
  JobStats stats;
  Job::Clock::time_point last_token;
  bool over = false, dropped = false;  // dropped: its state is no longer good
  std::optional<Error> error;

  bool decoding() const { return answer && stats.answer_tokens > 0; }
  void note(Status status) {
    if (!status && !error) error = status.error();
  }
  Status step() {
    TRY_DO(answer->begin());
    TRY_DO(answer->finish());
    return {};
  }
  void deliver(Metrics& metrics);
  Status deliver_ready(Metrics& metrics);
};

void Scheduler::Active::deliver(Metrics& metrics) {
  GeneratedPiece piece = answer->piece();
  if (piece.token && ++stats.answer_tokens == 1)
    metrics.first_token.observe(seconds_since(job.submitted));
  else if (piece.token)
    metrics.between_tokens.observe(seconds_since(last_token));
  if (piece.token) {
    ++metrics.answer_tokens;
    last_token = Job::Clock::now();
    if (answer->reason() == StopReason::end_token) piece.token.reset(), piece.top.clear();
    job.listener->on_piece(piece);
  }
  if (!answer->done()) return;
  stats.answer_tokens = answer->stats().answer_tokens;
  job.listener->on_done(answer->reason(), stats);
  over = true;
}

// What a step has given, and tokens that need no further run.
Status Scheduler::Active::deliver_ready(Metrics& metrics) {
  deliver(metrics);
  while (!over && answer->ready() > 0 && job.listener->wanted()) {
    TRY_DO(step());
    deliver(metrics);
  }
  return {};
}

Scheduler::Scheduler(ModelTable& models, Metrics& metrics, SchedulerOptions options)
    : models_(models),
      metrics_(metrics),
      options_(std::move(options)),
      cache_(options_.kv_memory, options_.disk.get()),
      thread_([this] { loop(); }) {}

Scheduler::~Scheduler() {
  {
    const std::scoped_lock lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

bool Scheduler::submit(std::vector<Job> jobs) {
  const std::scoped_lock lock(mutex_);
  if (stopping_ || queue_.size() + jobs.size() > options_.queue) return false;
  for (Job& job : jobs) queue_.push_back(std::move(job));
  metrics_.queued = queue_.size();
  changed_.notify_all();
  return true;
}

bool Scheduler::submit(std::unique_ptr<Task> task) {
  const std::scoped_lock lock(mutex_);
  if (stopping_ || tasks_.size() >= options_.queue) return false;
  tasks_.push_back(std::move(task));
  changed_.notify_all();
  return true;
}

void Scheduler::forget_old_models() {
  const std::scoped_lock lock(mutex_);
  models_changed_ = true;
  changed_.notify_all();
}

void Scheduler::loop() {
  while (take_over()) {
    run_task();
    read_prompts();
    std::vector<Active*> answers;
    for (const auto& active : active_)
      if (active->decoding() && !active->over && !active->error) answers.push_back(active.get());
    decode(answers);
    settle();
    tell_waiting();
    publish();
  }
  const Error ended{ErrorKind::cancelled, "the server is shutting down", {}};
  for (const auto& active : active_) active->job.listener->on_failed(ended);
  for (const Job& job : queue_) job.listener->on_failed(ended);
  for (const auto& task : tasks_) task->fail(ended);
  active_.clear();
  batches_.clear();
  cache_.put_away();
}

// True once there is something to do.
bool Scheduler::take_over() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock,
                [&] { return stopping_ || models_changed_ || !queue_.empty() || !tasks_.empty() || !active_.empty(); });
  if (std::exchange(models_changed_, false)) {
    const std::vector<ModelPtr> kept = models_.all();
    cache_.keep_only(kept);
    std::erase_if(batches_, [&](const ModelBatch& of) { return std::ranges::find(kept, of.model) == kept.end(); });
  }
  const auto now = Job::Clock::now();
  for (auto it = queue_.begin(); it != queue_.end() && !stopping_;) {
    const bool wanted = it->listener->wanted(), overdue = it->deadline <= now;
    if (wanted && !overdue && (active_.size() >= options_.parallel || must_wait(*it))) {
      ++it;
      continue;
    }
    auto active = std::make_unique<Active>(Active{.job = std::move(*it)});
    queue_.erase(it);
    lock.unlock();
    if (overdue)
      active->note(took_too_long());
    else if (wanted)
      active->note(start(*active));
    lock.lock();
    active_.push_back(std::move(active));
    it = queue_.begin();  // others may have been added
  }
  metrics_.queued = queue_.size();
  return !stopping_;
}

// For a prompt that begins as one that is just being read: its state can be copied then.
bool Scheduler::must_wait(const Job& job) const {
  return std::ranges::any_of(active_, [&](const auto& active) {
    if (active->job.model != job.model || active->decoding() || active->over || active->error) return false;
    const size_t shared = size_t(std::ranges::mismatch(active->job.prompt, job.prompt).in2 - job.prompt.begin());
    return shared >= worth_waiting_for && shared >= job.prompt.size() / 2;
  });
}

Status Scheduler::start(Active& active) {
  const Job& job = active.job;
  std::vector<Session*> in_use;
  for (const auto& other : active_)
    if (other->job.model == job.model && other->session && !other->error) in_use.push_back(other->session.get());
  TRY(active.session, cache_.acquire(job.model, job.prompt, in_use));
  const u32 shared = shared_prefix(*active.session, job.prompt);
  TRY_DO(active.session->replace(std::span(job.prompt).first(shared)));
  active.stats.prompt_tokens = u32(job.prompt.size());
  // The last token is always read: its answer is not kept.
  active.stats.cached_tokens = std::min(active.session->cached(), active.stats.prompt_tokens - 1);
  ++metrics_.jobs;
  metrics_.prompt_tokens += active.stats.prompt_tokens;
  metrics_.cached_tokens += active.stats.cached_tokens;
  return {};
}

// One step of one task; the next time it is another one's turn.
void Scheduler::run_task() {
  std::unique_ptr<Task> task;
  {
    const std::scoped_lock lock(mutex_);
    if (tasks_.empty()) return;
    task = std::move(tasks_.front());
    tasks_.pop_front();
  }
  if (!task->wanted()) return;
  const Result<bool> more = task->step();
  if (!more) {
    task->fail(more.error());
    if (more.error().kind == ErrorKind::device_lost) reopen();
  } else if (*more) {
    const std::scoped_lock lock(mutex_);
    tasks_.push_back(std::move(task));
  }
}

// One chunk of one prompt; the next time it is another one's turn.
void Scheduler::read_prompts() {
  const auto it = std::ranges::find_if(
      active_, [](const auto& a) { return !a->decoding() && !a->over && !a->error && a->job.listener->wanted(); });
  if (it == active_.end()) return;
  Active& active = **it;
  active.note(read_chunk(active));
  active_.splice(active_.end(), active_, it);
}

Status Scheduler::read_chunk(Active& active) {
  Session& session = *active.session;
  const std::span<const u32> prompt = active.job.prompt;
  if (active.answer || !session.info().kv_cache || prompt.size() - session.cached() <= options_.chunk)
    return begin_answer(active);
  const size_t known = session.tokens().size(), end = session.cached() + options_.chunk;
  TRY_DO(session.append(prompt.subspan(known, end - known)));
  TRY_DO(session.begin(Readback::none));
  TRY_DO(session.finish());
  return {};
}

// Reads the rest of the prompt, which gives the first token.
Status Scheduler::begin_answer(Active& active) {
  if (!active.answer) {
    active.job.options.speculate = options_.speculate;
    TRY(Generation answer,
        Generation::start(active.job.model->model, *active.session, active.job.prompt, std::move(active.job.options)));
    active.answer.emplace(std::move(answer));
  }
  TRY_DO(active.step());
  return active.deliver_ready(metrics_);
}

void Scheduler::decode(std::span<Active* const> answers) {
  std::vector<Active*> left;
  for (Active* active : answers)
    if (active->job.listener->wanted()) left.push_back(active);
  while (!left.empty()) {
    const ModelPtr model = left.front()->job.model;
    const auto others =
        std::ranges::stable_partition(left, [&](const Active* active) { return active->job.model == model; });
    const size_t count = std::min<size_t>(left.size() - others.size(), Batch::most_lanes);
    decode_together(model, std::span(left).first(count));
    left.erase(left.begin(), left.begin() + std::ptrdiff_t(count));
  }
}

void Scheduler::decode_together(const ModelPtr& model, std::span<Active* const> answers) {
  SessionBatch* batch = answers.size() > 1 ? batch_for(model) : nullptr;
  std::vector<Generation::Turn> turns;
  for (Active* active : answers) turns.push_back({&*active->answer});
  if (batch) Generation::step(*batch, turns);
  for (size_t i = 0; i < answers.size(); ++i) {
    answers[i]->note(batch ? std::move(turns[i].status) : answers[i]->step());
    if (!answers[i]->error) answers[i]->note(answers[i]->deliver_ready(metrics_));
  }
}

SessionBatch* Scheduler::batch_for(const ModelPtr& model) {
  auto known = std::ranges::find(batches_, model, &ModelBatch::model);
  if (known == batches_.end()) {
    auto made = model->model.batch();
    known = batches_.insert(batches_.end(), {model, {}});
    if (made) known->batch.emplace(*std::move(made));
  }
  return known->batch ? &*known->batch : nullptr;
}

void Scheduler::settle() {
  const auto now = Job::Clock::now();
  bool lost = false;
  for (const auto& active : active_) {
    lost |= active->error && active->error->kind == ErrorKind::device_lost;
    if (!active->over && active->job.deadline <= now) active->note(took_too_long());
  }
  if (lost) reopen();
  for (auto it = active_.begin(); it != active_.end();) {
    Active& active = **it;
    const bool unwanted = !active.over && !active.error && !active.job.listener->wanted();
    if (unwanted) ++metrics_.cancelled;
    if (active.error) fail(active, *active.error);
    if (active.over || active.error || unwanted) {
      const auto ended = std::move(*it);
      it = active_.erase(it);
      end(*ended);
    } else {
      ++it;
    }
  }
}

void Scheduler::end(Active& active) {
  if (active.answer) {
    metrics_.drafted_tokens += active.answer->stats().drafted_tokens;
    metrics_.held_tokens += active.answer->stats().held_tokens;
  }
  active.answer.reset();
  if (active.session && !active.dropped) cache_.release(active.job.model, std::move(active.session), bytes_in_use());
}

void Scheduler::fail(Active& active, const Error& error) {
  ++metrics_.failed;
  active.dropped |= error.kind != ErrorKind::cancelled;
  active.job.listener->on_failed(error);
}

// All models share one device: everything on it is gone.
void Scheduler::reopen() {
  ++metrics_.devices_lost;
  for (const auto& active : active_) {
    if (!active->error) active->error = Error{ErrorKind::device_lost, "the GPU was lost; ask again", {}};
    active->dropped = true;
    active->answer.reset();
    active->session.reset();
  }
  cache_.drop_all();
  batches_.clear();
  for (const Error& error : models_.reload()) std::fprintf(stderr, "pteron: %s\n", error.to_string().c_str());
  const std::scoped_lock lock(mutex_);
  for (const auto& task : tasks_) task->fail(Error{ErrorKind::device_lost, "the GPU was lost; ask again", {}});
  tasks_.clear();
  for (Job& job : queue_)
    if (ModelPtr fresh = models_.find(job.model->id)) job.model = std::move(fresh);
}

void Scheduler::tell_waiting() {
  const auto now = Job::Clock::now();
  if (now - last_ping_ < options_.ping) return;
  last_ping_ = now;
  for (const auto& active : active_)
    if (!active->decoding()) active->job.listener->waiting();
  const std::scoped_lock lock(mutex_);
  for (const Job& job : queue_) job.listener->waiting();
}

u64 Scheduler::bytes_in_use() const {
  u64 sum = 0;
  for (const auto& active : active_)
    if (active->session) sum += active->session->stats().gpu_bytes;
  return sum;
}

void Scheduler::publish() const {
  metrics_.active = active_.size();
  metrics_.idle_sessions = cache_.size();
  metrics_.session_bytes = cache_.bytes() + bytes_in_use();
}

}  // namespace pteron::server
