// SPDX-License-Identifier: BSD-3-Clause
#include "server/engine/disk_cache.h"

#include "base/error.h"
#include "base/path.h"
#include "base/sha256.h"

#include <algorithm>
#include <cstdio>

namespace pteron::server {
namespace {

namespace fs = std::filesystem;

constexpr u32 worth_keeping = 32;   // tokens; fewer are read again in no time
constexpr size_t most_waiting = 4;  // states in memory that wait to be written
constexpr std::string_view suffix = ".state";

void log_ignored(const fs::path& file, const Error& error) {
  std::fprintf(stderr, "pteron: cache: %s is ignored: %s\n", os::text(file).c_str(), error.to_string().c_str());
}

u32 shared_with(std::span<const u32> tokens, std::span<const u32> prompt) {
  return u32(std::ranges::mismatch(tokens, prompt).in1 - tokens.begin());
}

bool begins_with(std::span<const u32> text, std::span<const u32> beginning) {
  return beginning.size() <= text.size() && std::ranges::equal(text.first(beginning.size()), beginning);
}

std::string name_of(const StateOwner& owner, std::span<const u32> tokens) {
  Sha256 sum;
  sum.update(std::as_bytes(std::span(owner.model)));
  sum.update(std::as_bytes(std::span(owner.layout)));
  sum.update(std::as_bytes(tokens));
  return sum.finish().substr(0, 32) + std::string(suffix);
}

}  // namespace

Result<std::unique_ptr<DiskCache>> DiskCache::open(const fs::path& folder, u64 budget) {
  std::error_code error;
  if (fs::create_directories(folder, error)) fs::permissions(folder, fs::perms::owner_all, error);
  if (!fs::is_directory(folder, error)) return invalid("'", os::text(folder), "' is no folder and can't be made one");
  std::unique_ptr<DiskCache> cache(new DiskCache(folder, budget));
  cache->look_around();
  cache->writer_ = std::thread([self = cache.get()] { self->write_waiting(); });
  return cache;
}

DiskCache::~DiskCache() {
  {
    const std::scoped_lock lock(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  if (writer_.joinable()) writer_.join();
}

void DiskCache::look_around() {
  std::error_code error;
  std::vector<std::pair<fs::file_time_type, fs::path>> files;
  for (fs::directory_iterator it(folder_, error), end; !error && it != end; it.increment(error))
    if (it->path().extension() == suffix) files.emplace_back(it->last_write_time(error), it->path());
  std::ranges::sort(files);
  for (const auto& [time, file] : files) {
    auto head = read_head(file);
    if (head)
      add({file, std::move(*head)});
    else
      log_ignored(file, head.error());
  }
}

// A state that goes on from another one takes its place; the oldest go when there is no room.
void DiskCache::add(Entry entry) {
  const auto remove = [&](auto it) {
    std::error_code ignored;
    fs::remove(it->file, ignored);
    return entries_.erase(it);
  };
  for (auto it = entries_.begin(); it != entries_.end();) {
    const bool older = it->head.owner == entry.head.owner && begins_with(entry.head.tokens, it->head.tokens);
    if (older && it->file == entry.file)
      it = entries_.erase(it);
    else
      it = older ? remove(it) : it + 1;
  }
  entries_.push_back(std::move(entry));
  const auto total = [&] {
    u64 sum = 0;
    for (const Entry& e : entries_) sum += e.head.file_bytes;
    return sum;
  };
  while (!entries_.empty() && total() > budget_) remove(entries_.begin());
}

void DiskCache::forget(const fs::path& file) {
  std::erase_if(entries_, [&](const Entry& entry) { return entry.file == file; });
}

void DiskCache::write_waiting() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return ending_ || !waiting_.empty(); });
    if (waiting_.empty()) return;
    const Waiting next = std::move(waiting_.front());
    waiting_.pop_front();
    const fs::path file = folder_ / name_of(next.owner, next.tokens);
    lock.unlock();
    const Status written = write_state(file, next.owner, next.tokens, next.state);
    auto head = written ? read_head(file) : Result<StateHead>(Failure(written.error()));
    lock.lock();
    if (head)
      add({file, std::move(*head)});
    else
      std::fprintf(stderr, "pteron: cache: %s\n", head.error().to_string().c_str());
  }
}

void DiskCache::keep(const ServedModel& model, const Session& session) {
  const auto tokens = session.tokens().first(session.cached());
  if (model.hash.empty() || tokens.size() < worth_keeping || session.running()) return;
  StateOwner owner{model.hash, session.state_layout()};
  {
    const std::scoped_lock lock(mutex_);
    const auto holds = [&](const auto& owner_of, std::span<const u32> kept) {
      return owner_of == owner && begins_with(kept, tokens);
    };
    for (const Entry& e : entries_)
      if (holds(e.head.owner, e.head.tokens)) return;
    for (const Waiting& w : waiting_)
      if (holds(w.owner, w.tokens)) return;
    if (waiting_.size() >= most_waiting && !ending_) return;
    if (session.state_bytes(u32(tokens.size())) > budget_) return;
  }
  auto state = session.save();
  if (!state) {
    std::fprintf(stderr, "pteron: cache: a state was not kept: %s\n", state.error().to_string().c_str());
    return;
  }
  const std::scoped_lock lock(mutex_);
  waiting_.push_back({std::move(owner), {tokens.begin(), tokens.end()}, std::move(*state)});
  changed_.notify_all();
}

// Without a layout: of any.
const DiskCache::Entry* DiskCache::best(const std::string& model, const std::string* layout,
                                        std::span<const u32> prompt, u32 known) const {
  const Entry* found = nullptr;
  for (const Entry& entry : entries_) {
    if (entry.head.owner.model != model || (layout && entry.head.owner.layout != *layout)) continue;
    const u32 shared = shared_with(entry.head.tokens, prompt);
    if (shared >= known + worth_keeping && (!found || shared > shared_with(found->head.tokens, prompt))) found = &entry;
  }
  return found;
}

bool DiskCache::has_more(const ServedModel& model, std::span<const u32> prompt, u32 known) const {
  if (model.hash.empty()) return false;
  const std::scoped_lock lock(mutex_);
  return best(model.hash, nullptr, prompt, known) != nullptr;
}

bool DiskCache::restore(const ServedModel& model, Session& session, std::span<const u32> prompt, u32 known) {
  const std::string layout = session.state_layout();
  while (true) {
    Entry chosen;
    {
      const std::scoped_lock lock(mutex_);
      const Entry* entry = best(model.hash, &layout, prompt, known);
      if (!entry) return false;
      chosen = *entry;
    }
    const auto state = read_state(chosen.file, chosen.head, session.state_bytes(u32(chosen.head.tokens.size())));
    const Status restored = state ? session.restore(chosen.head.tokens, *state) : Failure(state.error());
    if (restored) {
      std::error_code ignored;
      fs::last_write_time(chosen.file, fs::file_time_type::clock::now(), ignored);
      return true;
    }
    log_ignored(chosen.file, restored.error());
    const std::scoped_lock lock(mutex_);
    forget(chosen.file);
  }
}

}  // namespace pteron::server
