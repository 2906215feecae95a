// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/method_loading.h"

#include "format/delegate_graph.h"
#include "graph/epilogue.h"
#include "graph/passes/pass.h"

#include <algorithm>

namespace pteron {
namespace {

// Which of a delegate's inputs have one shape only, as far as the method says. Empty: unknown.
std::vector<u8> static_inputs(const format::MethodSpec& method, u32 delegate, size_t input_count) {
  std::vector<u8> out(input_count, 1);
  bool called = false;
  for (const format::Instruction& instruction : method.instructions) {
    const auto* call = std::get_if<format::DelegateCall>(&instruction);
    if (!call || call->delegate != delegate) continue;
    called = true;
    for (size_t i = 0; i < input_count && i < call->args.size(); ++i) {
      const auto* tensor = std::get_if<format::TensorSpec>(&method.values[call->args[i]]);
      if (!tensor || tensor->dynamic) out[i] = 0;
    }
  }
  if (!called) out.clear();
  return out;
}

// A method output is shortened by an epilogue in the delegate that makes it.
std::vector<Epilogue> epilogues_of(const format::MethodSpec& method, u32 delegate, const graph::Graph& graph,
                                   const LoadOptions& options) {
  std::vector<Epilogue> out;
  for (Epilogue epilogue : options.epilogues) {
    if (epilogue.output >= method.outputs.size()) continue;
    for (const format::Instruction& instruction : method.instructions) {
      const auto* call = std::get_if<format::DelegateCall>(&instruction);
      if (!call || call->delegate != delegate || call->args.size() < graph.inputs.size()) continue;
      const size_t bound = call->args.size() - graph.inputs.size();
      for (size_t i = 0; i < bound; ++i)
        if (call->args[graph.inputs.size() + i] == method.outputs[epilogue.output]) {
          epilogue.output = u32(graph.outputs.size() - bound + i);
          out.push_back(epilogue);
        }
    }
  }
  return out;
}

}  // namespace

Status check_runnable(const format::MethodSpec& method) {
  std::vector<std::string> outside;
  for (const format::Instruction& instruction : method.instructions) {
    if (const auto* call = std::get_if<format::KernelCall>(&instruction)) {
      const std::string& name = method.operators[call->op];
      if (name != "aten::copy_" && std::find(outside.begin(), outside.end(), name) == outside.end())
        outside.push_back(name);
    } else if (std::holds_alternative<format::JumpFalseCall>(instruction)) {
      return unsupported("the method branches; run it in ExecuTorch with Pteron's plugin");
    }
  }
  if (!outside.empty())
    return unsupported("these ops were not delegated to the GPU: ", join(outside),
                       "; run the program in ExecuTorch with Pteron's plugin, which has portable kernels for them");
  for (const format::DelegateSpec& delegate : method.delegates)
    if (delegate.id != backend_id)
      return unsupported("a part is delegated to '", delegate.id, "'; only '", backend_id, "' runs here");
  return {};
}

Result<std::shared_ptr<const graph::CompiledGraph>> compile_delegate(const ProgramFiles& files,
                                                                     const format::MethodSpec& method, u32 delegate,
                                                                     Bytes blob, const gpu::DeviceInfo& device,
                                                                     const LoadOptions& options,
                                                                     std::vector<graph::UnsupportedOp>* problems) {
  TRY(const format::DelegateHeader header, format::read_delegate_header(blob));
  TRY(const format::DelegateGraph parsed, format::read_delegate_graph(blob, header));
  const graph::DataLocation location{0, method.delegates[delegate].blob};
  TRY(graph::Graph graph,
      graph::build_graph(parsed, location, [&](std::string_view key) { return files.find(key); }, problems));
  graph::CompileOptions compile_options;
  compile_options.input_is_static = static_inputs(method, delegate, graph.inputs.size());
  compile_options.disabled_passes = options.disabled_passes;
  compile_options.routes = options.routes;
  if (!problems || problems->empty()) {
    for (const Epilogue& epilogue : epilogues_of(method, delegate, graph, options))
      TRY_DO(graph::append_epilogue(graph, epilogue));
    TRY_DO(graph::run_passes(graph, device, compile_options));
  }
  return graph::compile(std::move(graph), device, compile_options, problems);
}

Result<std::unique_ptr<MethodLoading>> MethodLoading::begin(std::shared_ptr<graph::Context> context,
                                                            const ProgramFiles& files, const format::MethodSpec& method,
                                                            graph::ConstantStore& store, const LoadOptions& options) {
  TRY_DO(check_runnable(method));
  return std::unique_ptr<MethodLoading>(new MethodLoading(std::move(context), files, method, store, options));
}

MethodLoading::Need MethodLoading::next() const {
  if (current_) return current_->next();
  if (loaded_.delegates.size() == loaded_.spec->delegates.size()) return {Need::nothing, {}};
  return {Need::data, {0, loaded_.spec->delegates[loaded_.delegates.size()].blob}};
}

Status MethodLoading::supply(Bytes bytes) {
  if (current_)
    TRY_DO(current_->supply(bytes));
  else {
    const u32 index = u32(loaded_.delegates.size());
    auto compiled =
        within(compile_delegate(files_, *loaded_.spec, index, bytes, context_->info(), options_), "delegate ", index);
    if (!compiled) return Failure(std::move(compiled.error()));
    TRY(current_, graph::Loading::begin(context_, *std::move(compiled), store_));
  }
  return advance();
}

Status MethodLoading::poll(bool wait) {
  if (!current_) return internal_error("nothing is being compiled");
  TRY_DO(current_->poll(wait));
  return advance();
}

Status MethodLoading::advance() {
  if (!current_ || current_->next().kind != Need::nothing) return {};
  TRY(auto graph, current_->finish());
  loaded_.delegates.push_back(std::move(graph));
  current_.reset();
  return {};
}

Result<LoadedMethod> MethodLoading::finish() {
  if (next().kind != Need::nothing) return internal_error("the method is not loaded yet");
  return std::move(loaded_);
}

Progress MethodLoading::progress() const { return current_ ? current_->progress() : Progress{"weights", 0, 0}; }

}  // namespace pteron
