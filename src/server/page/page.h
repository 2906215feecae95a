// SPDX-License-Identifier: BSD-3-Clause
// The chat page at the server's root; page.html, embedded by the build.
#pragma once

#include <string_view>

namespace pteron::server {

extern const std::string_view page_html;

}  // namespace pteron::server
