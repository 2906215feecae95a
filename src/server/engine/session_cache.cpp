// SPDX-License-Identifier: BSD-3-Clause
#include "server/engine/session_cache.h"

#include "base/error.h"

#include <algorithm>

namespace pteron::server {
namespace {

constexpr u32 worth_copying = 16;  // tokens; fewer are read again sooner than a state is copied

}  // namespace

u32 shared_prefix(const Session& session, std::span<const u32> prompt) {
  const auto differing = std::ranges::mismatch(session.tokens(), prompt);
  return std::min(u32(differing.in2 - prompt.begin()), session.cached());
}

u64 SessionCache::bytes() const {
  u64 sum = 0;
  for (const Idle& idle : idle_) sum += idle.session->stats().gpu_bytes;
  return sum;
}

void SessionCache::shrink(u64 bytes_in_use) {
  while (!idle_.empty() && bytes() + bytes_in_use > budget_) {
    if (disk_) disk_->keep(*idle_[0].model, *idle_[0].session);
    idle_.erase(idle_.begin());
  }
}

void SessionCache::put_away() {
  if (disk_)
    for (const Idle& idle : idle_) disk_->keep(*idle.model, *idle.session);
  idle_.clear();
}

void SessionCache::keep_only(const std::vector<ModelPtr>& models) {
  std::erase_if(idle_, [&](const Idle& idle) {
    const bool old = std::ranges::find(models, idle.model) == models.end();
    if (old && disk_) disk_->keep(*idle.model, *idle.session);
    return old;
  });
}

Result<std::unique_ptr<Session>> SessionCache::fresh(const ModelPtr& model) {
  auto made = model->model.session();
  if (!made && made.error().kind == ErrorKind::out_of_memory && !idle_.empty()) {
    idle_.clear();
    made = model->model.session();
  }
  if (!made) return Failure(made.error());
  return std::make_unique<Session>(std::move(*made));
}

std::pair<Session*, u32> SessionCache::best(const ModelPtr& model, std::span<const u32> prompt,
                                            std::span<Session* const> in_use) const {
  Session* source = nullptr;
  u32 most = 0;
  const auto consider = [&](Session& session) {
    const u32 shared = shared_prefix(session, prompt);
    if (shared > most) source = &session, most = shared;
  };
  for (Session* session : in_use) consider(*session);
  for (const Idle& idle : idle_)
    if (idle.model == model) consider(*idle.session);
  return {source, most};
}

Result<std::unique_ptr<Session>> SessionCache::acquire(const ModelPtr& model, std::span<const u32> prompt,
                                                       std::span<Session* const> in_use) {
  if (const u32 known = best(model, prompt, in_use).second; disk_ && disk_->has_more(*model, prompt, known)) {
    TRY(auto session, fresh(model));
    if (disk_->restore(*model, *session, prompt, known)) return session;
  }
  const auto [source, most] = best(model, prompt, in_use);
  const auto it = std::ranges::find(idle_, source, [](const Idle& idle) { return idle.session.get(); });
  // Taking an idle one over loses what it knows behind the common part, so a long rest is worth a copy.
  const bool take = it != idle_.end() && source->cached() - most <= std::max(most, worth_copying);
  if (take) {
    auto session = std::move(it->session);
    idle_.erase(it);
    return session;
  }
  if (source && most >= worth_copying)
    if (auto copy = source->fork()) return std::make_unique<Session>(std::move(*copy));
  return fresh(model);
}

void SessionCache::release(const ModelPtr& model, std::unique_ptr<Session> session, u64 bytes_in_use) {
  if (session->cached() > 0) idle_.push_back({model, std::move(session)});
  shrink(bytes_in_use);
}

}  // namespace pteron::server
