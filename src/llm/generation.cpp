// SPDX-License-Identifier: BSD-3-Clause
#include "base/error.h"
#include "llm/draft.h"

#include <pteron/generation.h>

#include <algorithm>

namespace pteron {

std::string_view name_of(StopReason reason) {
  switch (reason) {
    case StopReason::none: return "none";
    case StopReason::end_token: return "end_token";
    case StopReason::stop_string: return "stop_string";
    case StopReason::grammar: return "grammar";
    case StopReason::max_tokens: return "max_tokens";
    case StopReason::context_full: return "context_full";
    case StopReason::cancelled: return "cancelled";
  }
  return "";
}

struct Generation::Impl {
  const LanguageModel& model;
  Session& session;
  GenerationOptions options;
  Sampler sampler;
  StopMatcher stops;
  std::optional<StreamDecoder> decoder;
  std::optional<GrammarMatcher> grammar;
  bool all_logits = false;  // the candidates did not determine a token

  std::vector<u32> answer;
  std::string text;
  GeneratedPiece piece;
  StopReason reason = StopReason::none;
  GenerationStats stats;

  Drafter drafter;
  u32 drafted = 0;            // tokens at the end of the session's text that the run under way verifies
  std::vector<u32> verified;  // what the next steps give, the last one first
  u32 ahead = 0;              // of these, in the session's text already

  Status set_prompt(std::vector<u32> prompt);
  Status take_up();
  Readback readback() const;
  Result<std::optional<Sample>> choose();
  Status accept(const Sample& sample);
  Status show(u32 token);
  Status make_room();
  void end(StopReason why);
  Status take_run();  // what the session's run has given
  Status draft();
  Status verify();
  Status take_verified();
  Status drop_drafts();  // what is not part of the answer leaves the session's text
};

// Tokens to verify with the next run, if it would read one and is asked for no more than the best. The token behind
// them needs a place too.
Status Generation::Impl::draft() {
  if (!options.speculate || readback() != Readback::best) return {};
  if (session.cached() + 1 != session.tokens().size() || session.room() == 0) return {};
  const u64 wanted = options.max_tokens - answer.size();
  const u32 most = u32(std::min<u64>({session.room(), wanted, session.info().max_run})) - 1;
  const std::vector<u32> guess = drafter.draft(session.tokens(), most);
  TRY_DO(session.append(guess));
  drafted = u32(guess.size());
  return {};
}

// A draft holds as long as each token is the best one behind those before it.
Status Generation::Impl::verify() {
  const auto best = session.best_of_each();
  const auto drafts = session.tokens().last(drafted);
  u32 held = 0;
  while (held < drafted && u32(best[held]) == drafts[held]) ++held;
  for (u32 i = held + 1; i-- > 0;) verified.push_back(u32(best[i]));
  const u32 length = u32(session.tokens().size()) - drafted + held;
  drafter.learn(drafted, held);
  stats.drafted_tokens += drafted;
  drafted = 0;
  ahead = held;
  return session.rewind(length);
}

Status Generation::Impl::take_verified() {
  const u32 token = verified.back();
  verified.pop_back();
  TRY_DO(accept({.token = token}));
  return reason == StopReason::none ? Status() : drop_drafts();
}

Status Generation::Impl::drop_drafts() {
  const u32 extra = std::exchange(drafted, 0) + std::exchange(ahead, 0);
  verified.clear();
  if (extra == 0) return {};
  return session.rewind(u32(session.tokens().size()) - extra);
}

Status Generation::Impl::take_run() {
  ++stats.runs;
  stats.read_back_bytes = session.stats().read_back_bytes;
  if (session.answer() == Readback::none) return {};
  stats.readback = session.answer();
  if (drafted > 0) {
    TRY_DO(verify());
    return take_verified();
  }
  TRY(const auto sample, choose());
  if (sample) return accept(*sample);
  all_logits = true;
  return {};
}

Status Generation::Impl::set_prompt(std::vector<u32> prompt) {
  const ModelInfo& info = model.info();
  if (prompt.empty() && info.bos) prompt.push_back(*info.bos);
  if (prompt.empty()) return invalid("the prompt is empty");
  if (prompt.size() > info.context && options.shorten) {
    TRY(prompt, options.shorten({}));
    ++stats.shortened;
  }
  if (prompt.size() > info.context)
    return invalid("the prompt has ", prompt.size(), " tokens, but the model's context holds ", info.context,
                   "; shorten it");
  TRY(stats.reused_tokens, session.replace(prompt));
  stats.prompt_tokens = u32(prompt.size());
  sampler.add_prompt(prompt);
  return {};
}

// What was begun counts as accepted, but is not shown again.
Status Generation::Impl::take_up() {
  for (u32 token : options.begun) {
    if (grammar) TRY_DO(grammar->advance(token));
    TRY_DO(show(token));
    text += piece.text;
  }
  sampler.take_up(options.begun);
  answer = options.begun;
  stats.answer_tokens = answer.size();
  piece = {};
  if (answer.size() <= session.room()) return session.append(answer);
  return make_room();
}

// The least that determines the next token.
Readback Generation::Impl::readback() const {
  const SamplerOptions& s = options.sampling;
  const u32 available = model.info().top_k;
  if (available == 0 || all_logits || grammar || !s.logit_bias.empty()) return Readback::logits;
  const bool few = s.temperature == 0 || (s.top_k > 0 && s.top_k <= available);
  if (!few || s.logprobs.value_or(0) > available) return Readback::logits;
  if (s.logprobs) return Readback::scored;
  const bool penalties = s.repetition_penalty != 1 || s.presence_penalty != 0 || s.frequency_penalty != 0;
  return s.temperature == 0 && !penalties ? Readback::best : Readback::candidates;
}

// Nothing if the candidates were not enough.
Result<std::optional<Sample>> Generation::Impl::choose() {
  switch (session.answer()) {
    case Readback::none:
    case Readback::best_of_each: return std::nullopt;
    case Readback::best: return Sample{.token = session.best()};
    case Readback::candidates: return sampler.sample(session.candidates());
    case Readback::scored: {
      Candidates scored = session.candidates();
      scored.log_sum_exp = session.log_sum_exp();
      return sampler.sample(scored);
    }
    case Readback::logits: break;
  }
  TokenMask allowed;
  if (grammar) {
    TRY(allowed, grammar->allowed());
  }
  TRY(const Sample sample, sampler.sample(session.logits(), allowed));
  return sample;
}

Status Generation::Impl::show(u32 token) {
  if (!decoder) return {};
  TRY(const std::string readable, decoder->push(token));
  piece.text = stops.feed(readable);
  return {};
}

void Generation::Impl::end(StopReason why) {
  if (reason != StopReason::none) return;
  reason = why;
  std::string rest;
  if (decoder) rest = stops.feed(decoder->finish());
  rest += stops.finish();
  piece.text += rest;
  text += rest;
}

// The token is part of the answer, but has no place in the context.
Status Generation::Impl::make_room() {
  if (!options.shorten) return end(StopReason::context_full), Status();
  const auto shorter = options.shorten(answer);
  if (!shorter || shorter->size() >= session.info().context) return end(StopReason::context_full), Status();
  ++stats.shortened;
  TRY_DO(session.replace(*shorter));
  return {};
}

Status Generation::Impl::accept(const Sample& sample) {
  const u32 token = sample.token;
  piece.token = token;
  piece.logprob = sample.logprob;
  piece.top.assign(sample.top.begin(), sample.top.end());
  if (model.is_end(token) && !options.ignore_end) return end(StopReason::end_token), Status();
  if (grammar) TRY_DO(grammar->advance(token));
  sampler.accept(token);
  answer.push_back(token);
  ++stats.answer_tokens;
  TRY_DO(show(token));
  text += piece.text;
  const bool fits = ahead > 0 || session.room() > 0;
  if (ahead > 0)
    --ahead, ++stats.held_tokens;
  else if (fits)
    TRY_DO(session.append(std::span(&token, 1)));
  if (stops.found()) end(StopReason::stop_string);
  if (grammar && grammar->is_complete()) end(StopReason::grammar);
  if (answer.size() >= options.max_tokens) end(StopReason::max_tokens);
  if (!fits && reason == StopReason::none) TRY_DO(make_room());
  return {};
}

Status check_drafts(const ModelInfo& info) {
  if (info.verifies_drafts()) return {};
  return unsupported("drafts can't be verified with this program: ",
                     info.every_token ? "it remembers nothing of what it has read"
                                      : "it gives only the logits of the last token; convert it with --all-logits");
}

Result<Generation> Generation::start(const LanguageModel& model, Session& session, std::vector<u32> prompt,
                                     GenerationOptions options) {
  TRY(Sampler sampler, Sampler::create(options.sampling));
  TRY(StopMatcher stops, StopMatcher::create(options.stops));
  if (options.speculate) TRY_DO(check_drafts(model.info()));
  const Tokenizer* tokenizer = model.tokenizer();
  if (!tokenizer && !options.stops.empty()) return not_found("stop strings need a tokenizer; name its file");
  std::optional<GrammarMatcher> grammar;
  if (options.grammar) {
    TRY(const TokenTrie trie, model.token_trie());
    grammar.emplace(*options.grammar, trie);
  }
  auto impl = std::unique_ptr<Impl>(new Impl{.model = model,
                                             .session = session,
                                             .options = std::move(options),
                                             .sampler = std::move(sampler),
                                             .stops = std::move(stops),
                                             .grammar = std::move(grammar)});
  if (tokenizer) impl->decoder.emplace(*tokenizer, !impl->options.show_special);
  TRY_DO(impl->set_prompt(std::move(prompt)));
  TRY_DO(impl->take_up());
  if (impl->answer.size() >= impl->options.max_tokens) impl->end(StopReason::max_tokens);
  return Generation(std::move(impl));
}

Generation::Generation(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Generation::Generation(Generation&&) noexcept = default;
Generation& Generation::operator=(Generation&&) noexcept = default;
Generation::~Generation() = default;

Status Generation::begin() { return begin_run(true); }

Status Generation::begin_run(bool may_draft) {
  if (done()) return invalid("the answer is done (", name_of(impl_->reason), ")");
  impl_->piece = {};
  if (ready() > 0) return {};
  if (may_draft) TRY_DO(impl_->draft());
  Status begun = impl_->session.begin(impl_->drafted > 0 ? Readback::best_of_each : impl_->readback());
  if (!begun) (void)impl_->drop_drafts();
  return begun;
}

Result<bool> Generation::finish(bool wait) {
  Impl& g = *impl_;
  if (ready() > 0) {
    TRY_DO(g.take_verified());
    return true;
  }
  const auto finished = g.session.finish(wait);
  if (!finished) (void)g.drop_drafts();
  if (!finished || !*finished) return finished;
  TRY_DO(g.take_run());
  return true;
}

void Generation::step(SessionBatch& batch, std::span<Turn> turns) {
  std::vector<SessionBatch::Run> runs;
  std::vector<Turn*> joined, alone;
  for (Turn& turn : turns) {
    Impl& g = *turn.answer->impl_;
    if (turn.answer->done()) {
      turn.status = invalid("the answer is done (", name_of(g.reason), ")");
    } else if (turn.answer->ready() == 0 && g.session.reads_one()) {
      runs.push_back({&g.session, g.readback()});
      joined.push_back(&turn);
    } else {
      alone.push_back(&turn);
    }
  }
  if (runs.size() < 2 || !batch.begin(runs)) {
    alone.insert(alone.end(), joined.begin(), joined.end());
  } else {
    for (Turn* turn : joined) turn->answer->impl_->piece = {};
    (void)batch.finish();  // an error is in each status
    for (size_t i = 0; i < joined.size(); ++i)
      joined[i]->status = runs[i].status ? joined[i]->answer->impl_->take_run() : std::move(runs[i].status);
  }
  for (Turn* turn : alone) turn->status = turn->answer->run(turns.size() == 1);
}

Status Generation::run(bool may_draft) {
  TRY_DO(begin_run(may_draft));
  TRY_DO(finish());
  return {};
}

Result<GeneratedPiece> Generation::next() {
  do {
    TRY_DO(run());
  } while (!impl_->piece.token && !done());
  return impl_->piece;
}

void Generation::cancel() {
  if (impl_->session.running()) (void)impl_->session.finish();
  (void)impl_->drop_drafts();
  impl_->end(StopReason::cancelled);
}

u32 Generation::ready() const { return u32(impl_->verified.size()); }
const GeneratedPiece& Generation::piece() const { return impl_->piece; }
StopReason Generation::reason() const { return impl_->reason; }
std::span<const u32> Generation::tokens() const { return impl_->answer; }
const std::string& Generation::text() const { return impl_->text; }
const GenerationStats& Generation::stats() const { return impl_->stats; }

}  // namespace pteron
