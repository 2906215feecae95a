// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdio>
#include <optional>
#include <string>

namespace pteron::cli {

// What stands before the next end of a line; nothing at the end of the stream or if reading was broken off.
inline std::optional<std::string> read_stream_line(std::FILE* stream) {
  std::string out;
  for (int c; (c = std::getc(stream)) != EOF; out += char(c))
    if (c == '\n') return out;
  if (out.empty() || std::ferror(stream)) return std::nullopt;
  return out;
}

}  // namespace pteron::cli
