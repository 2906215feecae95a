// SPDX-License-Identifier: BSD-3-Clause
// The Responses API: another form of the same requests and answers.
#pragma once

#include "server/api/answer.h"
#include "server/api/chat_request.h"

namespace pteron::server {

// `echo`: the members of the request that the response object repeats.
struct ResponsesRequest {
  ChatRequest chat;
  Json echo;
};

ResponsesRequest read_responses(const Json& body, const ModelTable& models);

std::unique_ptr<AnswerWriter> response_object(std::shared_ptr<http::Reply> reply, const ResponsesRequest& request);
std::unique_ptr<AnswerWriter> response_events(std::shared_ptr<http::Reply> reply, const ResponsesRequest& request);

}  // namespace pteron::server
