// SPDX-License-Identifier: BSD-3-Clause
#include "graph/convert.h"
#include "runtime/method_impl.h"

#include <algorithm>
#include <cstring>

namespace pteron {
namespace {

ValueInfo describe_value(const format::ProgramValue& value) {
  ValueInfo out;
  if (const auto* tensor = std::get_if<format::TensorSpec>(&value)) {
    out.dtype = tensor->dtype.value_or(DType::f32);
    out.shape = tensor->shape;
    out.dynamic = tensor->dynamic;
  } else {
    out.is_tensor = false;
    out.dtype = std::holds_alternative<f64>(value)    ? DType::f64
                : std::holds_alternative<bool>(value) ? DType::boolean
                                                      : DType::i64;
  }
  return out;
}

// A method's number as a scalar tensor.
std::optional<Tensor> scalar_tensor(const format::ProgramValue& value) {
  const auto make = [](DType dtype, auto v) { return Tensor::of(dtype, Shape{}, std::span<const decltype(v)>(&v, 1)); };
  if (const auto* i = std::get_if<i64>(&value)) return make(DType::i64, *i);
  if (const auto* d = std::get_if<f64>(&value)) return make(DType::f64, *d);
  if (const auto* b = std::get_if<bool>(&value)) return make(DType::boolean, u8(*b));
  return std::nullopt;
}

}  // namespace

MethodInfo describe_method(const format::MethodSpec& spec, std::span<const Epilogue> epilogues) {
  MethodInfo out;
  out.name = spec.name;
  for (u32 id : spec.inputs) out.inputs.push_back(describe_value(spec.values[id]));
  for (u32 id : spec.outputs) out.outputs.push_back(describe_value(spec.values[id]));
  for (const Epilogue& e : epilogues) {
    if (e.output >= spec.outputs.size()) continue;
    if (e.kind == Epilogue::arg_max)
      out.outputs.push_back({true, DType::i32, Shape{1}, false});
    else {
      out.outputs.push_back({true, DType::f32, Shape{e.k}, false});
      out.outputs.push_back({true, DType::i32, Shape{e.k}, false});
    }
  }
  return out;
}

Result<std::unique_ptr<Method::Impl>> Method::Impl::create(std::shared_ptr<const void> keep_alive, LoadedMethod loaded,
                                                           const LoadOptions& options) {
  auto self = std::make_unique<Impl>();
  self->keep_alive = std::move(keep_alive);
  self->loaded = std::move(loaded);
  const format::MethodSpec& spec = *self->loaded.spec;
  self->info = describe_method(spec, options.epilogues);
  for (const auto& graph : self->loaded.delegates) {
    TRY(auto instance, graph::Instance::create(graph));
    self->instances.push_back(std::move(instance));
  }
  self->slots_.resize(spec.values.size());
  self->outputs.resize(self->info.outputs.size());
  for (size_t id = 0; id < spec.values.size(); ++id) {
    Slot& slot = self->slots_[id];
    if (auto scalar = scalar_tensor(spec.values[id])) slot.owned = *std::move(scalar);
    if (const auto* i = std::get_if<i64>(&spec.values[id])) slot.number = *i;
    slot.ready = !std::holds_alternative<format::TensorSpec>(spec.values[id]);
  }
  for (const auto& [id, constant] : self->loaded.constants) {
    self->slots_[id].owned = constant;
    self->slots_[id].ready = true;
  }
  return self;
}

Result<std::unique_ptr<Method::Impl>> Method::Impl::clone() {
  if (running_) return invalid("a method can't be cloned while it runs; call finish first");
  LoadOptions options;
  TRY(auto other, create(keep_alive, loaded, options));
  other->info = info;
  other->outputs.resize(outputs.size());
  for (size_t i = 0; i < instances.size(); ++i) {
    TRY(other->instances[i], instances[i]->clone());
  }
  return other;
}

Status Method::Impl::check_inputs(std::span<const TensorView> inputs) const {
  if (inputs.size() != info.inputs.size())
    return invalid("method ", info.name, " takes ", info.inputs.size(), " inputs, but ", inputs.size(), " were given");
  for (size_t i = 0; i < inputs.size(); ++i) {
    const ValueInfo& want = info.inputs[i];
    if (inputs[i].dtype != want.dtype)
      return invalid("input ", i, " should be ", want.dtype, ", but ", inputs[i].dtype, " was given");
    if (!want.is_tensor && inputs[i].shape.rank() != 0)
      return invalid("input ", i, " should be a number (rank 0), but ", inputs[i].shape, " was given");
    if (want.is_tensor && !want.dynamic && !(inputs[i].shape == want.shape))
      return invalid("input ", i, " should have shape ", want.shape, ", but ", inputs[i].shape, " was given");
    const u64 bytes = inputs[i].shape.numel() * size_of(inputs[i].dtype);
    if (inputs[i].bytes.size() != bytes || (bytes > 0 && inputs[i].bytes.data() == nullptr))
      return invalid("input ", i, " of shape ", inputs[i].shape, " ", inputs[i].dtype, " needs ", bytes, " bytes, but ",
                     inputs[i].bytes.size(), " were given");
  }
  return {};
}

Status Method::Impl::set_inputs(std::span<const TensorView> inputs) {
  const format::MethodSpec& spec = *loaded.spec;
  for (size_t i = 0; i < inputs.size(); ++i) {
    Slot& slot = slots_[spec.inputs[i]];
    slot.view = inputs[i];
    slot.borrowed = slot.ready = true;
    if (info.inputs[i].is_tensor) continue;
    if (inputs[i].dtype == DType::i64) {
      slot.number = graph::element_as_integer(inputs[i].bytes, DType::i64, 0);
    } else if (std::memcmp(inputs[i].bytes.data(), slot.owned.bytes().data(), inputs[i].bytes.size()) != 0) {
      return invalid("input ", i,
                     " is a number that was fixed when the program was exported; only that value can be given");
    }
  }
  return {};
}

Status Method::Impl::begin(std::span<const TensorView> inputs, u64 wanted) {
  if (running_) return invalid("the method is already running; call finish first");
  TRY_DO(check_inputs(inputs));
  TRY_DO(set_inputs(inputs));
  wanted_ = wanted;
  pc_ = 0;
  running_ = true;
  if (auto status = run_until_submit(); !status) {
    running_ = false;
    return status;
  }
  return {};
}

Status Method::Impl::run_until_submit() {
  const auto& code = loaded.spec->instructions;
  for (; pc_ < code.size(); ++pc_) {
    if (const auto* call = std::get_if<format::DelegateCall>(&code[pc_])) return submit(*call);
    if (const auto* call = std::get_if<format::KernelCall>(&code[pc_])) TRY_DO(copy(*call));
    if (const auto* move = std::get_if<format::MoveCall>(&code[pc_])) {
      Slot& from = slots_[move->from];
      slots_[move->to].view = from.get();
      slots_[move->to].borrowed = true;
      slots_[move->to].ready = from.ready;
      slots_[move->to].number = from.number;
    }
  }
  return {};
}

// The only op outside of delegates that is run here: it writes an updated input back.
Status Method::Impl::copy(const format::KernelCall& call) {
  if (call.args.size() < 2) return invalid("aten::copy_ has ", call.args.size(), " arguments");
  Slot& to = slots_[call.args[0]];
  if (!slots_[call.args[1]].ready)
    return invalid("aten::copy_ reads value ", call.args[1], ", which nothing has produced");
  const TensorView from = slots_[call.args[1]].get();
  to.owned.reshape(from.dtype, from.shape);
  if (!from.bytes.empty()) std::memcpy(to.owned.bytes().data(), from.bytes.data(), from.bytes.size());
  to.borrowed = false;
  to.ready = true;
  return {};
}

u64 Method::Impl::wanted_of(const format::DelegateCall& call) const {
  const graph::CompiledGraph& compiled = instances[call.delegate]->compiled();
  const size_t inputs = compiled.graph.inputs.size(), outputs_in_file = compiled.graph.file_outputs;
  const size_t bound = std::min(call.args.size() - inputs, outputs_in_file);
  const auto& results = loaded.spec->outputs;
  u64 mask = 0;
  for (size_t i = 0; i < bound; ++i) {
    const u32 value = call.args[inputs + i];
    bool needed = false;
    for (size_t out = 0; out < results.size(); ++out)
      if (results[out] == value && (wanted_ >> std::min<size_t>(out, 63) & 1)) needed = true;
    for (size_t later = pc_ + 1; later < loaded.spec->instructions.size() && !needed; ++later)
      std::visit(
          [&](const auto& c) {
            if constexpr (requires { c.args; })
              needed |= std::find(c.args.begin(), c.args.end(), value) != c.args.end();
            else if constexpr (requires { c.from; })
              needed |= c.from == value;
          },
          loaded.spec->instructions[later]);
    if (needed) mask |= u64(1) << std::min<size_t>(outputs_in_file - bound + i, 63);
  }
  for (size_t i = outputs_in_file; i < compiled.graph.outputs.size(); ++i) {
    const size_t out = results.size() + (i - outputs_in_file);
    if (wanted_ >> std::min<size_t>(out, 63) & 1) mask |= u64(1) << std::min<size_t>(i, 63);
  }
  return mask;
}

Status Method::Impl::submit(const format::DelegateCall& call) {
  graph::Instance& instance = *instances[call.delegate];
  const size_t inputs = instance.compiled().graph.inputs.size();
  if (call.args.size() < inputs)
    return invalid("delegate ", call.delegate, " takes ", inputs, " inputs, but is called with ", call.args.size(),
                   " arguments");
  if (call.args.size() - inputs > instance.compiled().graph.file_outputs)
    return invalid("delegate ", call.delegate, " is called with more outputs than it has");
  host_inputs_.clear();
  for (size_t i = 0; i < inputs; ++i) {
    const Slot& slot = slots_[call.args[i]];
    if (!slot.ready)
      return invalid("delegate ", call.delegate, " reads value ", call.args[i], ", which nothing has produced");
    const bool wants_tensor = instance.compiled().graph.tensor(instance.compiled().graph.inputs[i]) != nullptr;
    const TensorView view = slot.get();
    graph::HostInput input{view.dtype, view.shape, view.bytes, std::nullopt};
    if (!wants_tensor) {
      if (slot.number)
        input.number = slot.number;
      else if (view.shape.numel() == 1 && !is_float(view.dtype))
        input.number = graph::element_as_integer(view.bytes, view.dtype, 0);
    }
    host_inputs_.push_back(input);
  }
  return instance.begin(host_inputs_, wanted_of(call));
}

Status Method::Impl::collect(const format::DelegateCall& call) {
  graph::Instance& instance = *instances[call.delegate];
  const graph::Graph& graph = instance.compiled().graph;
  const size_t inputs = graph.inputs.size();
  const size_t bound = call.args.size() - inputs;
  const u64 wanted = wanted_of(call);
  for (size_t i = 0; i < bound; ++i) {
    const u32 index = u32(graph.file_outputs - bound + i);  // surplus outputs come first and are not bound
    if ((wanted >> std::min<u32>(index, 63) & 1) == 0) continue;
    Slot& slot = slots_[call.args[inputs + i]];
    slot.borrowed = false;
    slot.ready = true;
    if (!instance.output_is_tensor(index)) {
      TRY(slot.number, instance.output_number(index));
      const i64 number = *slot.number;
      slot.owned = Tensor::of(DType::i64, Shape{}, std::span<const i64>(&number, 1));
      continue;
    }
    const auto* tensor = std::get_if<format::TensorSpec>(&loaded.spec->values[call.args[inputs + i]]);
    const DType dtype = tensor && tensor->dtype ? *tensor->dtype : instance.output_dtype(index);
    slot.owned.reshape(dtype, instance.output_shape(index));
    TRY_DO(instance.read_output(index, dtype, slot.owned.bytes()));
  }
  size_t extra = loaded.spec->outputs.size();
  for (size_t i = graph.file_outputs; i < graph.outputs.size(); ++i, ++extra) {
    if ((wanted >> std::min<size_t>(i, 63) & 1) == 0 || extra >= outputs.size()) continue;
    outputs[extra].reshape(instance.output_dtype(u32(i)), instance.output_shape(u32(i)));
    TRY_DO(instance.read_output(u32(i), outputs[extra].dtype(), outputs[extra].bytes()));
  }
  return {};
}

Result<bool> Method::Impl::finish(bool wait) {
  if (!running_) return invalid("the method is not running; call begin first");
  const auto stop = [&](Status status) -> Result<bool> {
    running_ = false;
    return Failure(std::move(status.error()));
  };
  while (pc_ < loaded.spec->instructions.size()) {
    const auto& call = std::get<format::DelegateCall>(loaded.spec->instructions[pc_]);
    auto done = instances[call.delegate]->finish(wait);
    if (!done) return stop(Failure(std::move(done.error())));
    if (!*done) return false;
    if (auto status = collect(call); !status) return stop(std::move(status));
    ++pc_;
    if (auto status = run_until_submit(); !status) return stop(std::move(status));
  }
  running_ = false;
  if (auto status = publish(); !status) return stop(std::move(status));
  return true;
}

Status Method::Impl::publish() {
  const auto& results = loaded.spec->outputs;
  for (size_t i = 0; i < results.size(); ++i) {
    if ((wanted_ >> std::min<size_t>(i, 63) & 1) == 0) continue;
    if (!slots_[results[i]].ready) return invalid("output ", i, " of method ", info.name, " is never produced");
    const TensorView from = slots_[results[i]].get();
    outputs[i].reshape(from.dtype, from.shape);
    if (!from.bytes.empty()) std::memcpy(outputs[i].bytes().data(), from.bytes.data(), from.bytes.size());
  }
  return {};
}

Method::Method(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Method::Method(Method&&) noexcept = default;
Method& Method::operator=(Method&&) noexcept = default;
Method::~Method() = default;

const MethodInfo& Method::info() const { return impl_->info; }

Result<std::span<const Tensor>> Method::execute(std::span<const TensorView> inputs) {
  TRY_DO(impl_->begin(inputs, ~u64(0)));
  TRY_DO(impl_->finish(true));
  return outputs();
}
Status Method::begin(std::span<const TensorView> inputs, u64 wanted) { return impl_->begin(inputs, wanted); }
Result<bool> Method::finish(bool wait) { return impl_->finish(wait); }
std::span<const Tensor> Method::outputs() const { return impl_->outputs; }

Status Method::reset() {
  for (auto& instance : impl_->instances) TRY_DO(instance->reset());
  return {};
}
Status Method::rewind(u32 position) {
  for (auto& instance : impl_->instances) TRY_DO(instance->rewind(position));
  return {};
}
Result<Method> Method::clone() {
  TRY(auto impl, impl_->clone());
  return Method(std::move(impl));
}

MethodStats Method::stats() const {
  MethodStats out;
  for (const auto& instance : impl_->instances) {
    const graph::StepStats& s = instance->stats();
    out.dispatches += s.dispatches;
    out.replanned += s.replanned;
    out.late_pipelines += s.late_pipelines;
    out.uploaded_bytes += s.uploaded;
    out.read_back_bytes += s.read_back;
    out.gpu_bytes += instance->gpu_bytes();
  }
  return out;
}

MemoryTraffic Method::traffic(u32 positions) const {
  MemoryTraffic out;
  for (const auto& instance : impl_->instances) {
    const MemoryTraffic part = instance->traffic(positions);
    out.weights += part.weights;
    out.state += part.state;
    out.activations += part.activations;
    out.needed += part.needed;
  }
  return out;
}

void Method::set_profiling(bool on) {
  for (auto& instance : impl_->instances) instance->set_profiling(on);
}

std::vector<OpTiming> Method::profile() const {
  std::vector<OpTiming> out;
  for (const auto& instance : impl_->instances)
    for (const graph::OpTime& time : instance->profile())
      out.push_back(
          {instance->compiled().graph.ops[time.op].name, std::string(time.kernel), time.nanoseconds, time.route});
  return out;
}

std::vector<std::string> Method::kernels() const {
  std::vector<std::string> out;
  for (const auto& instance : impl_->instances)
    for (u32 i = 0; i < instance->stats().dispatches; ++i) {
      const std::string_view name = instance->kernel_name(i);
      if (std::find(out.begin(), out.end(), name) == out.end()) out.emplace_back(name);
    }
  return out;
}

}  // namespace pteron
