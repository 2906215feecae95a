// SPDX-License-Identifier: BSD-3-Clause
// What changes around the ops: who shares memory, what is given, and how often.
#include "base/text.h"
#include "differential/hostile/mutator.h"
#include "differential/reference/array.h"

#include <algorithm>

namespace pteron::differential {
namespace {

constexpr u64 most_elements = 1 << 16;  // of what is given to a graph
constexpr size_t most_steps = 4;

}  // namespace

// Results of two ops, of one op, or of the graph change places.
void Mutator::swap_results() {
  auto *a = call(), *b = call();
  if (!a || !b) return;
  if (choices_.percent(30) && graph_.outputs.size() > 1) {
    const u32 count = u32(graph_.outputs.size());
    std::swap(graph_.outputs[choices_.below(count)], graph_.outputs[choices_.below(count)]);
    return note("outputs of the graph change places");
  }
  if (auto* list = std::get_if<format::GraphValueList>(&graph_.values[a->args.back()]); list && list->items.size() > 1)
    std::ranges::reverse(list->items);
  else
    std::swap(a->args.back(), b->args.back());
  note(str(a->name, " and ", b->name, " exchange results"));
}

// Two tensors have one constant, or the file says that they lie in the same memory.
void Mutator::share_memory() {
  const auto a = any_tensor(), b = any_tensor();
  if (!a || !b) return;
  auto &one = std::get<format::GraphTensor>(graph_.values[*a]),
       &other = std::get<format::GraphTensor>(graph_.values[*b]);
  one.mem_obj = other.mem_obj = i32(choices_.below(3));
  if (choices_.percent(60)) one.constant = std::max(one.constant, other.constant);
  if (choices_.percent(30)) other.constant = one.constant;
  note(str("values ", *a, " and ", *b, " share memory"));
}

// All axes there can be, or none.
void Mutator::change_rank() {
  const auto id = any_tensor();
  if (!id) return;
  auto& tensor = std::get<format::GraphTensor>(graph_.values[*id]);
  std::vector<u32> dims(tensor.shape.begin(), tensor.shape.end());
  const u32 how = choices_.below(3);
  if (how == 0) dims.clear();
  if (how == 1) dims.insert(dims.begin(), Shape::max_rank - dims.size(), 1);
  if (how == 2) dims.resize(Shape::max_rank, 1);
  tensor.shape = *Shape::from(dims);
  note(str("value ", *id, " has shape ", tensor.shape));
}

// State shows only in later steps.
void Mutator::change_steps() {
  auto& steps = sample_.steps;
  const u32 at = choices_.below(u32(steps.size()));
  if (choices_.percent(70) && steps.size() < most_steps) {
    const Step copy = steps[at];
    steps.push_back(copy);
  } else {
    steps[at].reset = at > 0;
  }
  note("steps are repeated, or start anew");
}

void Mutator::repeat_node() {
  auto *a = call(), *b = call();
  if (!a || !b) return;
  a->node_id = b->node_id;
  note(str(a->name, " has the number of ", b->name));
}

void Mutator::fit_ends() {
  const format::MethodDraft method = sample_.graph.method("forward");
  const std::vector<u32> inputs = graph_.inputs, outputs = graph_.outputs;
  const auto spec = [&](const std::vector<u32>& ends, size_t i) {
    const auto* found = i < ends.size() ? std::get_if<format::TensorSpec>(&method.spec.values[ends[i]]) : nullptr;
    return found ? *found : format::TensorSpec();
  };
  // The host's integers may be wider.
  const auto host = [&](u32 id, const format::TensorSpec& from) -> std::optional<DType> {
    const DType dtype = std::get<format::GraphTensor>(graph_.values[id]).dtype;
    return dtype == DType::i32 && from.dtype == DType::i64 ? from.dtype : std::nullopt;
  };
  sample_.graph.clear_ends();
  const bool becomes_dynamic = choices_.percent(10);
  for (size_t i = 0; i < inputs.size(); ++i) {
    const format::TensorSpec before = spec(method.spec.inputs, i);
    const bool dynamic = before.dynamic || (becomes_dynamic && choices_.percent(50));
    sample_.graph.input(inputs[i], dynamic, host(inputs[i], before));
    for (Step& step : sample_.steps)
      if (i < step.inputs.size()) fit(step.inputs[i], inputs[i], dynamic);
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    const format::TensorSpec before = spec(method.spec.outputs, i);
    sample_.graph.output(outputs[i], before.dynamic || becomes_dynamic, host(outputs[i], before));
  }
}

void Mutator::fit(Tensor& given, u32 id, bool dynamic) {
  const auto& wanted = std::get<format::GraphTensor>(graph_.values[id]);
  const bool wide = given.dtype() == DType::i64 && wanted.dtype == DType::i32;
  Shape shape = wanted.shape;
  bool fits = given.shape().rank() == shape.rank();
  for (size_t i = 0; fits && i < shape.rank(); ++i) fits = given.shape()[i] <= shape[i];
  if (dynamic && fits) shape = given.shape();
  if (dynamic && choices_.percent(20) && shape.rank() > 0) {
    u32& size = shape[choices_.below(shape.rank())];
    size = std::max(size, 1u) - choices_.below(std::max(size, 1u));
  }
  if (shape.numel() > most_elements) return;
  const reference::Array from = reference::from_tensor(given);
  reference::Array out(wide ? DType::i64 : wanted.dtype, reference::dims_of(shape));
  for (size_t i = 0; i < out.data.size(); ++i) out.data[i] = from.data.empty() ? 0 : from.data[i % from.data.size()];
  given = reference::to_tensor(out);
}

}  // namespace pteron::differential
