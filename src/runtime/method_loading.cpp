// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/method_loading.h"

#include "graph/pass.h"
#include "ops/epilogue.h"

#include <algorithm>
#include <set>
#include <tuple>

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

// The output of the graph that a method's output is; nothing if the delegate does not make it.
Result<std::optional<u32>> graph_output_of(const format::MethodSpec& method, u32 delegate, const graph::Graph& graph,
                                           u32 value) {
  for (const format::Instruction& instruction : method.instructions) {
    const auto* call = std::get_if<format::DelegateCall>(&instruction);
    if (!call || call->delegate != delegate) continue;
    TRY(const u32 first, graph.first_taken_output(call->args.size()));
    for (size_t i = graph.inputs.size(); i < call->args.size(); ++i)
      if (call->args[i] == value) return first + u32(i - graph.inputs.size());
  }
  return std::nullopt;
}

// Appends those epilogues whose output the delegate makes. Returns which outputs of the method they add.
Result<std::vector<u32>> append_epilogues(const format::MethodSpec& method, u32 delegate, graph::Graph& graph,
                                          const MethodOptions& options) {
  std::vector<u32> added;
  u32 next = u32(method.outputs.size());
  for (const Epilogue& wanted : options.epilogues) {
    TRY(const auto output, graph_output_of(method, delegate, graph, method.outputs[wanted.output]));
    const u32 count = wanted.kind == Epilogue::top_k ? 2 : 1;
    if (output) {
      Epilogue here = wanted;
      here.output = *output;
      TRY_DO(ops::append_epilogue(graph, here));
      for (u32 i = 0; i < count; ++i) added.push_back(next + i);
    }
    next += count;
  }
  return added;
}

// Every epilogue shortens an output that some delegate makes.
Status check_epilogues(const format::MethodSpec& method, const MethodOptions& options) {
  for (const Epilogue& epilogue : options.epilogues) {
    if (epilogue.output >= method.outputs.size())
      return invalid("an epilogue is asked of output ", epilogue.output, ", but method ", method.name, " has ",
                     method.outputs.size(), " outputs");
    const u32 value = method.outputs[epilogue.output];
    const auto made = [&](const format::Instruction& instruction) {
      const auto* call = std::get_if<format::DelegateCall>(&instruction);
      return call && std::ranges::find(call->args, value) != call->args.end();
    };
    if (!std::holds_alternative<format::TensorSpec>(method.values[value]) ||
        std::ranges::none_of(method.instructions, made))
      return unsupported("an epilogue is asked of output ", epilogue.output, " of method ", method.name,
                         ", which is not a tensor that the GPU computes");
  }
  return {};
}

// What instructions or callers of a method can read.
std::set<u32> used_values(const format::MethodSpec& method) {
  std::set<u32> out(method.outputs.begin(), method.outputs.end());
  for (const format::Instruction& instruction : method.instructions) {
    if (const auto* call = std::get_if<format::DelegateCall>(&instruction))
      out.insert(call->args.begin(), call->args.end());
    if (const auto* call = std::get_if<format::KernelCall>(&instruction))
      out.insert(call->args.begin(), call->args.end());
    if (const auto* move = std::get_if<format::MoveCall>(&instruction)) out.insert(move->from);
  }
  return out;
}

Status check_layout(const format::TensorSpec& tensor, std::string_view what, size_t index) {
  if (!tensor.dtype)
    return unsupported(what, " ", index, " is of ", format::scalar_type_name(tensor.scalar_type),
                       ", which Pteron has no type for");
  if (!tensor.contiguous)
    return unsupported(what, " ", index, " is not in contiguous order (channels-last, say); export it contiguous");
  return {};
}

// What goes in and comes out is a number, or a tensor of a type and an order that the host's tensors have.
Status check_ends(const format::MethodSpec& spec, const std::vector<u32>& ends, std::string_view what) {
  for (size_t i = 0; i < ends.size(); ++i) {
    const format::ProgramValue& value = spec.values[ends[i]];
    if (const auto* tensor = std::get_if<format::TensorSpec>(&value))
      TRY_DO(check_layout(*tensor, what, i));
    else if (!is_number(value))
      return unsupported(what, " ", i, " is neither a tensor nor a number");
  }
  return {};
}

Status check_layouts(const format::MethodSpec& spec) {
  TRY_DO(check_ends(spec, spec.inputs, "input"));
  return check_ends(spec, spec.outputs, "output");
}

}  // namespace

namespace {

// Names for a message, each once: the first few, and how many more there are.
class Names {
 public:
  void add(std::string_view name) {
    if (seen_.insert(name).second && first_.size() < most) first_.emplace_back(name);
  }
  bool empty() const { return seen_.empty(); }
  std::string joined(std::string_view separator = ", ") const {
    const size_t more = seen_.size() - first_.size();
    return join(first_, separator) + (more > 0 ? str(" and ", more, " more") : "");
  }

 private:
  static constexpr size_t most = 20;
  std::set<std::string_view> seen_;
  std::vector<std::string> first_;
};

}  // namespace

std::string obstacles(const format::MethodSpec& method) {
  Names outside, backends;
  std::vector<std::string> out;
  bool branches = false;
  for (const format::Instruction& instruction : method.instructions) {
    if (const auto* call = std::get_if<format::KernelCall>(&instruction)) {
      if (method.operators[call->op] != copy_op) outside.add(method.operators[call->op]);
    } else if (std::holds_alternative<format::JumpFalseCall>(instruction)) {
      branches = true;
    }
  }
  for (const format::DelegateSpec& delegate : method.delegates)
    if (!is_backend(delegate.id)) backends.add(delegate.id);
  if (!outside.empty()) out.push_back(str("these ops were not delegated: ", outside.joined()));
  if (!backends.empty())
    out.push_back(str("a part is delegated to '", backends.joined("' and '"), "', only '", backend_id, "' runs here"));
  if (branches) out.push_back("the method branches");
  return join(out, "; ");
}

bool is_for_this_backend(const format::MethodSpec& method) {
  return std::any_of(method.delegates.begin(), method.delegates.end(),
                     [](const format::DelegateSpec& delegate) { return is_backend(delegate.id); });
}

Status check_runnable(const format::MethodSpec& method) {
  const std::string problem = obstacles(method);
  if (problem.empty()) return check_layouts(method);
  return unsupported(problem,
                     is_for_this_backend(method)
                         ? "; run it in stock ExecuTorch, which has CPU kernels for the rest, after `import pteron` "
                           "(pip install 'pteron[executorch]')"
                         : "; nothing of it is for the GPU: export it with PteronPartitioner of pteron.partition",
                     " (`pteron info` on the file says more)");
}

graph::CompileOptions compile_options(const LoadOptions& options) {
  graph::CompileOptions out;
  out.disabled_passes = options.disabled_passes;
  out.routes = options.routes;
  out.f16_kv_cache = options.f16_kv_cache;
  out.fast_math = options.fast_math;
  out.guards = options.guards;
  out.submit_microseconds = options.submit_microseconds;
  out.answer_seconds = options.answer_seconds;
  return out;
}

Result<std::shared_ptr<const graph::CompiledGraph>> compile_delegate(
    const format::DelegateGraph& parsed, const graph::DataLocation& blob, const graph::FindData& find,
    const gpu::DeviceInfo& device, const graph::CompileOptions& options, std::vector<graph::UnsupportedOp>* problems,
    const std::function<Status(graph::Graph&)>& extend) {
  TRY(graph::Graph graph, graph::build_graph(parsed, blob, find, problems));
  if (extend) TRY_DO(extend(graph));
  return graph::compile(std::move(graph), device, options, problems);
}

Result<CompiledDelegate> compile_delegate_of(const ProgramFiles& files, const format::MethodSpec& method, u32 delegate,
                                             const format::DelegateGraph& parsed, const gpu::DeviceInfo& device,
                                             const LoadOptions& options, const MethodOptions& method_options,
                                             std::vector<graph::UnsupportedOp>* problems) {
  CompiledDelegate out;
  graph::CompileOptions with = compile_options(options);
  with.input_is_static = static_inputs(method, delegate, parsed.inputs.size());
  const graph::DataLocation blob{0, method.delegates[delegate].blob};
  const auto find = [&](std::string_view key) { return files.find(key); };
  const auto append = [&](graph::Graph& graph) -> Status {
    TRY(out.added_outputs, append_epilogues(method, delegate, graph, method_options));
    return {};
  };
  TRY(out.graph, compile_delegate(parsed, blob, find, device, with, problems, append));
  return out;
}

Result<std::unique_ptr<MethodLoading>> MethodLoading::begin(std::shared_ptr<graph::Context> context,
                                                            const ProgramFiles& files, const format::MethodSpec& method,
                                                            graph::ConstantStore& store, const LoadOptions& options,
                                                            const MethodOptions& method_options) {
  TRY_DO(check_runnable(method));
  TRY_DO(check_epilogues(method, method_options));
  std::unique_ptr<MethodLoading> self(
      new MethodLoading(std::move(context), files, method, store, options, method_options));
  TRY_DO(self->plan_constants());
  return self;
}

Status MethodLoading::plan_constants() {
  const auto& values = loaded_.spec->values;
  std::map<std::tuple<u32, u64, u64>, std::vector<u32>> ranges;  // by source, offset and size
  for (u32 id : used_values(*loaded_.spec)) {
    const auto* tensor = std::get_if<format::TensorSpec>(&values[id]);
    if (!tensor || !tensor->dtype || !tensor->contiguous) continue;
    std::optional<graph::DataLocation> where;
    if (tensor->data) where = graph::DataLocation{0, *tensor->data};
    if (!tensor->external_key.empty()) {
      TRY(where, files_.find(tensor->external_key));
    }
    if (!where) continue;
    const u64 bytes = tensor->shape.numel() * size_of(*tensor->dtype);
    if (where->range.size < bytes)
      return invalid("constant value ", id, " of shape ", tensor->shape, " has only ", where->range.size, " bytes");
    ranges[{where->source, where->range.offset, bytes}].push_back(id);
  }
  std::map<u32, u64> taken;  // of a source
  for (auto& [range, ids] : ranges) {
    const auto [source, offset, size] = range;
    taken[source] += size;
    constants_.push_back({{source, {offset, size}}, std::move(ids)});
  }
  for (const auto& [source, sum] : taken)
    if (sum > files_.sizes[source])
      return invalid("the constants overlap: they have ", sum, " bytes together, and their file ",
                     files_.sizes[source]);
  return {};
}

MethodLoading::Need MethodLoading::next() const {
  if (current_) return current_->next();
  if (delegate() < loaded_.spec->delegates.size()) {
    const format::DataRange blob = loaded_.spec->delegates[delegate()].blob;
    const u64 wanted = header_ ? header_->flatbuffer.end() : std::min(blob.size, format::delegate_header_bytes);
    return {Need::data, {0, {blob.offset, wanted}}};
  }
  if (loaded_.constant_bytes.size() < constants_.size())
    return {Need::data, constants_[loaded_.constant_bytes.size()].where};
  return {Need::nothing, {}};
}

Status MethodLoading::supply(Bytes bytes) {
  if (current_) {
    TRY_DO(current_->supply(bytes));
    return advance();
  }
  const Need need = next();
  if (need.kind != Need::data || bytes.size() != need.where.range.size)
    return internal_error("bytes were supplied that nobody asked for");
  if (delegate() < loaded_.spec->delegates.size()) return within(supply_blob(bytes), "delegate ", delegate());
  return supply_constant(bytes);
}

// First the header, then all up to the end of the graph; inline constants behind it are asked for like any others.
Status MethodLoading::supply_blob(Bytes bytes) {
  if (!header_) {
    TRY(header_, format::read_delegate_header(bytes, loaded_.spec->delegates[delegate()].blob.size));
    return {};
  }
  TRY(const format::DelegateGraph parsed, format::read_delegate_graph(bytes, *header_));
  header_.reset();
  TRY(auto compiled,
      compile_delegate_of(files_, *loaded_.spec, delegate(), parsed, context_->info(), options_, loaded_.options));
  added_outputs_ = std::move(compiled.added_outputs);
  TRY(current_, graph::Loading::begin(context_, std::move(compiled.graph), store_));
  return advance();
}

Status MethodLoading::supply_constant(Bytes bytes) {
  const HostConstant& constant = constants_[loaded_.constant_bytes.size()];
  const auto& kept = loaded_.constant_bytes.emplace_back(bytes.begin(), bytes.end());
  for (u32 id : constant.values) {
    const auto& spec = std::get<format::TensorSpec>(loaded_.spec->values[id]);
    loaded_.constants.emplace(id, TensorView{*spec.dtype, spec.shape, kept});
  }
  return {};
}

Status MethodLoading::poll(bool wait) {
  if (!current_) return internal_error("nothing is being compiled");
  TRY_DO(current_->poll(wait));
  return advance();
}

Status MethodLoading::advance() {
  if (!current_ || current_->next().kind != Need::nothing) return {};
  TRY(auto graph, current_->finish());
  loaded_.delegates.push_back({std::move(graph), std::move(added_outputs_), {}});
  current_.reset();
  return {};
}

Result<std::shared_ptr<LoadedMethod>> MethodLoading::finish() {
  if (next().kind != Need::nothing) return internal_error("the method is not loaded yet");
  return std::make_shared<LoadedMethod>(std::move(loaded_));
}

Progress MethodLoading::progress() const { return current_ ? current_->progress() : Progress{"weights", 0, 0}; }

}  // namespace pteron
