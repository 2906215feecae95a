// SPDX-License-Identifier: BSD-3-Clause
// Tools that a model may ask to be called.
#pragma once

#include "server/api/json.h"
#include "server/engine/model.h"

namespace pteron::server {

struct Tool {
  std::string name, description;
  Json parameters;  // a JSON schema
};

struct ToolUse {
  enum Choice { none, automatic, required } choice = none;
  std::vector<Tool> tools;  // with a named choice: that one alone
  bool several = false;     // calls in one answer

  bool forced() const { return choice == required; }
};

// `tools` and `tool_choice`. In the Responses API a tool's members stand beside its type; tools of other kinds than
// functions are left out there and refused elsewhere.
ToolUse read_tools(const Fields& request, bool responses_api);

// As chat templates expect them.
std::string tools_for_template(const ToolUse& use);
// For a model whose template does not know tools.
std::string tools_as_text(const ToolUse& use);
// A call of one of the tools; several of them if the model's style can tell them apart.
Grammar call_grammar(const ToolUse& use, const ToolStyle& style);

}  // namespace pteron::server
