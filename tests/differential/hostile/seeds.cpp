// SPDX-License-Identifier: BSD-3-Clause
#include "differential/hostile/seeds.h"

#include "differential/random/shrink.h"
#include "support/fixture.h"

#include <algorithm>

namespace pteron::differential {
namespace {

constexpr u64 most_bytes = 1 << 20;  // of a program; larger ones take long and say no more

const std::vector<std::string>& folders() {
  static const std::vector<std::string> all = [] {
    std::vector<std::string> out;
    for (const auto& folder : test::find_fixtures(test::data_folder() / "ops"))
      if (std::filesystem::file_size(folder / "model.pte") <= most_bytes) out.push_back(folder);
    std::ranges::sort(out);
    return out;
  }();
  return all;
}

struct Parts {
  format::MethodSpec method;
  format::DelegateGraph graph;
  Bytes blob;
  std::map<std::string, format::DataRange, std::less<>> named;
};

std::optional<Parts> parts_of(Bytes file) {
  const auto header = format::read_program_header(file.first(std::min<size_t>(64, file.size())), file.size());
  if (!header) return std::nullopt;
  const auto program = format::read_program(file.first(header->program_size), *header, file.size());
  if (!program || program->methods.size() != 1) return std::nullopt;
  const format::MethodSpec& method = program->methods[0];
  if (method.delegates.size() != 1 || method.instructions.size() != 1) return std::nullopt;
  const Bytes blob = file.subspan(method.delegates[0].blob.offset, method.delegates[0].blob.size);
  const auto at = format::read_delegate_header(blob);
  if (!at) return std::nullopt;
  auto graph = format::read_delegate_graph(blob, *at);
  if (!graph || graph->inputs.size() != method.inputs.size() || graph->outputs.size() != method.outputs.size())
    return std::nullopt;
  return Parts{method, *std::move(graph), blob, program->named_data};
}

std::optional<std::vector<std::byte>> constant_of(const Parts& parts, Bytes file, const format::GraphTensor& tensor) {
  const format::GraphConstant& constant = parts.graph.constants[size_t(tensor.constant)];
  Bytes bytes = parts.blob;
  format::DataRange range = constant.inline_bytes;
  if (!constant.key.empty()) {
    const auto found = parts.named.find(constant.key);
    if (found == parts.named.end()) return std::nullopt;
    bytes = file, range = found->second;
  }
  bytes = bytes.subspan(range.offset, std::min(range.size, tensor.shape.numel() * size_of(tensor.dtype)));
  return std::vector<std::byte>(bytes.begin(), bytes.end());
}

// The method's tensors, by which inputs and outputs are described.
const format::TensorSpec* spec_of(const Parts& parts, u32 value) {
  return std::get_if<format::TensorSpec>(&parts.method.values[value]);
}

}  // namespace

std::optional<Sample> sample_of_program(const std::string& folder) {
  const test::Fixture fixture = test::read_fixture(folder);
  const std::vector<std::byte> file = test::read_bytes(fixture.model());
  const auto parts = parts_of(file);
  if (!parts || fixture.sets.empty()) return std::nullopt;
  Sample out;
  for (const format::GraphValue& value : parts->graph.values) {
    const auto* tensor = std::get_if<format::GraphTensor>(&value);
    if (!tensor || tensor->constant < 0) {
      out.graph.value(value);
      continue;
    }
    auto bytes = constant_of(*parts, file, *tensor);
    if (!bytes) return std::nullopt;
    out.graph.constant_bytes(tensor->dtype, tensor->shape, *std::move(bytes));
  }
  for (const format::GraphCall& call : parts->graph.calls) out.graph.op(call.name, call.args);
  for (const bool in : {true, false}) {
    const auto& ids = in ? parts->graph.inputs : parts->graph.outputs;
    for (size_t i = 0; i < ids.size(); ++i) {
      const auto* spec = spec_of(*parts, in ? parts->method.inputs[i] : parts->method.outputs[i]);
      if (!spec || !std::holds_alternative<format::GraphTensor>(parts->graph.values[ids[i]])) return std::nullopt;
      in ? out.graph.input(ids[i], spec->dynamic, spec->dtype) : out.graph.output(ids[i], spec->dynamic, spec->dtype);
    }
  }
  for (const test::InputSet& set : fixture.sets)
    if (out.steps.size() < 2) out.steps.push_back({set.inputs, false});
  return out;
}

Sample seed_sample(Choices& choices) {
  if (choices.percent(60)) {
    const auto& all = folders();
    if (auto sample = sample_of_program(all[choices.below(u32(all.size()))])) return *std::move(sample);
  }
  return sample_of(choices);
}

}  // namespace pteron::differential
