// SPDX-License-Identifier: BSD-3-Clause
// What filters, tests, methods and functions share: taking their arguments apart, and finding them by name.
#pragma once

#include "llm/jinja/operators.h"
#include "llm/jinja/renderer.h"

#include <algorithm>
#include <array>

namespace pteron::jinja {

using Builtin = Result<Value> (*)(Renderer&, const Value& subject, const CallArguments&);
struct NamedBuiltin {
  std::string_view name;
  Builtin run;
};

template <class Table>
auto find_builtin(const Table& table, std::string_view name) -> decltype(table[0].run) {
  const auto at = std::ranges::find(table, name, [](const auto& entry) { return entry.name; });
  return at != std::end(table) ? at->run : nullptr;
}

// The argument of each parameter, null if it was not given.
template <size_t N>
using Bound = std::array<const Value*, N>;

Status take_all(const CallArguments& arguments, std::span<const std::string_view> names, size_t required,
                std::span<const Value*> out);

template <size_t N>
Result<Bound<N>> take(const CallArguments& arguments, const std::string_view (&names)[N], size_t required = 0) {
  Bound<N> out{};
  TRY_DO(take_all(arguments, names, required, out));
  return out;
}
inline Status take_none(const CallArguments& arguments) { return take_all(arguments, {}, 0, {}); }

// An argument of a type, or what stands for it if it was not given.
Result<std::string> text_or(const Value* value, std::string_view fallback);
Result<i64> integer_or(const Value* value, i64 fallback);
inline bool truth_or(const Value* value, bool fallback) { return value ? value->truth() : fallback; }

// len(): texts in characters.
Result<size_t> length_of(const Value& value);

// Sorts stably; `key_of` gives what is compared. Numbers or texts, not both.
Status sort_values(Heap& heap, std::vector<std::pair<Value, Value>>& by_key, bool reverse);

// A value for comparisons that don't see the difference between upper and lower case.
Value without_case(Heap& heap, const Value& value);

// "a.b.0" of a value, as filters take it.
Result<Value> attribute_path(Renderer& renderer, Value value, const Value& path);

}  // namespace pteron::jinja
