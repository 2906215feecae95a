// SPDX-License-Identifier: BSD-3-Clause
#include "format/graph_builder.h"

namespace pteron::format {

u32 GraphBuilder::value(GraphValue v) {
  graph.values.push_back(std::move(v));
  return u32(graph.values.size() - 1);
}

u32 GraphBuilder::constant_tensor(DType dtype, const Shape& shape, GraphConstant constant) {
  graph.constants.push_back(std::move(constant));
  return value(GraphTensor{dtype, shape, i32(graph.constants.size() - 1), -1});
}

void GraphBuilder::op(std::string name, std::vector<u32> args) {
  graph.calls.push_back({u32(graph.calls.size()), std::move(name), std::move(args)});
}

TensorSpec GraphBuilder::spec_of(u32 id, bool dynamic, std::optional<DType> host) const {
  TensorSpec spec;
  spec.dtype = host.value_or(tensor_at(id).dtype);
  spec.shape = tensor_at(id).shape;
  spec.dynamic = dynamic;
  return spec;
}

u32 GraphBuilder::input(u32 id, bool dynamic, std::optional<DType> host) {
  graph.inputs.push_back(id);
  inputs_.push_back(spec_of(id, dynamic, host));
  return id;
}

u32 GraphBuilder::output(u32 id, bool dynamic, std::optional<DType> host) {
  graph.outputs.push_back(id);
  outputs_.push_back(spec_of(id, dynamic, host));
  return id;
}

void GraphBuilder::clear_ends() {
  graph.inputs.clear(), graph.outputs.clear();
  inputs_.clear(), outputs_.clear();
}

}  // namespace pteron::format
