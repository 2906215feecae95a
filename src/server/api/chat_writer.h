// SPDX-License-Identifier: BSD-3-Clause
// Answers as chat.completion and text_completion objects, whole or in chunks.
#pragma once

#include "server/api/answer.h"
#include "server/api/json.h"

namespace pteron::server {

struct ObjectHead {
  std::string id, object;
  i64 created = 0;
  std::string model;
};

Json to_json(const Usage& usage);

std::unique_ptr<AnswerWriter> chat_object(std::shared_ptr<http::Reply> reply, u32 choices, ObjectHead head,
                                          bool logprobs);
std::unique_ptr<AnswerWriter> chat_chunks(std::shared_ptr<http::Reply> reply, u32 choices, ObjectHead head,
                                          bool logprobs, bool include_usage);
// `echoes`: a text in front of each choice's own.
std::unique_ptr<AnswerWriter> completion_object(std::shared_ptr<http::Reply> reply, ObjectHead head, bool logprobs,
                                                std::vector<std::string> echoes);
std::unique_ptr<AnswerWriter> completion_chunks(std::shared_ptr<http::Reply> reply, ObjectHead head, bool logprobs,
                                                bool include_usage, std::vector<std::string> echoes);

}  // namespace pteron::server
