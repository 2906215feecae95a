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
  while (!idle_.empty() && bytes() + bytes_in_use > budget_) idle_.erase(idle_.begin());
}

void SessionCache::keep_only(const std::vector<ModelPtr>& models) {
  std::erase_if(idle_, [&](const Idle& idle) { return std::ranges::find(models, idle.model) == models.end(); });
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

Result<std::unique_ptr<Session>> SessionCache::acquire(const ModelPtr& model, std::span<const u32> prompt,
                                                       std::span<Session* const> in_use) {
  Session* source = nullptr;
  u32 most = 0;
  const auto consider = [&](Session& session) {
    const u32 shared = shared_prefix(session, prompt);
    if (shared > most) source = &session, most = shared;
  };
  for (Session* session : in_use) consider(*session);
  for (const Idle& idle : idle_)
    if (idle.model == model) consider(*idle.session);
  const auto it = std::ranges::find_if(idle_, [&](const Idle& idle) { return idle.session.get() == source; });
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
