// SPDX-License-Identifier: BSD-3-Clause
// Puts a delegated graph together, value by value and op by op.
#pragma once

#include "format/program_writer.h"

namespace pteron::format {

class GraphBuilder {
 public:
  // Each returns the new value's id.
  u32 value(GraphValue v);
  u32 tensor(DType dtype, const Shape& max) { return value(GraphTensor{dtype, max, -1, -1}); }
  // A tensor that is the next constant.
  u32 constant_tensor(DType dtype, const Shape& shape, GraphConstant constant);
  u32 integer(i64 v) { return value(v); }
  u32 number(f64 v) { return value(v); }
  u32 boolean(bool v) { return value(v); }
  u32 text(std::string v) { return value(std::move(v)); }
  u32 null() { return value(std::monostate()); }
  u32 ints(std::vector<i64> v) { return value(std::move(v)); }
  u32 list(std::vector<u32> ids) { return value(GraphValueList{std::move(ids)}); }
  u32 symint() { return value(GraphSymInt{}); }

  void op(std::string name, std::vector<u32> args);
  // A graph input that the method takes as it is. `host` is the method's dtype if it differs from the graph's.
  u32 input(u32 id, bool dynamic = false, std::optional<DType> host = {});
  u32 output(u32 id, bool dynamic = false, std::optional<DType> host = {});
  // Inputs and outputs are to be given anew.
  void clear_ends();

  const GraphTensor& tensor_at(u32 id) const { return std::get<GraphTensor>(graph.values[id]); }
  // A method that is one call of this graph.
  MethodDraft method(std::string name) const { return delegate_method(std::move(name), graph, inputs_, outputs_); }

  DelegateGraph graph;

 private:
  TensorSpec spec_of(u32 id, bool dynamic, std::optional<DType> host) const;
  std::vector<TensorSpec> inputs_, outputs_;
};

}  // namespace pteron::format
