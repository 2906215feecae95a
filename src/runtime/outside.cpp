// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/outside.h"

#include "base/text.h"
#include "runtime/exporter_ops.h"
#include "runtime/method_loading.h"

#include <algorithm>
#include <map>
#include <set>

namespace pteron {
namespace {

using format::KernelCall;
using format::MethodSpec;
using format::TensorSpec;

bool has_word(std::string_view words, std::string_view word) {
  for (size_t at = 0; at < words.size();) {
    const size_t end = std::min(words.find(' ', at), words.size());
    if (words.substr(at, end - at) == word) return true;
    at = end + 1;
  }
  return false;
}

std::string or_list(std::string_view words) {
  std::string out(words);
  for (size_t at = out.find(' '); at != std::string::npos; at = out.find(' ', at + 2)) out.replace(at, 1, ", ");
  if (const size_t last = out.rfind(", "); last != std::string::npos) out.replace(last, 2, " or ");
  return out;
}

const ExporterOps* registered(const std::string& name) {
  const std::string_view key = name.starts_with("aten::") ? name : std::string_view(name).substr(0, name.find('.'));
  for (const ExporterOps& group : exporter_ops)
    if (has_word(group.names, key)) return &group;
  return nullptr;
}

// A call's tensors without its results, which stand last: one tensor, or a list of several.
std::vector<const TensorSpec*> inputs_of(const MethodSpec& method, const KernelCall& call) {
  std::vector<u32> results;
  if (!call.args.empty()) {
    results.push_back(call.args.back());
    if (const auto* list = std::get_if<format::IndexList>(&method.values[call.args.back()]))
      for (i32 item : list->items) results.push_back(u32(item));
  }
  std::vector<const TensorSpec*> out;
  const auto add = [&](u32 id) {
    if (std::find(results.begin(), results.end(), id) != results.end()) return;
    if (const auto* tensor = std::get_if<TensorSpec>(&method.values[id])) out.push_back(tensor);
  };
  for (u32 id : call.args) {
    if (const auto* list = std::get_if<format::IndexList>(&method.values[id])) {
      for (i32 item : list->items)
        if (item >= 0) add(u32(item));
    } else {
      add(id);
    }
  }
  return out;
}

std::string form_of(const std::vector<const TensorSpec*>& inputs) {
  std::vector<std::string> out;
  out.reserve(inputs.size());
  for (const TensorSpec* t : inputs) out.push_back(str(format::scalar_type_name(t->scalar_type), " ", t->shape));
  return join(out);
}

bool asks_for_dynamic_shapes(const MethodSpec& method) {
  for (const format::DelegateSpec& delegate : method.delegates)
    for (const format::CompileSpec& spec : delegate.compile_specs)
      if (spec.key == "require_dynamic_shapes" && !spec.value.empty()) return spec.value[0] != std::byte(0);
  return false;
}

// Asked in the partitioner's own order; says only what the registry and the file tell.
std::string reason_for(const MethodSpec& method, const KernelCall& call) {
  const std::string& name = method.operators[call.op];
  if (name.starts_with("executorch_prim::")) return "ExecuTorch's own step between the parts of a program";
  const auto inputs = inputs_of(method, call);
  for (const TensorSpec* t : inputs)
    if (const auto type = format::scalar_type_name(t->scalar_type); !has_word(exporter_types, type))
      return str("the exporter delegates no tensors of ", type);
  const ExporterOps* op = registered(name);
  if (!op) return str("not in the exporter's op registry (ExecuTorch ", exporter_version, ")");
  if (const auto* first = call.args.empty() ? nullptr : std::get_if<TensorSpec>(&method.values[call.args[0]]))
    if (const auto type = format::scalar_type_name(first->scalar_type);
        !op->first_input.empty() && !has_word(op->first_input, type))
      return str("the exporter takes it with ", or_list(op->first_input), ", not with ", type);
  for (const TensorSpec* t : inputs)
    if (t->shape.rank() > 4 && !op->many_dims)
      return str("the exporter takes it with at most 4 dimensions, not with ", t->shape.rank());
  if (!is_for_this_backend(method))
    return str("the exporter knows it; nothing of this method went to '", backend_id, "'");
  if (!op->resizes && asks_for_dynamic_shapes(method))
    return "the export requires dynamic shapes, which the exporter has not for this op";
  return "the exporter knows it, but its partitioner did not take this form";
}

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

}  // namespace

std::vector<OutsideOp> outside_ops(const MethodSpec& method) {
  std::vector<OutsideOp> out;
  std::map<std::pair<std::string, std::string>, size_t> places;  // by name and reason
  std::set<std::pair<size_t, std::string>> forms;                // that are listed, by place
  for (const format::Instruction& instruction : method.instructions) {
    const auto* call = std::get_if<KernelCall>(&instruction);
    if (!call) continue;
    const std::string& name = method.operators[call->op];
    const bool here = name == copy_op;
    std::string reason = here ? "stores a state; runs here" : reason_for(method, *call);
    const size_t place = places.try_emplace({name, reason}, out.size()).first->second;
    if (place == out.size()) out.push_back({name, 0, {}, std::move(reason), here});
    ++out[place].count;
    std::string form = form_of(inputs_of(method, *call));
    if (forms.emplace(place, form).second) out[place].forms.push_back(std::move(form));
  }
  return out;
}

Remedy remedy_for(const MethodSpec& method, const std::string& path) {
  if (!is_for_this_backend(method))
    return {
        "Nothing of it is for the GPU. Export it with Pteron's partitioner, in Python, after pip install "
        "'pteron[executorch]':",
        {"from pteron.partition import PteronPartitioner", "from executorch.exir import to_edge_transform_and_lower",
         "exported = torch.export.export(module, inputs)",
         "lowered = to_edge_transform_and_lower(exported, partitioner=[PteronPartitioner()]).to_executorch()",
         "open(\"model.pte\", \"wb\").write(lowered.buffer)"}};
  return {
      "Exported with PteronPartitioner of pteron.partition, more of it may be for the GPU. As it is, stock ExecuTorch "
      "runs "
      "all of it, and through Pteron's plugin the delegates on the GPU. In Python, after pip install "
      "'pteron[executorch]':",
      {"import pteron", "from executorch.runtime import Runtime",
       str("program = Runtime.get().load_program(", quoted(path), ")"),
       str("outputs = program.load_method(", quoted(method.name), ").execute(inputs)")}};
}

}  // namespace pteron
