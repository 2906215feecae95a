// SPDX-License-Identifier: BSD-3-Clause
#include "base/error.h"
#include "llm/grammar/machine.h"
#include "llm/grammar/trie.h"

#include <pteron/grammar.h>

#include <algorithm>

namespace pteron {

using grammar::Machine;
using grammar::Trie;

namespace {

constexpr size_t max_masks = 256;

// The text of a token for a message: what is not printable becomes its code.
std::string quoted(std::string_view text) {
  static constexpr char digits[] = "0123456789abcdef";
  std::string out = "'";
  for (char c : text.substr(0, 64)) {
    if (c >= ' ' && c < 0x7F)
      out += c;
    else
      (out += "\\x") += {digits[u8(c) >> 4], digits[u8(c) & 15]};
  }
  return out += "'";
}

}  // namespace

struct GrammarMatcher::Impl {
  Impl(const Grammar& g, const TokenTrie& t) : machine(g.automaton()), trie(t.trie()) {}

  Result<TokenMask> allowed();
  Result<std::vector<u64>> make_mask();
  Status advance(std::string_view text);
  // The machine's start is worked out when it is first needed.
  Status ready() {
    if (!started) {
      TRY(at, machine.start());
      started = true;
    }
    const u32 generation = machine.generation();
    at = machine.begin_work(at);
    if (generation != machine.generation() || masks.size() > max_masks) masks.clear();
    return {};
  }

  Machine machine;
  std::shared_ptr<const Trie> trie;
  Machine::SetId at = Machine::dead;
  bool started = false, ended = false;
  std::unordered_map<Machine::SetId, std::vector<u64>> masks;
  std::vector<Machine::SetId> path;
};

Result<std::vector<u64>> GrammarMatcher::Impl::make_mask() {
  std::vector<u64> mask(trie->mask_words(), 0);
  bool any = false;
  path.resize(trie->max_depth() + 1);
  path[0] = at;
  const auto nodes = trie->nodes();
  for (u32 i = 0; i < nodes.size();) {
    const Trie::Node& node = nodes[i];
    Machine::SetId to = machine.known_step(path[node.depth], node.byte);
    if (to == Machine::unknown) {
      TRY(to, machine.step(path[node.depth], node.byte));
    }
    if (to == Machine::dead) {
      i = node.behind;
      continue;
    }
    path[node.depth + 1] = to;
    for (u32 token : trie->tokens_at(i)) {
      mask[token / 64] |= u64(1) << token % 64;
      any = true;
    }
    ++i;
  }
  if (machine.accepts(at))
    for (u32 token : trie->end_tokens()) {
      mask[token / 64] |= u64(1) << token % 64;
      any = true;
    }
  if (any) return mask;
  return invalid(machine.accepts(at) ? "the text is complete, but the vocabulary has no end token"
                                     : "no token of the vocabulary can go on with this text");
}

Result<TokenMask> GrammarMatcher::Impl::allowed() {
  if (ended) return invalid("the text has ended; reset the matcher for another one");
  TRY_DO(ready());
  const auto found = masks.find(at);
  if (found != masks.end()) return TokenMask(found->second);
  TRY(auto mask, make_mask());
  return TokenMask(masks.emplace(at, std::move(mask)).first->second);
}

Status GrammarMatcher::Impl::advance(std::string_view text) {
  if (ended) return invalid("the text has ended; reset the matcher for another one");
  TRY_DO(ready());
  Machine::SetId to = at;
  for (char byte : text) {
    TRY(to, machine.step(to, u8(byte)));
    if (to == Machine::dead) return invalid("the grammar does not allow ", quoted(text), " here");
  }
  at = to;
  return {};
}

GrammarMatcher::GrammarMatcher(const Grammar& grammar, const TokenTrie& trie)
    : impl_(std::make_unique<Impl>(grammar, trie)) {}
GrammarMatcher::GrammarMatcher(GrammarMatcher&&) noexcept = default;
GrammarMatcher& GrammarMatcher::operator=(GrammarMatcher&&) noexcept = default;
GrammarMatcher::~GrammarMatcher() = default;

Result<TokenMask> GrammarMatcher::allowed() { return impl_->allowed(); }

Status GrammarMatcher::advance(std::string_view text) { return impl_->advance(text); }

Status GrammarMatcher::advance(u32 token) {
  const Trie& trie = *impl_->trie;
  if (token >= trie.size())
    return invalid("token ", token, " is outside of the vocabulary of ", trie.size(), " tokens");
  if (trie.is_end(token)) {
    if (!can_end()) return invalid("the text can't end here, but token ", token, " ends it");
    impl_->ended = true;
    return {};
  }
  const std::string_view text = trie.bytes_of(token);
  if (text.empty()) return invalid("token ", token, " is a control token, which no grammar allows");
  return impl_->advance(text);
}

bool GrammarMatcher::can_end() const { return impl_->ready() && impl_->machine.accepts(impl_->at); }
bool GrammarMatcher::is_complete() const { return impl_->ended || (can_end() && !impl_->machine.goes_on(impl_->at)); }

void GrammarMatcher::reset() {
  impl_->started = false;
  impl_->ended = false;
}

}  // namespace pteron
