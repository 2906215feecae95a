// SPDX-License-Identifier: BSD-3-Clause
// A request to go on with texts.
#pragma once

#include "server/api/sampling.h"

namespace pteron::server {

struct CompletionRequest {
  struct Prompt {
    std::vector<u32> tokens;
    std::string echo;  // what is repeated in front of the answer
  };

  ModelPtr model;
  std::vector<Prompt> prompts;
  GenerationOptions options;
  std::optional<i64> max_tokens;
  u32 choices = 1;  // of each prompt
  bool stream = false, include_usage = false;
};

CompletionRequest read_completion(const Json& body, const ModelTable& models, const RequestLimits& limits);
// Refuses what is not a token of the vocabulary.
std::vector<u32> read_tokens(const Json& list, const std::string& path, u32 vocabulary);

}  // namespace pteron::server
