// SPDX-License-Identifier: BSD-3-Clause
// A tokenizer's file, whichever kind it is, and a text for it.
#include "fuzz.h"

#include <pteron/tokenizer.h>

namespace pteron::fuzz {

void target(Bytes input) {
  const auto tokenizer = Tokenizer::load(input);
  if (!tokenizer) return;
  const std::string_view whole = text_of(input);
  for (std::string_view text :
       {std::string_view("Hello  wörld 123 <|im_end|>\n日本 "), whole.substr(whole.size() / 2, 64)}) {
    const auto ids = tokenizer->encode(text);
    if (ids) (void)tokenizer->decode(*ids);
  }
  const u32 ids[] = {0, 1, tokenizer->vocab_size(), 0xFFFFFFFF};
  (void)tokenizer->decode(ids);
}

}  // namespace pteron::fuzz
