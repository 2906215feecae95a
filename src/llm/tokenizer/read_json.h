// SPDX-License-Identifier: BSD-3-Clause
// The parts of a tokenizer.json.
#pragma once

#include "llm/json/json.h"
#include "llm/tokenizer/definition.h"

namespace pteron::llm {

// Each takes the value of the key of its name.
Status read_normalizer(const Json& json, std::vector<NormalizerStep>& steps);
Status read_pre_tokenizer(const Json& json, std::vector<PreTokenizerStep>& steps);
Status read_decoder(const Json& json, std::vector<DecoderStep>& steps);
Status read_post_processor(const Json& json, Template& surroundings);
Status read_model(const Json& json, Definition& definition);

constexpr std::string_view joining_names[] = {"Removed", "Isolated", "MergedWithPrevious", "MergedWithNext",
                                              "Contiguous"};
constexpr std::string_view form_names[] = {"NFD", "NFC", "NFKD", "NFKC"};
constexpr std::string_view prefix_names[] = {"never", "first", "always"};

}  // namespace pteron::llm
