// SPDX-License-Identifier: BSD-3-Clause
// Filters that apply another filter or a test to each item: map, select, reject and their attribute forms.
#include "base/error.h"
#include "llm/jinja/filters.h"

namespace pteron::jinja {
namespace {

using Subject = const Value&;
using Args = const CallArguments&;

Result<Value> attr(Renderer& r, Subject subject, Args args) {
  TRY(const auto a, take(args, {"name"}, 1));
  TRY(const std::string name, text_or(a[0], ""));
  if (subject.dict() && !r.heap().is_exhausted()) return r.undefined(str("a dictionary has no attribute '", name, "'"));
  return r.attribute(subject, name);
}

// The arguments behind the first `used` ones.
CallArguments rest_of(Args args, size_t used) {
  CallArguments out = args;
  out.positional.erase(out.positional.begin(), out.positional.begin() + i64(std::min(used, out.positional.size())));
  return out;
}

Result<Value> map_attribute(Renderer& r, Subject subject, Args args) {
  const Value *path = nullptr, *fallback = nullptr;
  for (const auto& [name, value] : args.named) {
    if (name != "attribute" && name != "default") return invalid("there is no argument '", name, "'");
    (name == "attribute" ? path : fallback) = &value;
  }
  if (!path) return invalid("a filter's name or 'attribute' is missing");
  TRY(const ListRef items, r.iterate(subject));
  std::vector<Value> out;
  for (const Value& item : items->items) {
    TRY(Value value, attribute_path(r, item, *path));
    if (value.is_undefined() && fallback) value = *fallback;
    out.push_back(std::move(value));
  }
  return list_value(r.heap(), std::move(out), List::generator);
}

Result<Value> map(Renderer& r, Subject subject, Args args) {
  if (args.positional.empty()) return map_attribute(r, subject, args);
  TRY(const std::string name, text_or(&args.positional[0], ""));
  const CallArguments rest = rest_of(args, 1);
  TRY(const ListRef items, r.iterate(subject));
  std::vector<Value> out;
  for (const Value& item : items->items) {
    TRY(Value value, r.filter(name, item, rest));
    TRY_DO(r.heap().check());
    out.push_back(std::move(value));
  }
  return list_value(r.heap(), std::move(out), List::generator);
}

// The items for which a test holds, or their truth if no test is named; of an attribute if `of_attribute`.
template <bool wanted, bool of_attribute>
Result<Value> select(Renderer& r, Subject subject, Args args) {
  const size_t named_at = of_attribute ? 1 : 0;
  if (args.positional.size() < named_at) return invalid("an attribute's name is missing");
  const Value* test_name = args.positional.size() > named_at ? &args.positional[named_at] : nullptr;
  TRY(const std::string name, text_or(test_name, ""));
  const CallArguments rest = rest_of(args, named_at + 1);
  TRY(const ListRef items, r.iterate(subject));
  std::vector<Value> out;
  for (const Value& item : items->items) {
    Value tested = item;
    if (of_attribute) {
      TRY(tested, attribute_path(r, item, args.positional[0]));
    }
    TRY(const bool holds, test_name ? r.test(name, tested, rest) : Result<bool>(tested.truth()));
    TRY_DO(r.heap().spend(1));
    if (holds == wanted) out.push_back(item);
  }
  return list_value(r.heap(), std::move(out), List::generator);
}

constexpr NamedBuiltin filters[] = {
    {"map", map},
    {"attr", attr},
    {"select", select<true, false>},
    {"reject", select<false, false>},
    {"selectattr", select<true, true>},
    {"rejectattr", select<false, true>},
};

}  // namespace

std::span<const NamedBuiltin> selection_filters() { return filters; }

}  // namespace pteron::jinja
