// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "llm/tokenizer/definition.h"

namespace pteron::tokenizer {

// The tokenizer in the metadata of a GGUF file, under the names it has there behind "tokenizer.ggml.".
struct Metadata {
  std::string model;  // "gpt2" (byte-level), "llama" (SentencePiece) or "t5" (SentencePiece unigram)
  std::string pre;    // how text is cut into words: "llama-bpe", "qwen2", "smollm", …
  std::vector<std::string> tokens;
  std::vector<f32> scores;          // of the SentencePiece models
  std::vector<i32> token_type;      // 1 normal, 2 unknown, 3 control, 4 user-defined, 5 unused, 6 byte
  std::vector<std::string> merges;  // of gpt2: "left right"
  std::optional<u32> bos_token_id, eos_token_id, unknown_token_id, padding_token_id;
  // What is absent in the file takes the default that the format has for it.
  std::optional<bool> add_bos_token, add_eos_token, add_space_prefix, remove_extra_whitespaces;
  std::string precompiled_charsmap;
};

// Names the way to cut words by `pre`; an error lists the ways that are known.
Result<Definition> define(const Metadata& metadata);

}  // namespace pteron::tokenizer
