// SPDX-License-Identifier: BSD-3-Clause
// Constrained decoding: a grammar says which tokens may come next.
//
//   auto grammar = pteron::Grammar::json_schema(R"({"type": "object", "properties": {"age": {"type": "integer"}}})");
//   auto trie    = pteron::TokenTrie::build(token_bytes, end_tokens);
//   pteron::GrammarMatcher matcher(*grammar, *trie);
//   while (!matcher.is_complete()) {
//     auto allowed = matcher.allowed();                    // bits for Sampler::sample
//     matcher.advance(sampler.sample(logits, *allowed)->token);
//   }
#pragma once

#include <pteron/sampler.h>

#include <memory>
#include <string>
#include <string_view>

namespace pteron {

namespace grammar {
class Automaton;
class Trie;
}  // namespace grammar

struct JsonFormat {
  // White space that may stand between two elements, in bytes; 0: none at all. There is none around the whole value.
  u32 max_whitespace = 24;
};

// One value after another: each but the last is followed by `end` and `begin`, the last one by nothing or `end`.
struct JsonSeries {
  u32 most = 1;
  std::string_view begin, end;
};

// Immutable; copies are the same grammar.
class Grammar {
 public:
  // The whole text matches. Classes, groups, alternatives, * + ? {m,n}; \d \w \s as in Python, for all of Unicode.
  // \p{…} by category. Look-around, back references, \b and flags are refused.
  static Result<Grammar> regex(std::string_view pattern);
  // Any JSON value.
  static Result<Grammar> json(const JsonFormat& format = {});
  // JSON that the schema accepts. Members come in the order of `properties`; further ones only where
  // `additionalProperties` is given, or where there are no `properties`. Keywords that can't be kept are refused.
  // `oneOf` means the same as `anyOf`.
  static Result<Grammar> json_schema(std::string_view schema, const JsonFormat& format = {},
                                     const JsonSeries& series = {});

  explicit Grammar(std::shared_ptr<const grammar::Automaton> automaton) : automaton_(std::move(automaton)) {}
  const std::shared_ptr<const grammar::Automaton>& automaton() const { return automaton_; }

 private:
  std::shared_ptr<const grammar::Automaton> automaton_;
};

// A tokenizer's vocabulary, arranged for grammars. Immutable; copies are the same.
class TokenTrie {
 public:
  // The bytes of each token. An empty string: the token is no text (a control token) and never allowed, unless it is
  // one of `end_tokens`: those are allowed where the text may end.
  static Result<TokenTrie> build(std::span<const std::string> tokens, std::span<const u32> end_tokens);

  explicit TokenTrie(std::shared_ptr<const grammar::Trie> trie) : trie_(std::move(trie)) {}
  const std::shared_ptr<const grammar::Trie>& trie() const { return trie_; }

 private:
  std::shared_ptr<const grammar::Trie> trie_;
};

// Follows one text. Masks are remembered, so keep a matcher and reset it for the next text with the same grammar.
class GrammarMatcher {
 public:
  GrammarMatcher(const Grammar& grammar, const TokenTrie& trie);
  GrammarMatcher(GrammarMatcher&&) noexcept;
  GrammarMatcher& operator=(GrammarMatcher&&) noexcept;
  ~GrammarMatcher();

  // Which tokens may come next. Valid until the next call. An error if there are none.
  Result<TokenMask> allowed();
  // Goes on behind a token. One that is not allowed is an error and changes nothing.
  Status advance(u32 token);
  // The same for text that did not come from tokens.
  Status advance(std::string_view text);

  bool can_end() const;      // the text so far matches
  bool is_complete() const;  // and nothing can follow, or an end token came
  void reset();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace pteron
