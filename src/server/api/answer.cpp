// SPDX-License-Identifier: BSD-3-Clause
#include "server/api/answer.h"

#include <random>

namespace pteron::server {
namespace {

std::string bytes_of(const Tokenizer& tokenizer, u32 id) {
  std::string bytes = tokenizer.bytes(id);
  if (bytes.empty()) bytes = tokenizer.token(id).value_or("");
  return bytes;
}

std::string finish_reason(StopReason reason, bool calls) {
  if (reason == StopReason::max_tokens || reason == StopReason::context_full) return "length";
  return calls ? "tool_calls" : "stop";
}

}  // namespace

void AnswerWriter::content(u32 choice, std::string_view text, std::vector<TokenReport> tokens) {
  choices_[choice].content += text;
  for (TokenReport& token : tokens) choices_[choice].tokens.push_back(std::move(token));
}

void AnswerWriter::call(u32 choice, u32, const std::string& name) {
  choices_[choice].calls.push_back({make_id("call_"), name, ""});
}

void AnswerWriter::arguments(u32 choice, u32 index, std::string_view text) {
  choices_[choice].calls[index].arguments += text;
}

class Answer::Choice : public JobListener, private PartSink {
 public:
  Choice(std::shared_ptr<Answer> answer, u32 number, ModelPtr model, Form form, bool counts_prompt)
      : answer_(std::move(answer)),
        number_(number),
        model_(std::move(model)),
        form_(form),
        counts_prompt_(counts_prompt),
        parts_(*this, form.calls.value_or(CallForm::none), form.thinking) {}

  bool wanted() const override { return answer_->wanted(); }
  void waiting() override { answer_->writer_->ping(); }

  void on_piece(const GeneratedPiece& piece) override {
    if (piece.token && form_.logprobs) report(piece);
    if (form_.calls)
      parts_.feed(piece.text);
    else if (!piece.text.empty())
      content(piece.text);
  }

  void on_done(StopReason reason, const JobStats& stats) override {
    parts_.finish();
    if (!pending_.empty()) content("");
    writer().finish(number_, finish_reason(reason, parts_.calls() > 0));
    answer_->add(stats, counts_prompt_);
  }

  void on_failed(const Error& error) override { answer_->fail(to_api_error(error)); }

 private:
  AnswerWriter& writer() { return *answer_->writer_; }
  void reasoning(std::string_view text) override { writer().reasoning(number_, text); }
  void content(std::string_view text) override { writer().content(number_, text, std::exchange(pending_, {})); }
  void call(u32 index, const std::string& name) override { writer().call(number_, index, name); }
  void arguments(u32 index, std::string_view text) override { writer().arguments(number_, index, text); }

  void report(const GeneratedPiece& piece) {
    const Tokenizer& tokenizer = *model_->model.tokenizer();
    TokenReport out{bytes_of(tokenizer, *piece.token), piece.logprob, {}};
    for (const TokenLogprob& t : piece.top) out.top.push_back({bytes_of(tokenizer, t.token), t.logprob, {}});
    pending_.push_back(std::move(out));
  }

  std::shared_ptr<Answer> answer_;
  u32 number_;
  ModelPtr model_;
  Form form_;
  bool counts_prompt_;
  AnswerParts parts_;
  std::vector<TokenReport> pending_;  // of text that is held back
};

std::shared_ptr<JobListener> Answer::choice(const std::shared_ptr<Answer>& answer, u32 number, const ModelPtr& model,
                                            Form form, bool counts_prompt) {
  return std::make_shared<Choice>(answer, number, model, form, counts_prompt);
}

void Answer::fail(const ApiError& error) {
  if (!failed_.exchange(true)) writer_->fail(error);
}

void Answer::add(const JobStats& stats, bool counts_prompt) {
  usage_.completion += stats.answer_tokens;
  if (counts_prompt) usage_.prompt += stats.prompt_tokens, usage_.cached += stats.cached_tokens;
  if (--left_ == 0) writer_->complete(usage_);
}

std::string make_id(std::string_view prefix) {
  thread_local std::mt19937_64 random{std::random_device()()};
  char digits[33];
  std::snprintf(digits, sizeof digits, "%016llx%08llx", static_cast<unsigned long long>(random()),
                static_cast<unsigned long long>(random() >> 32));
  return str(prefix, digits);
}

i64 unix_time() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::seconds>(now).count();
}

}  // namespace pteron::server
