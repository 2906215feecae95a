// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>

namespace pteron {

// "maxTokens" and "max-tokens" as "max_tokens".
std::string snake_case(std::string_view name);

}  // namespace pteron
