// SPDX-License-Identifier: BSD-3-Clause
#include "llm/tokenizer/word_piece.h"

#include "base/error.h"
#include "base/utf8.h"

#include <algorithm>

namespace pteron::tokenizer {

Status WordPiece::encode(std::string_view word, std::vector<u32>& out) const {
  const auto characters = std::ranges::count_if(word, [](char c) { return (u8(c) & 0xc0) != 0x80; });
  const size_t known = out.size();
  if (u64(characters) <= model_.longest_word && cut(word, out)) return {};
  out.resize(known);
  if (!model_.unknown) return invalid("the tokenizer has no token for a word that it does not know");
  out.push_back(*model_.unknown);
  return {};
}

bool WordPiece::cut(std::string_view word, std::vector<u32>& out) const {
  std::string tried;
  for (size_t begin = 0; begin < word.size();) {
    size_t end = word.size();
    for (; end > begin; end = utf8::before(word, end)) {
      tried = begin == 0 ? "" : model_.continuing_prefix;
      tried += word.substr(begin, end - begin);
      if (const auto id = vocabulary_.find(tried)) {
        out.push_back(*id);
        break;
      }
    }
    if (end == begin) return false;
    begin = end;
  }
  return true;
}

}  // namespace pteron::tokenizer
