// SPDX-License-Identifier: BSD-3-Clause
#include "graph/graph.h"

#include "graph/effects.h"
#include "graph/op.h"

#include <algorithm>
#include <cmath>

namespace pteron::graph {
namespace {

Result<DataLocation> locate(const format::GraphConstant& constant, DataLocation blob, const FindData& find) {
  if (!constant.key.empty()) return find(constant.key);
  return DataLocation{blob.source, {blob.range.offset + constant.inline_bytes.offset, constant.inline_bytes.size}};
}

Result<Value> build_tensor(const format::GraphTensor& tensor, Graph& graph, const format::DelegateGraph& file,
                           DataLocation blob, const FindData& find) {
  Tensor out{tensor.dtype, tensor.shape, {}};
  if (tensor.constant < 0) return Value(out);
  const format::GraphConstant& source = file.constants[u32(tensor.constant)];
  const std::string name = source.key.empty() ? "inline" : source.key;
  const auto frame = [&] { return str("constant ", tensor.constant, " (", name, ")"); };
  auto location = within(locate(source, blob, find), frame());
  if (!location) return Failure(std::move(location.error()));
  const u64 needed = tensor.shape.numel() * size_of(tensor.dtype);
  if (location->range.size < needed)
    return within(Result<Value>(invalid("its tensor of shape ", tensor.shape, " ", tensor.dtype, " needs ", needed,
                                        " bytes, but only ", location->range.size, " are there")),
                  frame());
  location->range.size = needed;
  out.constant = u32(graph.constants.size());
  graph.constants.push_back(
      {*location, name, tensor.dtype == DType::f32 && source.key.starts_with(format::halves_prefix)});
  return Value(out);
}

// Constants reach ops through `prepack`, which for a buffer runtime is nothing: its result is the constant itself.
Status fold_prepack(Graph& graph, const Op& op) {
  const Tensor& source = *graph.tensor(op.args[0]);
  Tensor& result = std::get<Tensor>(graph.values[op.args[1]]);
  if (!source.constant) return invalid("value ", op.args[0], " is not a constant");
  if (result.constant && result.constant != source.constant)
    return invalid("its result, value ", op.args[1], ", is another constant");
  if (source.dtype != result.dtype || !(source.max == result.max))
    return invalid("its result ", result.max, " ", result.dtype, " differs from the constant ", source.max, " ",
                   source.dtype);
  result.constant = source.constant;
  return {};
}

// Finds the op's entry and brings its arguments into the form that it expects.
Status resolve(Graph& graph, Op& op) {
  op.entry = find_op(op.name);
  if (!op.entry) return unsupported("this op is not implemented");
  if (op.entry->is(internal)) return invalid("this op is the engine's own; a file can't have it");
  TRY_DO(fit_arguments(graph, op));
  return op.entry->is(prepacks) ? fold_prepack(graph, op) : Status();
}

bool same_memory(const Graph& graph, ValueId a, ValueId b) {
  const Tensor *x = graph.tensor(a), *y = graph.tensor(b);
  return x && y && (a == b || (x->constant && x->constant == y->constant));
}

// What an op updates is no other argument of it: which of the two it sees there would be chance.
Status check_updates(const Graph& graph, const Op& op) {
  const auto params = op.entry->signature.params;
  const auto updates = [&](size_t i) { return params[i].role == Role::inout || params[i].role == Role::cache; };
  const auto shares = [&](ValueId a, ValueId b) {
    const auto* list = std::get_if<ValueList>(&graph.values[b]);
    if (!list) return same_memory(graph, a, b);
    return std::ranges::any_of(list->items, [&](ValueId item) { return same_memory(graph, a, item); });
  };
  // A list of results may be the arguments that were updated: there is nothing to choose.
  const auto clashes = [&](size_t j) {
    return updates(j) || params[j].role == Role::in || (params[j].role == Role::out && graph.tensor(op.args[j]));
  };
  for (size_t i = 0; i < params.size(); ++i)
    for (size_t j = 0; updates(i) && j < params.size(); ++j)
      if (i != j && clashes(j) && shares(op.args[i], op.args[j]))
        return invalid("argument ", j, " '", params[j].name, "' is the same memory as argument ", i, " '",
                       params[i].name, "', which the op updates; give them tensors of their own");
  return {};
}

// Nor are two results one.
Status check_results(const Graph& graph, const Op& op) {
  const auto* list = std::get_if<ValueList>(&graph.values[op.args.back()]);
  for (size_t i = 0; list && i < list->items.size(); ++i)
    for (size_t j = 0; j < i; ++j)
      if (same_memory(graph, list->items[i], list->items[j]))
        return invalid("its results ", j, " and ", i, " are the same memory; give them tensors of their own");
  return {};
}

// Follows the ops as they stand in the file, because a pass may move a write before a read that came too early: what
// one reads is an input, a constant, or has been written.
class Definitions {
 public:
  explicit Definitions(const Graph& graph) : graph_(graph), defined_(graph.values.size(), 0) {
    for (ValueId id : graph.inputs) defined_[id] = 1;
  }

  Status check(const Op& op) {
    const std::vector<Use> uses = uses_of(graph_, op);
    for (const Use& use : uses)
      if ((use.reads() || use.role == Role::host) && !is_defined(use.value))
        return invalid("value ", use.value, " is read before any op has produced it");
    for (const Use& use : uses)
      if (use.writes()) defined_[use.value] = 1;
    return {};
  }
  bool is_defined(ValueId id) const {
    const Tensor* tensor = graph_.tensor(id);
    return !tensor || tensor->constant || defined_[id] || tensor->max.numel() == 0;
  }

 private:
  const Graph& graph_;
  std::vector<u8> defined_;
};

Status check_interface(const Graph& graph) {
  std::vector<u8> seen(graph.values.size(), 0);
  for (ValueId id : graph.inputs) {
    const Tensor* tensor = graph.tensor(id);
    if (!tensor && !std::holds_alternative<SymInt>(graph.values[id]))
      return invalid("graph input ", id, " is neither a tensor nor a symbolic integer");
    if (tensor && tensor->constant) return invalid("graph input ", id, " is a constant");
    if (seen[id]) return invalid("value ", id, " is a graph input twice");
    seen[id] = 1;
  }
  for (ValueId id : graph.outputs)
    if (!graph.tensor(id) && !std::holds_alternative<SymInt>(graph.values[id]) &&
        !std::holds_alternative<i64>(graph.values[id]))
      return invalid("graph output ", id, " is neither a tensor nor an integer");
  return {};
}

}  // namespace

std::optional<i64> exact_integer(f64 value) {
  if (std::floor(value) != value || std::abs(value) > 9.0e15) return std::nullopt;
  return i64(value);
}

std::string_view type_name(const Value& value) {
  static constexpr std::string_view names[] = {"Null",
                                               "an integer",
                                               "a number",
                                               "a boolean",
                                               "a tensor",
                                               "a list of integers",
                                               "a list of numbers",
                                               "a list of booleans",
                                               "a list of values",
                                               "a string",
                                               "a symbolic integer"};
  return names[value.index()];
}

ValueId Op::arg(std::string_view parameter) const {
  const auto params = entry->signature.params;
  const auto found = std::ranges::find(params, parameter, &Parameter::name);
  return found == params.end() ? no_value : args[size_t(found - params.begin())];
}

Result<u32> Graph::first_taken_output(size_t arguments) const {
  if (arguments < inputs.size() || arguments > inputs.size() + file_outputs)
    return invalid("the delegate has ", inputs.size(), " inputs and ", file_outputs, " outputs, but is called with ",
                   arguments, " values");
  return u32(inputs.size() + file_outputs - arguments);
}

bool Graph::is_input(ValueId id) const { return std::find(inputs.begin(), inputs.end(), id) != inputs.end(); }

std::string describe(const Op& op) { return str("op ", op.position, " ", op.name); }

Result<Graph> build_graph(const format::DelegateGraph& file, DataLocation blob, const FindData& find,
                          std::vector<UnsupportedOp>* problems) {
  Graph graph;
  for (const format::GraphValue& value : file.values) {
    if (const auto* tensor = std::get_if<format::GraphTensor>(&value)) {
      auto built = within(build_tensor(*tensor, graph, file, blob, find), "value ", graph.values.size());
      if (!built) return Failure(std::move(built.error()));
      graph.values.push_back(*std::move(built));
    } else if (const auto* list = std::get_if<format::GraphValueList>(&value)) {
      graph.values.push_back(ValueList{list->items});
    } else if (const auto* symint = std::get_if<format::GraphSymInt>(&value)) {
      graph.values.push_back(SymInt{symint->initial});
    } else {
      std::visit(
          [&](const auto& plain) {
            if constexpr (std::is_constructible_v<Value, decltype(plain)>) graph.values.push_back(Value(plain));
          },
          value);
    }
  }
  const auto note = [&](Op& op, Status status) -> Status {
    if (status) return {};
    if (!problems) return Failure(std::move(status.error()).within(describe(op)));
    problems->push_back({op.position, op.name, status.error().message});
    op.entry = nullptr;
    return {};
  };
  for (const format::GraphCall& call : file.calls) {
    Op op;
    op.name = call.name;
    op.args = call.args;
    op.node_id = call.node_id;
    op.position = u32(&call - file.calls.data());
    TRY_DO(note(op, resolve(graph, op)));
    if (!op.entry || !op.entry->is(prepacks)) graph.ops.push_back(std::move(op));
  }
  graph.inputs = file.inputs;
  graph.outputs = file.outputs;
  graph.file_outputs = graph.outputs.size();
  TRY_DO(check_interface(graph));
  Definitions definitions(graph);
  for (Op& op : graph.ops) {
    if (op.entry) TRY_DO(note(op, check_updates(graph, op)));
    if (op.entry && !op.args.empty()) TRY_DO(note(op, check_results(graph, op)));
    TRY_DO(note(op, definitions.check(op)));
  }
  for (ValueId id : graph.outputs)
    if (!definitions.is_defined(id)) return invalid("graph output ", id, " is never produced");
  return graph;
}

}  // namespace pteron::graph
