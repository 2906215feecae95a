// SPDX-License-Identifier: BSD-3-Clause
#include "graph/signature.h"

#include "graph/op.h"

#include <algorithm>

namespace pteron::graph {
namespace {

constexpr size_t most_integers = 16;  // in a list, see IntList

std::string_view kind_name(Kind kind) {
  static constexpr std::string_view names[] = {"a tensor",
                                               "a list of tensors",
                                               "a list of tensors and Nulls",
                                               "an integer",
                                               "a number",
                                               "a boolean",
                                               "a string",
                                               "a list of integers",
                                               "a list of numbers",
                                               "a symbolic integer",
                                               "Null, a number or a list"};
  return names[size_t(kind)];
}

bool is_null(const Value& value) { return std::holds_alternative<std::monostate>(value); }

// Exporters write numbers that are equal as one value, of whichever type came first.
bool is_number(const Value& value) {
  return std::holds_alternative<i64>(value) || std::holds_alternative<f64>(value) ||
         std::holds_alternative<bool>(value) || std::holds_alternative<SymInt>(value);
}

bool is_integer(const Value& value) {
  const auto* number = std::get_if<f64>(&value);
  return number ? exact_integer(*number).has_value() : is_number(value);
}

template <class Fn>
bool is_list_of(const Graph& graph, const Value& value, Fn is_item) {
  const auto* list = std::get_if<ValueList>(&value);
  return list && std::ranges::all_of(list->items, [&](ValueId id) { return is_item(graph.values[id]); });
}

bool is_of(const Graph& graph, const Value& value, const Parameter& p) {
  const auto is_tensor = [](const Value& v) { return std::holds_alternative<Tensor>(v); };
  switch (p.kind) {
    case Kind::tensor: return is_tensor(value);
    case Kind::tensors: return is_list_of(graph, value, is_tensor);
    case Kind::maybe_tensors:
      return is_list_of(graph, value, [&](const Value& v) { return is_tensor(v) || is_null(v); });
    case Kind::integer:
    case Kind::flag: return is_integer(value);
    case Kind::number: return is_number(value);
    case Kind::text: return std::holds_alternative<std::string>(value);
    case Kind::integers:
      if (const auto* list = std::get_if<ValueList>(&value); list && list->items.size() > most_integers) return false;
      return std::holds_alternative<std::vector<i64>>(value) || is_list_of(graph, value, is_integer);
    case Kind::numbers: {
      const auto* integers = std::get_if<std::vector<i64>>(&value);  // an empty list has no type
      return std::holds_alternative<std::vector<f64>>(value) || (integers && integers->empty());
    }
    case Kind::symint: return std::holds_alternative<SymInt>(value) || std::holds_alternative<i64>(value);
    case Kind::any: {
      const auto* list = std::get_if<ValueList>(&value);
      return !is_tensor(value) &&
             !(list && std::ranges::any_of(list->items, [&](ValueId id) { return is_tensor(graph.values[id]); }));
    }
  }
  return false;
}

std::string describe(const Parameter& p, size_t place) { return str("argument ", place, " '", p.name, "'"); }

Status fit_result(const Graph& graph, const Parameter& p, const Op& op) {
  const Value& value = graph.values[op.args.back()];
  if (!is_of(graph, value, p))
    return invalid("the last argument, the result '", p.name, "', should be ", kind_name(p.kind), ", but is ",
                   type_name(value));
  if (p.kind != Kind::tensors) return {};
  const size_t items = std::get<ValueList>(value).items.size();
  if (items < p.items || (items > p.items && !p.open))
    return invalid("the op has ", items, " results; it makes ", p.open ? "at least " : "", u32(p.items));
  return {};
}

}  // namespace

Status fit_arguments(Graph& graph, Op& op) {
  const auto params = op.entry->signature.params;
  const size_t most = params.size() - 1;  // without the result
  if (op.args.empty()) return invalid("the op has no arguments, so no result");
  const size_t given = op.args.size() - 1;
  if (given > most && !op.entry->signature.ignores_more)
    return invalid("the op has ", given, " arguments and a result; it takes at most ", most);
  for (size_t i = 0; i < most; ++i) {
    const Parameter& p = params[i];
    if (i >= given) {
      if (p.optional) continue;
      return invalid(describe(p, i), ", ", kind_name(p.kind), ", is missing; the op has ", given,
                     " arguments and a result");
    }
    const Value& value = graph.values[op.args[i]];
    if (!is_of(graph, value, p) && !(p.optional && is_null(value)))
      return invalid(describe(p, i), " should be ", kind_name(p.kind), p.optional ? " or Null" : "", ", but is ",
                     type_name(value));
  }
  static constexpr Parameter ignored{"...", Kind::any};
  for (size_t i = most; i < given; ++i)
    if (const Value& value = graph.values[op.args[i]]; !is_of(graph, value, ignored))
      return invalid("argument ", i, " should be ", kind_name(Kind::any), ", but is ", type_name(value));
  TRY_DO(fit_result(graph, params.back(), op));
  const ValueId result = op.args.back();
  op.args.resize(std::min(given, most));
  while (op.args.size() < most) {
    op.args.push_back(ValueId(graph.values.size()));
    graph.values.push_back({});
  }
  op.args.push_back(result);
  return {};
}

}  // namespace pteron::graph
