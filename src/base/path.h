// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <string>

namespace pteron::os {

// What std::filesystem and streams take for a path in UTF-8. On Windows they would take the text itself for one in the
// system's code page.
std::filesystem::path path(const std::string& utf8);
// And back. `path::string()` would give the system's code page there.
std::string text(const std::filesystem::path& path);

}  // namespace pteron::os
