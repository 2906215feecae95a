// SPDX-License-Identifier: BSD-3-Clause
// States that were used before, so that a prompt's beginning need not be read again.
#pragma once

#include "server/engine/disk_cache.h"

namespace pteron::server {

// For the engine's thread only.
class SessionCache {
 public:
  // Bytes on the GPU that all sessions together should stay under; idle ones are dropped for it.
  explicit SessionCache(u64 budget, DiskCache* disk = nullptr) : budget_(budget), disk_(disk) {}

  // A session whose text begins as long as possible with that of the prompt: an idle one, or a copy of one that is in
  // use. Its text is not changed yet.
  Result<std::unique_ptr<Session>> acquire(const ModelPtr& model, std::span<const u32> prompt,
                                           std::span<Session* const> in_use);
  // Idle again, the most recently used.
  void release(const ModelPtr& model, std::unique_ptr<Session> session, u64 bytes_in_use);
  // Idle sessions of models that are no longer these.
  void keep_only(const std::vector<ModelPtr>& models);
  void drop_all() { idle_.clear(); }
  // The same, but on disk they stay.
  void put_away();

  u64 bytes() const;
  size_t size() const { return idle_.size(); }

 private:
  struct Idle {
    ModelPtr model;
    std::unique_ptr<Session> session;
  };
  // The session that shares most with the prompt, and how much.
  std::pair<Session*, u32> best(const ModelPtr& model, std::span<const u32> prompt,
                                std::span<Session* const> in_use) const;
  void shrink(u64 bytes_in_use);
  Result<std::unique_ptr<Session>> fresh(const ModelPtr& model);

  u64 budget_;
  DiskCache* disk_;         // or null
  std::vector<Idle> idle_;  // least recently used first
};

// How many tokens at the start of the prompt the session need not read again.
u32 shared_prefix(const Session& session, std::span<const u32> prompt);

}  // namespace pteron::server
