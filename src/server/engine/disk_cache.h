// SPDX-License-Identifier: BSD-3-Clause
// States of conversations in a folder, so that they outlive the memory that they had and the server itself.
#pragma once

#include "server/engine/model.h"
#include "server/engine/state_file.h"

#include <condition_variable>
#include <deque>
#include <thread>

namespace pteron::server {

// `keep` and `restore` are for the engine's thread; files are written on one of its own.
class DiskCache {
 public:
  // Makes the folder if need be and looks at what is there. Files that can't be used are left alone, with a line in
  // the log. `budget` is what all files together should stay under; the oldest go first.
  static Result<std::unique_ptr<DiskCache>> open(const std::filesystem::path& folder, u64 budget);
  // Writes what waits to be written.
  ~DiskCache();

  // Reads the state back and puts it in the queue, if it is worth that and there is room.
  void keep(const ServedModel& model, const Session& session);
  // Whether a file may have more of the prompt than `known` tokens.
  bool has_more(const ServedModel& model, std::span<const u32> prompt, u32 known) const;
  // Puts the best such state into a session that has none. False, with a line in the log, if none could be used.
  bool restore(const ServedModel& model, Session& session, std::span<const u32> prompt, u32 known);

 private:
  struct Waiting {
    StateOwner owner;
    std::vector<u32> tokens;
    std::vector<std::byte> state;
  };
  struct Entry {
    std::filesystem::path file;
    StateHead head;
  };

  DiskCache(std::filesystem::path folder, u64 budget) : folder_(std::move(folder)), budget_(budget) {}
  void look_around();
  void write_waiting();
  void add(Entry entry);
  void forget(const std::filesystem::path& file);
  const Entry* best(const std::string& model, const std::string* layout, std::span<const u32> prompt, u32 known) const;

  const std::filesystem::path folder_;
  const u64 budget_;
  mutable std::mutex mutex_;  // what follows
  std::condition_variable changed_;
  std::deque<Waiting> waiting_;
  std::vector<Entry> entries_;  // oldest first
  bool ending_ = false;
  std::thread writer_;
};

}  // namespace pteron::server
