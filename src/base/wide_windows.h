// SPDX-License-Identifier: BSD-3-Clause
// Text as Windows takes it.
#pragma once

#include <string>
#include <string_view>

namespace pteron::os {

// What is no valid text becomes U+FFFD.
std::wstring to_wide(std::string_view utf8);
std::string to_utf8(std::wstring_view wide);

// What GetLastError says, in words.
std::string last_error();

}  // namespace pteron::os
