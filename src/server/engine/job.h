// SPDX-License-Identifier: BSD-3-Clause
// One text that a model is to write.
#pragma once

#include "server/engine/model.h"

#include <chrono>

namespace pteron::server {

struct JobStats {
  u32 prompt_tokens = 0, cached_tokens = 0;
  u64 answer_tokens = 0;
};

// Hears what becomes of a job, on the engine's thread: it must not block.
class JobListener {
 public:
  virtual ~JobListener() = default;
  // Asked before every step; a job that nobody wants any more is dropped.
  virtual bool wanted() const = 0;
  // The job waits or its prompt is being read; called now and then.
  virtual void waiting() {}
  virtual void on_piece(const GeneratedPiece& piece) = 0;
  // One of these comes last, unless the job was not wanted.
  virtual void on_done(StopReason reason, const JobStats& stats) = 0;
  virtual void on_failed(const Error& error) = 0;
};

// Other work for the GPU, a step at a time, on the engine's thread.
class Task {
 public:
  virtual ~Task() = default;
  virtual bool wanted() const = 0;
  virtual Result<bool> step() = 0;  // true: there is more to do
  virtual void fail(const Error& error) = 0;
};

struct Job {
  using Clock = std::chrono::steady_clock;
  ModelPtr model;
  std::vector<u32> prompt;
  GenerationOptions options;
  std::shared_ptr<JobListener> listener;
  Clock::time_point submitted = Clock::now(), deadline = Clock::time_point::max();
};

}  // namespace pteron::server
