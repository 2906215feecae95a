// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "llm/tokenizer/definition.h"

namespace pteron::tokenizer {

// Of a file with a list of merges: the next one, of two tokens into a third.
Status add_merge(Definition& definition, std::string_view left, std::string_view right);
Status add_merge(Definition& definition, std::string_view left_and_right);  // with a space between

// SentencePiece and tiktoken have no list of merges: any two neighbours merge if together they are a token, and the
// token's score decides which first. This writes the list out, for all ways to cut each token in two.
// Tokens of a type other than normal and unused take no part. Characters that are in tokens but none themselves
// become loose ones.
Status merge_by_vocabulary(const Vocabulary& vocabulary, std::span<const f32> scores, ModelData& model);

}  // namespace pteron::tokenizer
