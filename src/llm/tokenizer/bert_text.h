// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "llm/tokenizer/definition.h"

namespace pteron::tokenizer {

// The text as BERT's models read it.
std::string bert_text(std::string_view text, const BertText& rules);

}  // namespace pteron::tokenizer
