// SPDX-License-Identifier: BSD-3-Clause
// All tokens of a vocabulary as a tree of bytes, laid out in the order in which it is walked.
#pragma once

#include <pteron/result.h>
#include <pteron/types.h>

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pteron::grammar {

class Trie {
 public:
  struct Node {
    u32 behind = 0;       // the node to go on with if this one's byte is refused
    u32 first_token = 0;  // the tokens that end here are up to the next node's
    u16 depth = 0;        // 0 for a token's first byte
    u8 byte = 0;
  };

  static Result<Trie> build(std::span<const std::string> tokens, std::span<const u32> end_tokens);

  std::span<const Node> nodes() const { return {nodes_.data(), nodes_.size() - 1}; }
  std::span<const u32> tokens_at(u32 node) const {
    return {ending_.data() + nodes_[node].first_token, nodes_[node + 1].first_token - nodes_[node].first_token};
  }
  u32 max_depth() const { return max_depth_; }

  u32 size() const { return u32(offsets_.size() - 1); }
  u32 mask_words() const { return (size() + 63) / 64; }
  std::string_view bytes_of(u32 token) const {
    return std::string_view(bytes_).substr(offsets_[token], offsets_[token + 1] - offsets_[token]);
  }
  std::span<const u32> end_tokens() const { return end_tokens_; }
  bool is_end(u32 token) const;

 private:
  void arrange(std::span<const u32> order);

  std::vector<Node> nodes_;  // and one behind the last
  std::vector<u32> ending_;
  std::string bytes_;
  std::vector<u32> offsets_, end_tokens_;
  u32 max_depth_ = 0;
};

}  // namespace pteron::grammar
