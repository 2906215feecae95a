// SPDX-License-Identifier: BSD-3-Clause
// Filters for lists, dictionaries and anything else that can be gone through.
#include "base/error.h"
#include "base/utf8.h"
#include "llm/jinja/filters.h"

namespace pteron::jinja {
namespace {

using Subject = const Value&;
using Args = const CallArguments&;

Result<Value> default_value(Renderer& r, Subject subject, Args args) {
  TRY(const auto a, take(args, {"default_value", "boolean"}));
  const bool missing = subject.is_undefined() || (truth_or(a[1], false) && !subject.truth());
  if (!missing) return subject;
  return a[0] ? *a[0] : r.text("");
}

Result<Value> length(Renderer&, Subject subject, Args args) {
  TRY_DO(take_none(args));
  TRY(const size_t size, length_of(subject));
  return Value(i64(size));
}

Result<Value> first(Renderer& r, Subject subject, Args args) {
  TRY_DO(take_none(args));
  TRY(const ListRef items, r.iterate(subject));
  if (items->items.empty()) return r.undefined("there is no first item, the sequence is empty");
  return items->items.front();
}

Result<Value> last(Renderer& r, Subject subject, Args args) {
  TRY_DO(take_none(args));
  if (subject.list() && subject.list()->kind == List::generator) return invalid("a generator has no last item");
  TRY(const ListRef items, r.iterate(subject));
  if (items->items.empty()) return r.undefined("there is no last item, the sequence is empty");
  return items->items.back();
}

Result<Value> list(Renderer& r, Subject subject, Args args) {
  TRY_DO(take_none(args));
  TRY(const ListRef items, r.iterate(subject));
  return list_value(r.heap(), items->items);
}

Result<Value> join(Renderer& r, Subject subject, Args args) {
  TRY(const auto a, take(args, {"d", "attribute"}));
  TRY(const std::string separator, a[0] ? r.str_of(*a[0]) : Result<std::string>(""));
  TRY(const ListRef items, r.iterate(subject));
  TextWriter out(r.heap());
  for (size_t i = 0; i < items->items.size(); ++i) {
    if (i > 0) TRY_DO(out.write(separator));
    Value item = items->items[i];
    if (a[1] && !a[1]->is_none()) {
      TRY(item, attribute_path(r, std::move(item), *a[1]));
    }
    TRY(const std::string text, r.str_of(item));
    TRY_DO(out.write(text));
  }
  return r.text(out.take());
}

Result<Value> reverse(Renderer& r, Subject subject, Args args) {
  TRY_DO(take_none(args));
  if (subject.text()) return slice(r.heap(), subject, None(), None(), Value(i64(-1)));
  TRY(const ListRef items, r.iterate(subject));
  return list_value(r.heap(), std::vector<Value>(items->items.rbegin(), items->items.rend()), List::generator);
}

Result<Value> items(Renderer& r, Subject subject, Args args) {
  TRY_DO(take_none(args));
  std::vector<Value> pairs;
  if (!subject.is_undefined()) {
    if (!subject.dict()) return invalid("a dictionary is needed, not ", kind_of(subject));
    for (const auto& [key, value] : subject.dict()->entries()) {
      TRY(Value pair, list_value(r.heap(), {key, value}, List::tuple));
      pairs.push_back(std::move(pair));
    }
  }
  return list_value(r.heap(), std::move(pairs), List::generator);
}

// The values with what they are compared by: an attribute, in lower case unless that makes a difference.
Result<std::vector<std::pair<Value, Value>>> keyed(Renderer& r, const std::vector<Value>& values,
                                                   const Value* attribute, bool case_sensitive) {
  std::vector<std::pair<Value, Value>> out;
  for (const Value& value : values) {
    Value key = value;
    if (attribute && !attribute->is_none()) {
      TRY(key, attribute_path(r, value, *attribute));
    }
    out.emplace_back(case_sensitive ? key : without_case(r.heap(), key), value);
  }
  return out;
}

Result<Value> values_of(Renderer& r, std::vector<std::pair<Value, Value>> sorted) {
  std::vector<Value> out;
  out.reserve(sorted.size());
  for (auto& [key, value] : sorted) out.push_back(std::move(value));
  return list_value(r.heap(), std::move(out));
}

Result<Value> sort(Renderer& r, Subject subject, Args args) {
  TRY(const auto a, take(args, {"reverse", "case_sensitive", "attribute"}));
  if (a[2] && a[2]->text() && a[2]->text()->contains(',')) return unsupported("several attributes are not supported");
  TRY(const ListRef all, r.iterate(subject));
  TRY(auto pairs, keyed(r, all->items, a[2], truth_or(a[1], false)));
  TRY_DO(sort_values(r.heap(), pairs, truth_or(a[0], false)));
  return values_of(r, std::move(pairs));
}

Result<Value> dict_sort(Renderer& r, Subject subject, Args args) {
  TRY(const auto a, take(args, {"case_sensitive", "by", "reverse"}));
  TRY(const std::string by, text_or(a[1], "key"));
  TRY_DO(must_be_defined(subject));
  if (!subject.dict()) return invalid("a dictionary is needed, not ", kind_of(subject));
  if (by != "key" && by != "value") return invalid("it can be sorted by 'key' or by 'value', not by '", by, "'");
  TRY(const Value all, items(r, subject, {}));
  const Value place(i64(by == "key" ? 0 : 1));
  TRY(auto pairs, keyed(r, all.list()->items, &place, truth_or(a[0], false)));
  TRY_DO(sort_values(r.heap(), pairs, truth_or(a[2], false)));
  return values_of(r, std::move(pairs));
}

Result<Value> unique(Renderer& r, Subject subject, Args args) {
  TRY(const auto a, take(args, {"case_sensitive", "attribute"}));
  TRY(const ListRef all, r.iterate(subject));
  TRY(const auto pairs, keyed(r, all->items, a[1], truth_or(a[0], false)));
  Dict seen;
  std::vector<Value> out;
  for (const auto& [key, value] : pairs) {
    if (!Dict::can_be_key(key)) return unsupported(kind_of(key), " can't be told apart");
    if (seen.find(key)) continue;
    seen.set(key, true);
    out.push_back(value);
  }
  return list_value(r.heap(), std::move(out), List::generator);
}

template <bool largest>
Result<Value> extreme(Renderer& r, Subject subject, Args args) {
  TRY(const auto a, take(args, {"case_sensitive", "attribute"}));
  TRY(const ListRef all, r.iterate(subject));
  if (all->items.empty()) return r.undefined("the sequence is empty");
  TRY(const auto pairs, keyed(r, all->items, a[1], truth_or(a[0], false)));
  size_t best = 0;
  for (size_t i = 1; i < pairs.size(); ++i) {
    TRY(const auto found, order(r.heap(), pairs[i].first, pairs[best].first));
    if (largest ? found > 0 : found < 0) best = i;
  }
  return pairs[best].second;
}

Result<Value> sum(Renderer& r, Subject subject, Args args) {
  TRY(const auto a, take(args, {"attribute", "start"}));
  TRY(const ListRef all, r.iterate(subject));
  Value total = a[1] ? *a[1] : Value(i64(0));
  for (Value item : all->items) {
    if (a[0] && !a[0]->is_none()) {
      TRY(item, attribute_path(r, std::move(item), *a[0]));
    }
    TRY(total, arithmetic(r.heap(), Binary::add, total, item));
    TRY_DO(r.heap().check());
  }
  return total;
}

constexpr NamedBuiltin filters[] = {
    {"default", default_value}, {"d", default_value},    {"length", length},     {"count", length},
    {"first", first},           {"last", last},          {"list", list},         {"join", join},
    {"reverse", reverse},       {"items", items},        {"sort", sort},         {"dictsort", dict_sort},
    {"unique", unique},         {"min", extreme<false>}, {"max", extreme<true>}, {"sum", sum},
};

}  // namespace

std::span<const NamedBuiltin> sequence_filters() { return filters; }

}  // namespace pteron::jinja
