// SPDX-License-Identifier: BSD-3-Clause
// A state on disk: magic, version, sizes, hash of the model, layout, tokens, the state's bytes, and a checksum of all
// that. Anyone may have written to such a file, so nothing in it is believed: sizes have to add up to the file's before
// anything of that size is allocated, and the reader says how much it expects.
#pragma once

#include <pteron/result.h>
#include <pteron/types.h>

#include <filesystem>
#include <string>
#include <vector>

namespace pteron::server {

// What a state belongs to.
struct StateOwner {
  std::string model;  // the hash of its file, 64 digits
  std::string layout;
  friend bool operator==(const StateOwner&, const StateOwner&) = default;
};

struct StateHead {
  StateOwner owner;
  std::vector<u32> tokens;
  u64 file_bytes = 0;
};

// Readable for this user alone: the tokens are what was said. The file appears at once or not at all.
Status write_state(const std::filesystem::path& file, const StateOwner& owner, std::span<const u32> tokens,
                   Bytes state);
// All but the state; the checksum is not looked at.
Result<StateHead> read_head(const std::filesystem::path& file);
// The state, if it is `bytes` long, the file has this head, and the checksum is right.
Result<std::vector<std::byte>> read_state(const std::filesystem::path& file, const StateHead& head, u64 bytes);

}  // namespace pteron::server
