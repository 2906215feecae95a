// SPDX-License-Identifier: BSD-3-Clause
// What may stand behind '|', by subject.
#pragma once

#include "llm/jinja/builtin.h"

namespace pteron::jinja {

std::span<const NamedBuiltin> text_filters();
std::span<const NamedBuiltin> number_filters();
std::span<const NamedBuiltin> sequence_filters();
std::span<const NamedBuiltin> selection_filters();

}  // namespace pteron::jinja
