// SPDX-License-Identifier: BSD-3-Clause
// A request for an answer to a conversation, checked, and what the engine and the answer need of it.
#pragma once

#include "server/api/answer_parts.h"
#include "server/api/sampling.h"
#include "server/api/tools.h"

namespace pteron::server {

struct ChatRequest {
  ModelPtr model;
  Json messages;
  ToolUse tools;
  Json variables = Json::object();  // of the template
  GenerationOptions options;
  std::optional<i64> max_tokens;
  u32 choices = 1;
  bool stream = false, include_usage = false;
};

// A request that is ready to run.
struct PreparedChat {
  std::vector<u32> prompt;
  GenerationOptions options;
  CallForm calls = CallForm::none;
  bool thinking = false;  // the prompt ends inside of the model's thoughts
};

ChatRequest read_chat(const Json& body, const ModelTable& models, const RequestLimits& limits);
// Renders the template.
PreparedChat prepare(const ChatRequest& request, const RequestLimits& limits);

}  // namespace pteron::server
