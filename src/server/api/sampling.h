// SPDX-License-Identifier: BSD-3-Clause
// The members that say how an answer is chosen, which all endpoints share.
#pragma once

#include "server/api/json.h"
#include "server/engine/model.h"

namespace pteron::server {

struct RequestLimits {
  u32 max_tokens = 4096;  // of an answer
  u32 max_choices = 8;
  u32 max_inputs = 2048;           // texts of an embeddings request
  std::chrono::seconds time{600};  // of a request
};

// Everything but the length, the grammar and log-probabilities. A seed that is not given is chosen.
GenerationOptions read_sampling(const Fields& request, const ServedModel& model);
// Refuses at once what is too long for the context in any case: making megabytes tokens takes a while.
std::vector<u32> encode_prompt(const ServedModel& model, std::string_view text, const EncodeOptions& options,
                               const std::string& param);
// How many tokens the answer may have behind such a prompt; refuses one that leaves no room.
u64 answer_length(std::optional<i64> wanted, size_t prompt_tokens, const ServedModel& model,
                  const RequestLimits& limits, const std::string& param);
// Of response_format, or of the Responses API's text.format.
std::optional<Grammar> read_format(const Json* format, const std::string& path);

ModelPtr read_model(const Fields& request, const ModelTable& models);

}  // namespace pteron::server
