// SPDX-License-Identifier: BSD-3-Clause
// The formats that tokenizers come in.
#pragma once

#include "llm/json/json.h"
#include "llm/tokenizer/definition.h"

namespace pteron::tokenizer {

// Sees from the bytes which format it is.
Result<Definition> read_any(std::string_view file);

Result<Definition> read_json(std::string_view text);  // one of the next two
Result<Definition> read_hugging_face(const Json& root);
Result<Definition> read_metadata(const Json& root);
Result<Definition> read_sentence_piece(std::string_view protobuf);
Result<Definition> read_tiktoken(std::string_view lines);

// Sets what a tokenizer_config.json says about the roles of tokens.
Status apply_config(std::string_view json, Definition& definition);

}  // namespace pteron::tokenizer
