// SPDX-License-Identifier: BSD-3-Clause
// The conversation of a request, as a chat template takes it.
#pragma once

#include "server/api/json.h"
#include "server/engine/model.h"

namespace pteron::server {

// Checks `messages`: roles, content as text or as parts, calls and their results.
Json read_messages(const Fields& request);
// The text of a message's content, which may be parts.
std::string read_content(const Json* content, const std::string& path);
// Calls and results written into the text, for a template that does not know tools.
Json without_tool_messages(Json messages);
// As text in front of everything, in the system message if there is one.
void add_system_text(Json& messages, const std::string& text);

}  // namespace pteron::server
