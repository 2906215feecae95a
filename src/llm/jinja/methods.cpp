// SPDX-License-Identifier: BSD-3-Clause
// Methods of dictionaries, lists and loops.
#include "llm/jinja/methods.h"

#include "base/error.h"

namespace pteron::jinja {
namespace {

Result<Value> dict_get(Renderer& r, const Value& self, const CallArguments& args) {
  TRY(const auto a, take(args, {"key", "default"}, 1));
  TRY(const bool found, contains(r.heap(), self, *a[0]));
  if (found) return *self.dict()->find(*a[0]);
  return a[1] ? *a[1] : Value(None());
}

Result<Value> dict_items(Renderer& r, const Value& self, const CallArguments& args) {
  TRY_DO(take_none(args));
  std::vector<Value> items;
  for (const auto& [key, value] : self.dict()->entries()) {
    TRY(Value pair, list_value(r.heap(), {key, value}, List::tuple));
    items.push_back(std::move(pair));
  }
  return list_value(r.heap(), std::move(items), List::view);
}

Result<Value> dict_keys(Renderer& r, const Value& self, const CallArguments& args) {
  TRY_DO(take_none(args));
  std::vector<Value> items;
  for (const auto& entry : self.dict()->entries()) items.push_back(entry.key);
  return list_value(r.heap(), std::move(items), List::view);
}

Result<Value> dict_values(Renderer& r, const Value& self, const CallArguments& args) {
  TRY_DO(take_none(args));
  std::vector<Value> items;
  for (const auto& entry : self.dict()->entries()) items.push_back(entry.value);
  return list_value(r.heap(), std::move(items), List::view);
}

Result<Value> copy(Renderer&, const Value& self, const CallArguments& args) {
  TRY_DO(take_none(args));
  return self;  // nothing can change either of them
}

Result<Value> list_count(Renderer& r, const Value& self, const CallArguments& args) {
  TRY(const auto a, take(args, {"value"}, 1));
  const auto same = [&](const Value& item) { return equal(r.heap(), item, *a[0]); };
  return Value(i64(std::ranges::count_if(self.list()->items, same)));
}

Result<Value> list_index(Renderer& r, const Value& self, const CallArguments& args) {
  TRY(const auto a, take(args, {"value"}, 1));
  const auto same = [&](const Value& item) { return equal(r.heap(), item, *a[0]); };
  const auto& items = self.list()->items;
  const auto at = std::ranges::find_if(items, same);
  if (at == items.end()) return invalid("the value is not in the list");
  return Value(i64(at - items.begin()));
}

Result<Value> loop_cycle(Renderer&, const Value& self, const CallArguments& args) {
  if (args.positional.empty() || !args.named.empty()) return invalid("it needs values to go through");
  return args.positional[self.object()->as_loop()->index % args.positional.size()];
}

Result<Value> loop_changed(Renderer& r, const Value& self, const CallArguments& args) {
  TRY(Value now, list_value(r.heap(), args.positional, List::tuple));
  auto& before = self.object()->as_loop()->last_changed;
  const bool same = before && equal(r.heap(), *before, now);
  before = std::move(now);
  return Value(!same);
}

constexpr NamedBuiltin dict_methods[] = {
    {"get", dict_get}, {"items", dict_items}, {"keys", dict_keys}, {"values", dict_values}, {"copy", copy}};
constexpr NamedBuiltin list_methods[] = {{"count", list_count}, {"index", list_index}};
constexpr NamedBuiltin loop_methods[] = {{"cycle", loop_cycle}, {"changed", loop_changed}};

}  // namespace

Builtin find_method(const Value& self, std::string_view name) {
  if (self.text()) return find_text_method(name);
  if (self.dict()) return find_builtin(dict_methods, name);
  if (const List* list = self.list()) {
    if (list->kind == List::list && name == "copy") return copy;
    return list->kind <= List::range ? find_builtin(list_methods, name) : nullptr;
  }
  if (self.object() && self.object()->as_loop()) return find_builtin(loop_methods, name);
  return nullptr;
}

}  // namespace pteron::jinja
