// SPDX-License-Identifier: BSD-3-Clause
// The parts of a tokenizer.json.
#pragma once

#include "llm/json/json.h"
#include "llm/tokenizer/definition.h"

namespace pteron::tokenizer {

// Each takes the value of the key of its name.
Status read_normalizer(const Json& json, std::vector<NormalizerStep>& steps);
Status read_pre_tokenizer(const Json& json, std::vector<PreTokenizerStep>& steps);
Status read_decoder(const Json& json, std::vector<DecoderStep>& steps);
Status read_post_processor(const Json& json, Template& surroundings);
Status read_model(const Json& json, Definition& definition);

}  // namespace pteron::tokenizer
