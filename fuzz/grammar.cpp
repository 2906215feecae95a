// SPDX-License-Identifier: BSD-3-Clause
// A regular expression ('r' first) or a JSON schema and, behind a zero byte, a text that may or may not match.
#include "fuzz.h"

#include <pteron/grammar.h>

namespace pteron::fuzz {

void target(Bytes input) {
  if (input.empty()) return;
  const auto [source, text] = split(text_of(input));
  const auto grammar = source.starts_with('r') ? Grammar::regex(source.substr(1)) : Grammar::json_schema(source);
  if (!grammar) return;
  static const std::string tokens[] = {"", "a", "{\"", "\":", "0", "12", "}", "\"", " ", "true", "\xC3", "\xA9"};
  static const u32 ends[] = {0};
  static const TokenTrie trie = *TokenTrie::build(tokens, ends);
  GrammarMatcher matcher(*grammar, trie);
  for (int step = 0; step < 8; ++step) {
    const auto allowed = matcher.allowed();
    if (!allowed) break;
    if (!matcher.advance(u32(1 + step % 11))) break;
  }
  matcher.reset();
  if (matcher.advance(text)) (void)matcher.allowed();
}

}  // namespace pteron::fuzz
