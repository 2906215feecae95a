// SPDX-License-Identifier: BSD-3-Clause
// Brings a method's delegates onto the GPU, one after the other, then its own constants into memory. A state machine
// that asks for bytes, so that it can run on a stream.
#pragma once

#include "format/delegate_graph.h"
#include "graph/loading.h"
#include "graph/runner.h"
#include "runtime/opening.h"

#include <pteron/program.h>

namespace pteron {

// What methods of one name and with the same options share.
struct LoadedMethod {
  const format::MethodSpec* spec = nullptr;
  MethodOptions options;
  struct Delegate {
    std::shared_ptr<const graph::LoadedGraph> graph;
    std::vector<u32> added_outputs;  // the method's outputs that epilogues add, by the graph's behind those of the file
    std::weak_ptr<graph::RunnerPool> runners;  // there are none without a method
  };
  std::vector<Delegate> delegates;
  std::map<u32, TensorView> constants;  // by value of the method, of what follows
  std::vector<std::vector<std::byte>> constant_bytes;
};

// The ids under which delegates for this engine stand in files: ExecuTorch's own partitioner's and PteronPartitioner's.
constexpr char backend_id[] = "VulkanBackend", own_backend_id[] = "PteronBackend";
constexpr bool is_backend(std::string_view id) { return id == backend_id || id == own_backend_id; }
constexpr std::string_view copy_op = "aten::copy_";  // the only op outside of a delegate that runs here

// Null stands for integers of which the exporter knew nothing.
constexpr bool is_number(const format::ProgramValue& value) {
  return std::holds_alternative<i64>(value) || std::holds_alternative<f64>(value) ||
         std::holds_alternative<bool>(value) || std::holds_alternative<std::monostate>(value);
}

// What in a method needs more than this runtime, in words; empty: nothing.
std::string obstacles(const format::MethodSpec& method);
bool is_for_this_backend(const format::MethodSpec& method);  // at least in part

// Refuses methods that need more than this runtime: other backends, ops outside of a delegate, inputs and
// outputs of unknown types or orders.
Status check_runnable(const format::MethodSpec& method);

graph::CompileOptions compile_options(const LoadOptions& options);

// Plans a delegate's graph for a device. `blob` says where its inline constants are, `find` where named data is;
// `extend` may append ops of the engine's own. With `problems`, lists all ops that can't run.
Result<std::shared_ptr<const graph::CompiledGraph>> compile_delegate(
    const format::DelegateGraph& parsed, const graph::DataLocation& blob, const graph::FindData& find,
    const gpu::DeviceInfo& device, const graph::CompileOptions& options,
    std::vector<graph::UnsupportedOp>* problems = nullptr, const std::function<Status(graph::Graph&)>& extend = {});

struct CompiledDelegate {
  std::shared_ptr<const graph::CompiledGraph> graph;
  std::vector<u32> added_outputs;  // see LoadedMethod
};
// The same with what its method knows: which inputs have one shape only, and which epilogues are wanted.
Result<CompiledDelegate> compile_delegate_of(const ProgramFiles& files, const format::MethodSpec& method, u32 delegate,
                                             const format::DelegateGraph& parsed, const gpu::DeviceInfo& device,
                                             const LoadOptions& options, const MethodOptions& method_options,
                                             std::vector<graph::UnsupportedOp>* problems = nullptr);

class MethodLoading {
 public:
  using Need = graph::Loading::Need;

  // A method without delegates needs no context.
  static Result<std::unique_ptr<MethodLoading>> begin(std::shared_ptr<graph::Context> context,
                                                      const ProgramFiles& files, const format::MethodSpec& method,
                                                      graph::ConstantStore& store, const LoadOptions& options,
                                                      const MethodOptions& method_options);
  Need next() const;
  Status supply(Bytes bytes);
  Status poll(bool wait);
  Result<std::shared_ptr<LoadedMethod>> finish();
  Progress progress() const;

 private:
  MethodLoading(std::shared_ptr<graph::Context> context, const ProgramFiles& files, const format::MethodSpec& method,
                graph::ConstantStore& store, const LoadOptions& options, const MethodOptions& method_options)
      : context_(std::move(context)), files_(files), store_(store), options_(options) {
    loaded_.spec = &method;
    loaded_.options = method_options;
  }
  // What constant tensors of the method itself, outside of its delegates, have in common.
  struct HostConstant {
    graph::DataLocation where;
    std::vector<u32> values;
  };

  Status plan_constants();
  Status supply_blob(Bytes bytes);
  Status supply_constant(Bytes bytes);
  Status advance();
  u32 delegate() const { return u32(loaded_.delegates.size()); }

  std::shared_ptr<graph::Context> context_;
  const ProgramFiles& files_;
  graph::ConstantStore& store_;
  const LoadOptions& options_;
  LoadedMethod loaded_;
  std::vector<u32> added_outputs_;                // of the delegate that is on its way
  std::optional<format::DelegateHeader> header_;  // of the delegate that comes next
  std::unique_ptr<graph::Loading> current_;
  std::vector<HostConstant> constants_;
};

}  // namespace pteron
