// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace pteron::llm {

std::string to_base64(std::string_view bytes);
// Nothing if it is not well formed.
std::optional<std::string> from_base64(std::string_view text);

}  // namespace pteron::llm
