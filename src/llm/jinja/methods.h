// SPDX-License-Identifier: BSD-3-Clause
// The methods of Python's types that templates may call; none that change a value.
#pragma once

#include "llm/jinja/builtin.h"

namespace pteron::jinja {

// Null if the value has no such method.
Builtin find_method(const Value& self, std::string_view name);
Builtin find_text_method(std::string_view name);

}  // namespace pteron::jinja
