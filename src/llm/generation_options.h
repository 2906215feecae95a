// SPDX-License-Identifier: BSD-3-Clause
// Options of an answer by their names: for other languages and pages, which all have the same.
#pragma once

#include "llm/json/json.h"

#include <pteron/generation.h>

namespace pteron {

// "maxTokens" is the same as "max_tokens". Unknown names and values of a wrong kind are errors.
Status set_option(GenerationOptions& options, std::string_view name, const Json& value);

}  // namespace pteron
