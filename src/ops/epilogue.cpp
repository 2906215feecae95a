// SPDX-License-Identifier: BSD-3-Clause
#include "ops/epilogue.h"

#include "graph/op.h"

namespace pteron::ops {
namespace {

using graph::Graph, graph::Op, graph::Tensor, graph::Value, graph::ValueId, graph::ValueList;

ValueId add_value(Graph& graph, Value value) {
  graph.values.push_back(std::move(value));
  return ValueId(graph.values.size() - 1);
}

constexpr u32 most_best = 256;

}  // namespace

Status append_epilogue(Graph& graph, const Epilogue& epilogue) {
  const ValueId source = graph.outputs[epilogue.output];
  const Tensor* tensor = graph.tensor(source);
  if (!tensor || tensor->max.numel() == 0 || tensor->max.rank() == 0)
    return invalid("an epilogue needs an output with at least one axis and one element");
  const u32 width = tensor->max.dim(-1), rows = u32(tensor->max.numel() / width);
  if (epilogue.kind == Epilogue::top_k && (epilogue.k == 0 || epilogue.k > width || epilogue.k > most_best))
    return invalid("top-k of ", epilogue.k, " is asked of ", width, " elements; 1 to ", std::min(width, most_best),
                   " are possible");
  const bool all = epilogue.rows == Epilogue::all;
  Shape shape;
  if (all) shape.push_back(rows);
  if (epilogue.kind == Epilogue::top_k || !all) shape.push_back(epilogue.kind == Epilogue::top_k ? epilogue.k : 1);
  Op op;
  op.position = u32(graph.ops.size());
  op.args = {source, add_value(graph, all)};
  std::vector<ValueId> results;
  if (epilogue.kind != Epilogue::arg_max) results.push_back(add_value(graph, Tensor{DType::f32, shape, {}}));
  if (epilogue.kind != Epilogue::log_sum_exp) results.push_back(add_value(graph, Tensor{DType::i32, shape, {}}));
  if (epilogue.kind == Epilogue::top_k) {
    op.name = "pteron.row_top_k";
    op.args.push_back(add_value(graph, i64(epilogue.k)));
    op.args.push_back(add_value(graph, ValueList{results}));
  } else {
    op.name = epilogue.kind == Epilogue::arg_max ? "pteron.row_arg_max" : "pteron.row_log_sum_exp";
    op.args.push_back(results[0]);
  }
  op.entry = graph::find_op(op.name);
  if (!op.entry) return internal_error("op ", op.name, " is missing");
  graph.ops.push_back(std::move(op));
  for (ValueId id : results) graph.outputs.push_back(id);
  return {};
}

}  // namespace pteron::ops
