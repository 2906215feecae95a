// SPDX-License-Identifier: BSD-3-Clause
#include "support/builder.h"

namespace pteron::test {

u32 GraphBuilder::value(format::GraphValue v) {
  graph.values.push_back(std::move(v));
  return u32(graph.values.size() - 1);
}

u32 GraphBuilder::tensor(DType dtype, const Shape& max) { return value(format::GraphTensor{dtype, max, -1, -1}); }

u32 GraphBuilder::constant_bytes(DType dtype, const Shape& shape, std::vector<std::byte> bytes,
                                 const std::string& key) {
  const i32 index = i32(graph.constants.size());
  graph.constants.push_back({key, {}, bytes.size()});
  inline_.push_back(key.empty() ? bytes : std::vector<std::byte>());
  bool known = key.empty();
  for (const auto& blob : named_) known |= blob.key == key;
  if (!known) named_.push_back(format::named_blob(key, std::move(bytes)));
  return value(format::GraphTensor{dtype, shape, index, -1});
}

void GraphBuilder::op(const std::string& name, std::vector<u32> args) {
  graph.calls.push_back({u32(graph.calls.size()), name, std::move(args)});
}

format::TensorSpec GraphBuilder::spec_of(u32 id, bool dynamic, std::optional<DType> host) const {
  const auto& tensor = std::get<format::GraphTensor>(graph.values[id]);
  format::TensorSpec spec;
  spec.dtype = host.value_or(tensor.dtype);
  spec.shape = tensor.shape;
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

std::vector<std::byte> GraphBuilder::program() const {
  format::ProgramDraft draft;
  draft.methods.push_back(format::delegate_method("forward", graph, inputs_, outputs_));
  draft.methods[0].blobs[0] = blob();
  draft.named_data = named_;
  std::vector<std::byte> out;
  const Status status = format::write_program(draft, [&](Bytes bytes) -> Status {
    out.insert(out.end(), bytes.begin(), bytes.end());
    return {};
  });
  return status ? out : std::vector<std::byte>();
}

}  // namespace pteron::test
