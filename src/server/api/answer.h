// SPDX-License-Identifier: BSD-3-Clause
// From what the engine says about jobs to the answer of a request. Everything here happens on the engine's thread.
#pragma once

#include "server/api/answer_parts.h"
#include "server/api/error.h"
#include "server/engine/job.h"
#include "server/http/reply.h"

#include <atomic>

namespace pteron::server {

struct TokenReport {
  std::string bytes;
  f32 logprob = 0;
  std::vector<TokenReport> top;
};

struct CallMade {
  std::string id, name, arguments;
};

struct ChoiceText {
  std::string reasoning, content;
  std::vector<CallMade> calls;
  std::vector<TokenReport> tokens;
  std::string finish;  // "stop", "length" or "tool_calls"; empty: not done
};

struct Usage {
  u64 prompt = 0, cached = 0, completion = 0;
};

// One way of writing an answer. The base collects it.
class AnswerWriter {
 public:
  AnswerWriter(std::shared_ptr<http::Reply> reply, u32 choices) : reply_(std::move(reply)), choices_(choices) {}
  virtual ~AnswerWriter() = default;

  virtual void reasoning(u32 choice, std::string_view text) { choices_[choice].reasoning += text; }
  virtual void content(u32 choice, std::string_view text, std::vector<TokenReport> tokens);
  virtual void call(u32 choice, u32 index, const std::string& name);
  virtual void arguments(u32 choice, u32 index, std::string_view text);
  virtual void finish(u32 choice, const std::string& reason) { choices_[choice].finish = reason; }
  // All choices are done.
  virtual void complete(const Usage& usage) = 0;
  virtual void fail(const ApiError& error) { reply_->send(to_response(error)); }
  virtual void ping() {}

  http::Reply& reply() { return *reply_; }

 protected:
  std::shared_ptr<http::Reply> reply_;
  std::vector<ChoiceText> choices_;
};

// What the choices of a request share.
class Answer {
 public:
  // How the answer is made of its parts: with none, it is all content.
  struct Form {
    std::optional<CallForm> calls;
    bool thinking = false, logprobs = false;
  };

  explicit Answer(std::unique_ptr<AnswerWriter> writer, u32 choices) : writer_(std::move(writer)), left_(choices) {}

  // The listener of a job that writes the choice with this number. Jobs of one prompt count it once.
  static std::shared_ptr<JobListener> choice(const std::shared_ptr<Answer>& answer, u32 number, const ModelPtr& model,
                                             Form form, bool counts_prompt);

 private:
  class Choice;
  bool wanted() const { return !failed_ && !writer_->reply().gone(); }
  void fail(const ApiError& error);
  void add(const JobStats& stats, bool counts_prompt);

  std::unique_ptr<AnswerWriter> writer_;
  u32 left_;
  Usage usage_;
  std::atomic<bool> failed_ = false;
};

// "chatcmpl-4f…"
std::string make_id(std::string_view prefix);
i64 unix_time();

}  // namespace pteron::server
