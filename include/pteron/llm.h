// SPDX-License-Identifier: BSD-3-Clause
// Language models: a program that reads tokens and says what comes next, and its state.
//
//   auto model   = pteron::LanguageModel::load("model.pte");
//   auto session = model->session();
//   auto answer  = pteron::Generation::start(*model, *session, *model->encode("Once upon a time"), {});
//   while (!answer->done()) std::cout << answer->next()->text;      // <pteron/generation.h>
#pragma once

#include <pteron/chat_template.h>
#include <pteron/grammar.h>
#include <pteron/program.h>
#include <pteron/tokenizer.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace pteron {

// What a program says about itself as a language model, by its shape and its constant methods.
struct ModelInfo {
  u32 vocab_size = 0;
  u32 context = 0;           // tokens that the model can look back on
  u32 max_run = 0;           // tokens that one run can read
  bool any_run = false;      // a run may read fewer
  bool kv_cache = true;      // what was read is remembered; else every run reads the whole text
  bool position = false;     // there is an input for the position
  bool every_token = false;  // the logits of all tokens of a run come out, not only those of the last
  u32 outputs = 0;           // of the method itself, in front of the epilogues'
  u32 top_k = 0;             // how many candidates the GPU can pick
  std::optional<u32> bos;
  std::vector<u32> end_tokens;

  // Whether one run can say for each of several tokens what comes behind it, so that drafts can be verified.
  bool verifies_drafts() const { return every_token && kv_cache && any_run; }

  // The value of a constant method such as get_vocab_size.
  using Constants = std::function<std::optional<std::vector<i64>>(std::string_view name)>;
  static Result<ModelInfo> read(const MethodInfo& method, const Constants& constants);
  // With these a step can read back bytes instead of all logits: the best token, the `top_k` best, and the logarithm
  // of the sum that probabilities are relative to; and the best token behind each, if drafts can be verified.
  MethodOptions method_options() const;
};

// What is copied back from the GPU after a run: nothing, the best token, the best one behind each token of the run, the
// best few, the best few with what their probabilities are relative to, or the whole row.
enum class Readback { none, best, best_of_each, candidates, scored, logits };
std::string_view name_of(Readback readback);

// A text that a model reads, and the state it has from what it has read so far. Not for two threads at once.
class Session {
 public:
  // The method has the options of `info`.
  Session(Method method, std::shared_ptr<const ModelInfo> info);
  Session(Session&&) noexcept;
  Session& operator=(Session&&) noexcept;
  ~Session();

  const ModelInfo& info() const;
  std::span<const u32> tokens() const;  // the text
  u32 cached() const;                   // so many of them were read and are remembered
  u32 room() const;                     // so many more fit

  Status append(std::span<const u32> tokens);
  // Makes the text another one. Returns how many tokens at its start need not be read again.
  Result<u32> replace(std::span<const u32> tokens);
  Status rewind(u32 length);
  // An independent copy in the same state.
  Result<Session> fork();

  // The state of what is cached, as bytes. It can be restored where the program and the layout are the same.
  std::string state_layout() const;
  u64 state_bytes(u32 tokens) const;  // of a text of so many
  Result<std::vector<std::byte>> save() const;
  // The text becomes these tokens, all of them read. If the bytes do not fit, nothing is cached afterwards.
  Status restore(std::span<const u32> tokens, Bytes state);

  // One run of the model over what it has not read, or over the last token again. A text that is too long for one run
  // takes several; only the last one has an answer. `begin` submits, `finish` collects: true once it is done.
  Status begin(Readback wanted);
  Result<bool> finish(bool wait = true);
  bool running() const;
  // Whether the next run reads a single token, so that it can be one of a batch.
  bool reads_one() const;

  // The answer of the last run: none if there is more to read, or the text was changed since.
  Readback answer() const;
  u32 best() const;
  std::span<const i32> best_of_each() const;  // needs a model that verifies_drafts()
  Candidates candidates() const;
  f32 log_sum_exp() const;  // of all logits, if scored: a logit minus this is its log-probability
  std::span<const f32> logits() const;

  MethodStats stats() const;
  // As of the method.
  void set_profiling(bool on);
  std::vector<OpTiming> profile() const;

 private:
  friend class SessionBatch;
  struct Impl;
  explicit Session(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// Runs of several sessions of one model in one submit, which costs little more than one of them alone. Not for two
// threads at once.
class SessionBatch {
 public:
  struct Run {
    Session* session = nullptr;  // that reads_one()
    Readback wanted = Readback::best;
    Status status = {};
  };
  explicit SessionBatch(Batch batch) : batch_(std::move(batch)) {}

  // An error: nothing has begun, and sessions can still run by themselves; they have to from now on, because it will
  // not get better. An error in the status of a run is that session's alone.
  Status begin(std::span<Run> runs);
  // The runs stay where they are until this is true or an error.
  Result<bool> finish(bool wait = true);
  const Batch& batch() const { return batch_; }

 private:
  Batch batch_;
  std::optional<Error> broken_;
  std::vector<Batch::Lane> lanes_;  // of the step under way, and
  std::vector<Run*> runs_;          // whose they are
};

struct LanguageModelOptions {
  LoadOptions load;
  std::string tokenizer;      // a file; empty: what the program carries or what lies beside it
  std::string chat_template;  // the same
};

// Copies are the same model. Safe for several threads at once; each session is for one.
class LanguageModel {
 public:
  static Result<LanguageModel> load(const std::string& path, LanguageModelOptions options = {});
  // Without a tokenizer only tokens can be used.
  static Result<LanguageModel> create(Program program, std::optional<Tokenizer> tokenizer,
                                      std::optional<ChatTemplate> chat_template);

  const ModelInfo& info() const;
  const Tokenizer* tokenizer() const;
  const ChatTemplate* chat_template() const;
  Result<Device> device() const;

  // An error if there is no tokenizer.
  Result<std::vector<u32>> encode(std::string_view text, const EncodeOptions& options = {}) const;
  // The tokenizer's vocabulary for grammars; made when first asked for.
  Result<TokenTrie> token_trie() const;
  bool is_end(u32 token) const;

  Result<Session> session() const;
  // For this model's sessions.
  Result<SessionBatch> batch() const;

 private:
  struct Impl;
  explicit LanguageModel(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
  std::shared_ptr<Impl> impl_;
};

}  // namespace pteron
