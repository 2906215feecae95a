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

}  // namespace

Status append_epilogue(Graph& graph, const Epilogue& epilogue) {
  const ValueId source = graph.outputs[epilogue.output];
  const Tensor* tensor = graph.tensor(source);
  if (!tensor || tensor->max.rank() == 0) return invalid("an epilogue needs an output with at least one axis");
  const u32 width = tensor->max.dim(-1);
  if (epilogue.kind == Epilogue::top_k && (epilogue.k == 0 || epilogue.k > width || epilogue.k > 256))
    return invalid("top-k of ", epilogue.k, " is asked of ", width, " elements; 1 to ", std::min(width, 256u),
                   " are possible");
  Op op;
  op.position = u32(graph.ops.size());
  const Shape result{epilogue.kind == Epilogue::arg_max ? 1 : epilogue.k};
  std::vector<ValueId> results;
  if (epilogue.kind == Epilogue::arg_max) {
    op.name = "pteron.last_arg_max";
    results.push_back(add_value(graph, Tensor{DType::i32, result, {}}));
    op.args = {source, results[0]};
  } else {
    op.name = "pteron.last_top_k";
    results.push_back(add_value(graph, Tensor{DType::f32, result, {}}));
    results.push_back(add_value(graph, Tensor{DType::i32, result, {}}));
    const ValueId k = add_value(graph, i64(epilogue.k));
    op.args = {source, k, add_value(graph, ValueList{results})};
  }
  op.entry = graph::find_op(op.name);
  if (!op.entry) return internal_error("op ", op.name, " is missing");
  graph.ops.push_back(std::move(op));
  for (ValueId id : results) graph.outputs.push_back(id);
  return {};
}

}  // namespace pteron::ops
