// SPDX-License-Identifier: BSD-3-Clause
#include "llm/session_impl.h"

#include <algorithm>

namespace pteron {

Status Session::Impl::check(std::span<const u32> more, size_t kept) const {
  for (u32 token : more)
    if (token >= info->vocab_size)
      return invalid("token ", token, " is outside of the model's vocabulary of ", info->vocab_size);
  if (kept + more.size() > info->context)
    return invalid("the text has ", kept + more.size(), " tokens, but the model's context holds ", info->context,
                   "; shorten it");
  return {};
}

// State that is not a cache by position can't be rewound: the text is read again from its start.
Status Session::Impl::forget_behind(u32 length) {
  answer = Readback::none;
  if (length >= cached) return {};
  auto rewound = method.rewind(length);
  if (!rewound && rewound.error().kind != ErrorKind::unsupported) return rewound;
  if (!rewound) TRY_DO(method.reset());
  cached = rewound ? length : 0;
  return {};
}

OutputSet Session::Impl::outputs_of(Readback readback) const {
  const u32 added = info->outputs;
  switch (readback) {
    case Readback::none: return {};
    case Readback::best: return {added};
    case Readback::best_of_each: return {added + 4};
    case Readback::candidates: return {added + 1, added + 2};
    case Readback::scored: return {added + 1, added + 2, added + 3};
    case Readback::logits: return {0};
  }
  return {};
}

Session::Session(Method method, std::shared_ptr<const ModelInfo> info)
    : impl_(new Impl{.method = std::move(method), .info = std::move(info)}) {}
Session::Session(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Session::Session(Session&&) noexcept = default;
Session& Session::operator=(Session&&) noexcept = default;
Session::~Session() = default;

const ModelInfo& Session::info() const { return *impl_->info; }
std::span<const u32> Session::tokens() const { return impl_->tokens; }
u32 Session::cached() const { return impl_->cached; }
u32 Session::room() const { return impl_->info->context - u32(impl_->tokens.size()); }
bool Session::running() const { return impl_->running; }
Readback Session::answer() const { return impl_->answer; }
MethodStats Session::stats() const { return impl_->method.stats(); }
void Session::set_profiling(bool on) { impl_->method.set_profiling(on); }
std::vector<OpTiming> Session::profile() const { return impl_->method.profile(); }

Status Session::append(std::span<const u32> tokens) {
  TRY_DO(impl_->check_idle());
  TRY_DO(impl_->check(tokens, impl_->tokens.size()));
  impl_->tokens.insert(impl_->tokens.end(), tokens.begin(), tokens.end());
  if (!tokens.empty()) impl_->answer = Readback::none;
  return {};
}

Result<u32> Session::replace(std::span<const u32> tokens) {
  TRY_DO(impl_->check_idle());
  TRY_DO(impl_->check(tokens, 0));
  auto& mine = impl_->tokens;
  const auto differing = std::ranges::mismatch(mine, tokens);
  TRY_DO(impl_->forget_behind(u32(differing.in1 - mine.begin())));
  mine.assign(tokens.begin(), tokens.end());
  return impl_->cached;
}

Status Session::rewind(u32 length) {
  TRY_DO(impl_->check_idle());
  if (length > impl_->tokens.size())
    return invalid("can't rewind to ", length, " tokens: the text has only ", impl_->tokens.size());
  TRY_DO(impl_->forget_behind(length));
  impl_->tokens.resize(length);
  return {};
}

Result<Session> Session::fork() {
  TRY_DO(impl_->check_idle());
  TRY(Method method, impl_->method.clone());
  Session out(std::move(method), impl_->info);
  out.impl_->tokens = impl_->tokens;
  out.impl_->cached = impl_->cached;
  return out;
}

Status Session::Impl::prepare(Readback readback) {
  TRY_DO(check_idle());
  if (readback == Readback::best_of_each && !info->verifies_drafts())
    return unsupported("the program gives only the logits of the last token of a run");
  if (tokens.empty()) return invalid("there is nothing to read: the text has no tokens");
  const u32 size = u32(tokens.size());
  if (cached == size) TRY_DO(forget_behind(size - 1));
  u32 count = std::min(size - cached, info->max_run);
  // All rows would be copied: the last token gets a run of its own.
  if (readback == Readback::logits && info->every_token && info->kv_cache && cached + count == size && count > 1)
    --count;
  position = cached;
  input.assign(tokens.begin() + cached, tokens.begin() + cached + count);
  wanted = cached + count == size ? readback : Readback::none;
  answer = Readback::none;
  return {};
}

std::span<const TensorView> Session::Impl::inputs() {
  views = {TensorView{DType::i64, Shape{1, u32(input.size())}, std::as_bytes(std::span(input))},
           TensorView{DType::i64, Shape{1}, std::as_bytes(std::span(&position, 1))}};
  return std::span(views).first(info->position ? 2 : 1);
}

void Session::Impl::conclude() {
  if (info->kv_cache) cached += u32(input.size());
  answer = wanted;
}

bool Session::reads_one() const {
  const Impl& s = *impl_;
  return s.info->kv_cache && !s.tokens.empty() && s.cached + 1 >= s.tokens.size();
}

Status Session::begin(Readback wanted) {
  Impl& s = *impl_;
  TRY_DO(s.prepare(wanted));
  TRY_DO(s.method.begin(s.inputs(), s.outputs_of(s.wanted)));
  s.running = true;
  return {};
}

Result<bool> Session::finish(bool wait) {
  Impl& s = *impl_;
  if (!s.running) return invalid("the session is not running; call begin first");
  const auto done = s.method.finish(wait);
  if (done && !*done) return false;
  s.running = false;
  if (!done) return Failure(done.error());
  s.conclude();
  return true;
}

u32 Session::best() const { return u32(impl_->output(0).as<i32>()[0]); }

std::span<const i32> Session::best_of_each() const { return impl_->output(4).as<i32>(); }

Candidates Session::candidates() const { return {impl_->output(1).as<f32>(), impl_->output(2).as<i32>()}; }

f32 Session::log_sum_exp() const { return impl_->output(3).as<f32>()[0]; }

std::span<const f32> Session::logits() const {
  return impl_->method.outputs()[0].as<f32>().last(impl_->info->vocab_size);
}

std::string Session::state_layout() const { return impl_->method.state_layout(); }
u64 Session::state_bytes(u32 tokens) const { return impl_->method.state_bytes(tokens); }

Result<std::vector<std::byte>> Session::save() const {
  TRY_DO(impl_->check_idle());
  return impl_->method.save_state(impl_->cached);
}

Status Session::restore(std::span<const u32> tokens, Bytes state) {
  TRY_DO(impl_->check_idle());
  TRY_DO(impl_->check(tokens, 0));
  if (!impl_->info->kv_cache) return unsupported("the model remembers nothing that could be restored");
  impl_->answer = Readback::none;
  impl_->tokens.clear();
  impl_->cached = 0;
  TRY_DO(impl_->method.restore_state(u32(tokens.size()), state));
  impl_->tokens.assign(tokens.begin(), tokens.end());
  impl_->cached = u32(tokens.size());
  return {};
}

}  // namespace pteron
