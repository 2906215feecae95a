// SPDX-License-Identifier: BSD-3-Clause
// Functions that every template can call.
#pragma once

#include "llm/jinja/renderer.h"

namespace pteron::jinja {

struct NamedFunction {
  std::string_view name;
  Function::Body body;
};
std::span<const NamedFunction> global_functions();

// Python's strftime in the C locale, of seconds since 1970.
Result<std::string> format_time(i64 seconds, std::string_view format);

}  // namespace pteron::jinja
