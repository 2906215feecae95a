// SPDX-License-Identifier: BSD-3-Clause
#include "llm/jinja/builtin.h"

#include "base/error.h"
#include "base/utf8.h"
#include "llm/text/characters.h"

#include <charconv>

namespace pteron::jinja {

Status take_all(const CallArguments& arguments, std::span<const std::string_view> names, size_t required,
                std::span<const Value*> out) {
  if (arguments.positional.size() > names.size())
    return invalid("at most ", names.size(), " arguments are taken, but ", arguments.positional.size(), " are given");
  for (size_t i = 0; i < arguments.positional.size(); ++i) out[i] = &arguments.positional[i];
  for (const auto& [name, value] : arguments.named) {
    const auto at = size_t(std::ranges::find(names, name) - names.begin());
    if (at == names.size()) return invalid("there is no argument '", name, "'");
    if (out[at]) return invalid("the argument '", name, "' is given twice");
    out[at] = &value;
  }
  for (size_t i = 0; i < required; ++i)
    if (!out[i]) return invalid("the argument '", names[i], "' is missing");
  return {};
}

Result<std::string> text_or(const Value* value, std::string_view fallback) {
  if (!value) return std::string(fallback);
  TRY_DO(must_be_defined(*value));
  if (!value->text()) return invalid("a text is needed, not ", kind_of(*value));
  return *value->text();
}

Result<i64> integer_or(const Value* value, i64 fallback) {
  if (!value) return fallback;
  TRY_DO(must_be_defined(*value));
  if (!value->is_integral()) return invalid("an integer is needed, not ", kind_of(*value));
  return value->integer();
}

Result<size_t> length_of(const Value& value) {
  if (value.is_undefined()) return size_t(0);
  if (const std::string* text = value.text()) return utf8::count(*text);
  if (const List* list = value.list(); list && list->kind != List::generator) return list->items.size();
  if (const Dict* dict = value.dict()) return dict->entries().size();
  return invalid(kind_of(value), " has no length");
}

Status sort_values(Heap& heap, std::vector<std::pair<Value, Value>>& by_key, bool reverse) {
  const auto all = [&](auto holds) {
    return std::ranges::all_of(by_key, [&](const auto& e) { return holds(e.first); });
  };
  const bool numbers = all([](const Value& v) { return v.is_number(); });
  if (!numbers && !all([](const Value& v) { return v.text() != nullptr; }))
    return unsupported("only numbers or only texts can be sorted");
  for (const auto& [key, value] : by_key) heap.work_on_bytes(key.text() ? 32 * key.text()->size() : 640);
  TRY_DO(heap.check());
  const auto less = [&](const auto& a, const auto& b) {
    return numbers ? a.first.real() < b.first.real() : *a.first.text() < *b.first.text();
  };
  // Python keeps the order of equals also in reverse.
  if (reverse)
    std::ranges::stable_sort(by_key, [&](const auto& a, const auto& b) { return less(b, a); });
  else
    std::ranges::stable_sort(by_key, less);
  return {};
}

Value without_case(Heap& heap, const Value& value) {
  return value.text() ? text_value(heap, lower_case(*value.text())) : value;
}

Result<Value> attribute_path(Renderer& renderer, Value value, const Value& path) {
  if (path.is_integral()) return renderer.item(value, path);
  if (!path.text()) return invalid("an attribute's name is needed, not ", kind_of(path));
  std::string_view rest = *path.text();
  while (true) {
    const std::string_view step = rest.substr(0, rest.find('.'));
    i64 index = 0;
    const auto [end, code] = std::from_chars(step.data(), step.data() + step.size(), index);
    const bool is_index = code == std::errc() && end == step.data() + step.size() && step[0] != '-';
    TRY(value, renderer.item(value, is_index ? Value(index) : renderer.text(std::string(step))));
    if (step.size() == rest.size()) return value;
    rest.remove_prefix(step.size() + 1);
  }
}

}  // namespace pteron::jinja
