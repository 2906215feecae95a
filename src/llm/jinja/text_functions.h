// SPDX-License-Identifier: BSD-3-Clause
// What methods and filters of the same meaning share.
#pragma once

#include "llm/jinja/builtin.h"
#include "llm/text/characters.h"

namespace pteron::jinja {

// `characters`: null or none for white space.
Result<Value> strip_text(Renderer& renderer, const std::string& text, const Value* characters, Side side);
// Negative: all.
Result<Value> replace_text(Renderer& renderer, const std::string& text, const std::string& from, const std::string& to,
                           i64 most);
Result<Value> split_at(Renderer& renderer, std::string_view text, std::string_view separator, u64 most, bool from_left);
Result<Value> split_at_spaces(Renderer& renderer, std::string_view text, u64 most, bool from_left);
// Python's splitlines.
std::vector<std::string_view> lines_of(std::string_view text, bool keep_ends);
// A width to fill up to, within what arithmetic can bear; 80 if it was not given.
Result<i64> width_of(const Value* value);
// With that many copies of `fill` on each side; negative: none.
Result<Value> padded(Renderer& renderer, const std::string& text, i64 left, i64 right, const std::string& fill);
Result<Value> centered(Renderer& renderer, const std::string& text, i64 width, const std::string& fill);

}  // namespace pteron::jinja
