// SPDX-License-Identifier: BSD-3-Clause
#include "differential/hostile/seeds.h"

#include "differential/collage/collage.h"
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
  std::vector<u32> arguments;  // the method's values that are the graph's inputs and outputs
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
  const auto* call = std::get_if<format::DelegateCall>(&method.instructions[0]);
  const Bytes blob = file.subspan(method.delegates[0].blob.offset, method.delegates[0].blob.size);
  const auto at = format::read_delegate_header(blob);
  if (!at) return std::nullopt;
  auto graph = format::read_delegate_graph(blob, *at);
  if (!graph || !call || call->args.size() != graph->inputs.size() + graph->outputs.size()) return std::nullopt;
  return Parts{method, call->args, *std::move(graph), blob, program->named_data};
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

// The method's tensor that is an input or output of the graph; the method may have them in another order.
const format::TensorSpec* spec_of(const Parts& parts, size_t argument) {
  return std::get_if<format::TensorSpec>(&parts.method.values[parts.arguments[argument]]);
}

// By the order of the graph's inputs.
std::optional<std::vector<Tensor>> inputs_of(const Parts& parts, const std::vector<Tensor>& given) {
  std::vector<Tensor> out;
  for (size_t i = 0; i < parts.graph.inputs.size(); ++i) {
    const size_t at = size_t(std::ranges::find(parts.method.inputs, parts.arguments[i]) - parts.method.inputs.begin());
    if (at >= given.size()) return std::nullopt;
    out.push_back(given[at]);
  }
  return out;
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
  const size_t ins = parts->graph.inputs.size();
  for (size_t i = 0; i < ins + parts->graph.outputs.size(); ++i) {
    const bool in = i < ins;
    const u32 id = in ? parts->graph.inputs[i] : parts->graph.outputs[i - ins];
    const auto* spec = spec_of(*parts, i);
    if (!spec || !std::holds_alternative<format::GraphTensor>(parts->graph.values[id])) return std::nullopt;
    in ? out.graph.input(id, spec->dynamic, spec->dtype) : out.graph.output(id, spec->dynamic, spec->dtype);
  }
  for (const test::InputSet& set : fixture.sets) {
    auto inputs = inputs_of(*parts, set.inputs);
    if (!inputs) return std::nullopt;
    if (out.steps.size() < 2) out.steps.push_back({*std::move(inputs), false});
  }
  return out;
}

Sample program_sample(Choices& choices) {
  const auto& all = folders();
  for (size_t at = choices.below(u32(all.size()));; ++at)  // the next one that can be taken apart
    if (auto sample = sample_of_program(all[at % all.size()])) return *std::move(sample);
}

Sample seed_sample(Choices& choices) {
  switch (choices.below(4)) {
    case 0: return program_sample(choices);
    case 1: return sample_of(choices);
    default: return collage_of(choices);
  }
}

}  // namespace pteron::differential
