// SPDX-License-Identifier: BSD-3-Clause
#include "llm/grammar/trie.h"

#include "base/error.h"

#include <pteron/grammar.h>

#include <algorithm>
#include <numeric>

namespace pteron::grammar {
namespace {

constexpr size_t max_token_bytes = 4096, max_tokens = size_t(1) << 24, max_bytes = size_t(1) << 28;

size_t common_prefix(std::string_view a, std::string_view b) {
  return size_t(std::ranges::mismatch(a, b).in1 - a.begin());
}

}  // namespace

Result<Trie> Trie::build(std::span<const std::string> tokens, std::span<const u32> end_tokens) {
  if (tokens.size() > max_tokens)
    return invalid("a vocabulary of ", tokens.size(), " tokens is too large; at most ", max_tokens, " are possible");
  Trie trie;
  trie.offsets_.push_back(0);
  for (const std::string& token : tokens) {
    if (token.size() > max_token_bytes)
      return invalid("token ", trie.size(), " has ", token.size(), " bytes; at most ", max_token_bytes,
                     " are possible");
    trie.bytes_ += token;
    if (trie.bytes_.size() > max_bytes) return invalid("the vocabulary has more than ", human_bytes(max_bytes));
    trie.offsets_.push_back(u32(trie.bytes_.size()));
  }
  for (u32 token : end_tokens)
    if (token >= tokens.size())
      return invalid("end token ", token, " is outside of the vocabulary of ", tokens.size(), " tokens");
  trie.end_tokens_.assign(end_tokens.begin(), end_tokens.end());

  std::vector<u32> order;
  for (u32 t = 0; t < trie.size(); ++t)
    if (!trie.bytes_of(t).empty() && !trie.is_end(t)) order.push_back(t);
  std::ranges::stable_sort(order, {}, [&](u32 t) { return trie.bytes_of(t); });
  trie.arrange(order);
  return trie;
}

// Tokens in alphabetical order give the nodes in the order of a walk.
void Trie::arrange(std::span<const u32> order) {
  std::vector<u32> path;  // nodes from the root to the last token
  const auto close = [&](size_t depth) {
    for (; path.size() > depth; path.pop_back()) nodes_[path.back()].behind = u32(nodes_.size());
  };
  std::string_view before;
  for (u32 token : order) {
    const std::string_view text = bytes_of(token);
    close(common_prefix(before, text));
    for (size_t depth = path.size(); depth < text.size(); ++depth) {
      path.push_back(u32(nodes_.size()));
      nodes_.push_back({0, u32(ending_.size()), u16(depth), u8(text[depth])});
    }
    max_depth_ = std::max(max_depth_, u32(text.size()));
    ending_.push_back(token);
    before = text;
  }
  close(0);
  nodes_.push_back({0, u32(ending_.size()), 0, 0});
}

bool Trie::is_end(u32 token) const { return std::ranges::find(end_tokens_, token) != end_tokens_.end(); }

}  // namespace pteron::grammar

namespace pteron {

Result<TokenTrie> TokenTrie::build(std::span<const std::string> tokens, std::span<const u32> end_tokens) {
  TRY(auto trie, grammar::Trie::build(tokens, end_tokens));
  return TokenTrie(std::make_shared<const grammar::Trie>(std::move(trie)));
}

}  // namespace pteron
