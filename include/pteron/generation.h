// SPDX-License-Identifier: BSD-3-Clause
// One answer of a language model, token by token.
#pragma once

#include <pteron/llm.h>
#include <pteron/sampler.h>
#include <pteron/stop_matcher.h>

namespace pteron {

struct GenerationOptions {
  SamplerOptions sampling{.temperature = 0};
  u64 max_tokens = 256;
  std::vector<std::string> stops;
  std::optional<Grammar> grammar;
  std::vector<u32> begun;     // of the answer, from before: it goes on behind them as if it had never stopped
  bool ignore_end = false;    // go on behind tokens that end an answer
  bool show_special = false;  // special tokens appear in the text
  // Where the text repeats itself, drafts what stood there before and verifies it in one run that can give several
  // tokens. They are those of greedy answers without it; any other sampling, a grammar or logprobs go without. Needs a
  // model that verifies_drafts().
  bool speculate = false;
  // Asked when the context is full, with the answer so far (none: the prompt alone is too long): the text to go on
  // from, shorter than the context, with the answer or the end of it at its end. Absent, or an error: the answer ends.
  std::function<Result<std::vector<u32>>(std::span<const u32> answer)> shorten;
};

enum class StopReason { none, end_token, stop_string, grammar, max_tokens, context_full, cancelled };
std::string_view name_of(StopReason reason);

struct GeneratedPiece {
  std::string text;          // what has become readable; often empty
  std::optional<u32> token;  // none while the prompt is being read
  f32 logprob = 0;           // with SamplerOptions::logprobs
  std::vector<TokenLogprob> top;
};

struct GenerationStats {
  u32 prompt_tokens = 0;
  u32 reused_tokens = 0;  // of the prompt, that the session had read before
  u64 answer_tokens = 0;
  u32 runs = 0;
  u32 shortened = 0;                   // times that the text was shortened
  u64 drafted_tokens = 0;              // that runs verified
  u64 held_tokens = 0;                 // of them, that are in the answer
  Readback readback = Readback::none;  // of the last token
  u64 read_back_bytes = 0;             // by the last run
};

// An error with the reason if GenerationOptions::speculate can't be had.
Status check_drafts(const ModelInfo& info);

// Needs the model and the session to stay where they are. The session can be used again when the answer is done, was
// cancelled, or is given up between two steps; what was generated, also drafts that held, is then part of its text.
class Generation {
 public:
  // The session's text becomes the prompt; what it has in common with the one before is not read again.
  static Result<Generation> start(const LanguageModel& model, Session& session, std::vector<u32> prompt,
                                  GenerationOptions options);
  Generation(Generation&&) noexcept;
  Generation& operator=(Generation&&) noexcept;
  ~Generation();

  // A step in two parts, for hosts that must not block: `begin` submits a run, `finish` is true once `piece` holds its
  // result. While tokens are ready there is nothing to run.
  Status begin();
  Result<bool> finish(bool wait = true);
  const GeneratedPiece& piece() const;
  u32 ready() const;  // tokens that the next steps give at once, because drafts held
  // A step of several answers of one model, with as much of it as possible in one submit. An error is one answer's
  // alone. Those whose next run reads more than a token take it by themselves. Answers that share a submit draft
  // nothing.
  struct Turn {
    Generation* answer = nullptr;
    Status status = {};
  };
  static void step(SessionBatch& batch, std::span<Turn> turns);
  // Steps until there is a token or the answer is done.
  Result<GeneratedPiece> next();

  bool done() const { return reason() != StopReason::none; }
  StopReason reason() const;
  // Ends the answer here, at any time. A run that is under way is waited for.
  void cancel();

  std::span<const u32> tokens() const;  // of the answer
  const std::string& text() const;
  const GenerationStats& stats() const;

 private:
  struct Impl;
  explicit Generation(std::unique_ptr<Impl> impl);
  Status begin_run(bool may_draft);
  Status run(bool may_draft = true);
  std::unique_ptr<Impl> impl_;
};

}  // namespace pteron
