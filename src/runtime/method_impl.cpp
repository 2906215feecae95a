// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/method_impl.h"

#include "graph/convert.h"

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
  if (const auto* i = std::get_if<i64>(&value)) return Tensor::scalar(*i);
  if (const auto* d = std::get_if<f64>(&value)) return Tensor::scalar(*d);
  if (const auto* b = std::get_if<bool>(&value)) return Tensor::scalar(*b);
  return std::nullopt;
}

bool reads(const format::Instruction& instruction, u32 value) {
  return std::visit(
      [&](const auto& call) {
        if constexpr (requires { call.args; })
          return std::ranges::find(call.args, value) != call.args.end();
        else if constexpr (requires { call.from; })
          return call.from == value;
        else
          return false;
      },
      instruction);
}

}  // namespace

MethodInfo describe_method(const format::MethodSpec& spec, std::span<const Epilogue> epilogues) {
  MethodInfo out;
  out.name = spec.name;
  for (u32 id : spec.inputs) out.inputs.push_back(describe_value(spec.values[id]));
  for (u32 id : spec.outputs) out.outputs.push_back(describe_value(spec.values[id]));
  for (const Epilogue& e : epilogues) {
    const ValueInfo source = out.outputs[e.output];
    Shape shape;
    if (e.rows == Epilogue::all) shape.push_back(u32(source.shape.numel() / std::max(source.shape.dim(-1), 1u)));
    if (e.kind == Epilogue::top_k)
      shape.push_back(e.k);
    else if (e.rows == Epilogue::last)
      shape.push_back(1);
    const bool dynamic = e.rows == Epilogue::all && source.dynamic;
    if (e.kind != Epilogue::arg_max) out.outputs.push_back({true, DType::f32, shape, dynamic});
    if (e.kind != Epilogue::log_sum_exp) out.outputs.push_back({true, DType::i32, shape, dynamic});
  }
  return out;
}

Result<std::unique_ptr<Method::Impl>> Method::Impl::create(std::shared_ptr<const void> keep_alive,
                                                           std::shared_ptr<LoadedMethod> loaded) {
  auto self = std::make_unique<Impl>();
  self->keep_alive_ = std::move(keep_alive);
  self->loaded_ = loaded;
  for (LoadedMethod::Delegate& delegate : loaded->delegates) {
    auto runners = delegate.runners.lock();
    if (!runners) {
      TRY(runners, graph::RunnerPool::create(delegate.graph));
      delegate.runners = runners;
    }
    TRY(auto state, graph::State::create(delegate.graph));
    self->delegates.push_back({std::move(runners), std::move(state), delegate.added_outputs, 0, {}, {}});
  }
  TRY_DO(self->set_up());
  return self;
}

Status Method::Impl::set_up() {
  spec_ = loaded_->spec;
  info = describe_method(*spec_, loaded_->options.epilogues);
  outputs.resize(info.outputs.size());
  slots_.resize(spec_->values.size());
  for (size_t id = 0; id < spec_->values.size(); ++id) {
    Slot& slot = slots_[id];
    if (auto scalar = scalar_tensor(spec_->values[id])) slot.owned = *std::move(scalar);
    if (const auto* i = std::get_if<i64>(&spec_->values[id])) slot.number = *i;
    slot.ready = !std::holds_alternative<format::TensorSpec>(spec_->values[id]);
  }
  for (const auto& [id, constant] : loaded_->constants) {
    slots_[id].owned = constant;
    slots_[id].ready = true;
  }
  for (size_t i = 0; i < spec_->instructions.size(); ++i) {
    TRY(auto taken, taken_by(i));
    taken_.push_back(std::move(taken));
  }
  return {};
}

Result<std::vector<Method::Impl::Taken>> Method::Impl::taken_by(size_t instruction) const {
  std::vector<Taken> out;
  const auto* call = std::get_if<format::DelegateCall>(&spec_->instructions[instruction]);
  if (!call) return out;
  const graph::Graph& graph = delegates[call->delegate].runners->loaded()->compiled->graph;
  TRY(const u32 first, within(graph.first_taken_output(call->args.size()), "delegate ", call->delegate));
  for (size_t i = graph.inputs.size(); i < call->args.size(); ++i) {
    Taken& taken = out.emplace_back(first + u32(i - graph.inputs.size()), call->args[i]);
    for (size_t later = instruction + 1; later < spec_->instructions.size(); ++later)
      taken.needed |= reads(spec_->instructions[later], taken.value);
    for (u32 result = 0; result < spec_->outputs.size(); ++result)
      if (spec_->outputs[result] == taken.value) taken.results.push_back(result);
  }
  return out;
}

Status Method::Impl::check_idle(std::string_view what) const {
  if (running_) return invalid(what, " while a step is under way; call finish first");
  return {};
}

// All but the state is shared or starts anew.
Result<std::unique_ptr<Method::Impl>> Method::Impl::clone() const {
  TRY_DO(check_idle("a method can't be cloned"));
  auto other = std::make_unique<Impl>();
  other->keep_alive_ = keep_alive_;
  other->loaded_ = loaded_;
  for (const Delegate& delegate : delegates) {
    TRY(auto state, delegate.state.clone());
    other->delegates.push_back({delegate.runners, std::move(state), delegate.added_outputs, 0, {}, {}});
  }
  TRY_DO(other->set_up());
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
  for (size_t i = 0; i < inputs.size(); ++i) {
    Slot& slot = slots_[spec_->inputs[i]];
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

Status Method::Impl::prepare(std::span<const TensorView> inputs, const OutputSet& wanted) {
  if (running_) return invalid("the method is already running; call finish first");
  TRY_DO(check_inputs(inputs));
  TRY_DO(set_inputs(inputs));
  wanted_ = wanted;
  pc_ = 0;
  return {};
}

Status Method::Impl::begin(std::span<const TensorView> inputs, const OutputSet& wanted) {
  TRY_DO(prepare(inputs, wanted));
  TRY_DO(run_until_submit());
  running_ = true;
  return {};
}

Status Method::Impl::begin_lane(const LoadedMethod& loaded, std::span<const TensorView> inputs,
                                const OutputSet& wanted) {
  if (loaded_.get() != &loaded)
    return invalid("a batch runs one method; this is one of another program, or with other options");
  TRY_DO(prepare(inputs, wanted));
  TRY_DO(run_until_call());
  if (!call()) return internal_error("a lane has nothing to run");
  TRY_DO(gather(*call()));
  TRY_DO(graph::check_inputs(*delegates[call()->delegate].runners->loaded()->compiled, host_inputs_));
  running_ = true;
  return {};
}

Status Method::Impl::finish_lane(const graph::Runner& runner, u32 first) {
  running_ = false;
  TRY_DO(collect(*call(), runner, first));
  ++pc_;
  TRY_DO(run_until_call());
  return publish();
}

const format::DelegateCall* Method::Impl::call() const {
  return pc_ < spec_->instructions.size() ? std::get_if<format::DelegateCall>(&spec_->instructions[pc_]) : nullptr;
}

Status Method::Impl::run_until_call() {
  const auto& code = spec_->instructions;
  for (; pc_ < code.size() && !call(); ++pc_) {
    if (const auto* kernel = std::get_if<format::KernelCall>(&code[pc_])) TRY_DO(copy(*kernel));
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

Status Method::Impl::run_until_submit() {
  TRY_DO(run_until_call());
  if (!call()) return {};
  Status status = submit(*call());
  if (!status) runner_.give_back();
  return status;
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

void Method::Impl::choose_wanted(const Delegate& delegate) {
  graph_wanted_.clear();
  for (const Taken& taken : taken_[pc_])
    if (taken.needed || std::ranges::any_of(taken.results, [&](u32 result) { return wanted_.contains(result); }))
      graph_wanted_.add(taken.output);
  const u32 first_added = u32(delegate.runners->loaded()->compiled->graph.file_outputs);
  for (u32 i = 0; i < delegate.added_outputs.size(); ++i)
    if (wanted_.contains(delegate.added_outputs[i])) graph_wanted_.add(first_added + i);
}

Status Method::Impl::gather(const format::DelegateCall& call) {
  const Delegate& delegate = delegates[call.delegate];
  const graph::Graph& graph = delegate.runners->loaded()->compiled->graph;
  host_inputs_.clear();
  for (size_t i = 0; i < graph.inputs.size(); ++i) {
    const Slot& slot = slots_[call.args[i]];
    if (!slot.ready)
      return invalid("delegate ", call.delegate, " reads value ", call.args[i], ", which nothing has produced");
    const TensorView view = slot.get();
    graph::HostInput input{view.dtype, view.shape, view.bytes, std::nullopt};
    if (!graph.tensor(graph.inputs[i])) {
      if (slot.number)
        input.number = slot.number;
      else if (view.shape.numel() == 1 && !is_float(view.dtype))
        input.number = graph::element_as_integer(view.bytes, view.dtype, 0);
    }
    host_inputs_.push_back(input);
  }
  choose_wanted(delegate);
  return {};
}

Status Method::Impl::submit(const format::DelegateCall& call) {
  TRY_DO(gather(call));
  Delegate& delegate = delegates[call.delegate];
  TRY(runner_, delegate.runners->borrow(delegate.last_step));
  runner_->set_profiling(profiling);
  graph::State* const lanes[] = {&delegate.state};
  TRY_DO(runner_->begin(lanes, host_inputs_, graph_wanted_));
  delegate.last_step = runner_->last_step();
  return {};
}

Status Method::Impl::collect(const Taken& taken, const graph::Runner& runner, u32 first) {
  Slot& slot = slots_[taken.value];
  slot.borrowed = false;
  slot.ready = true;
  const u32 output = first + taken.output;
  if (!runner.output_is_tensor(output)) {
    TRY(slot.number, runner.output_number(output));
    slot.owned = Tensor::scalar(*slot.number);
    return {};
  }
  const auto* tensor = std::get_if<format::TensorSpec>(&spec_->values[taken.value]);
  const DType dtype = tensor && tensor->dtype ? *tensor->dtype : runner.output_dtype(output);
  slot.owned.reshape(dtype, runner.output_shape(output));
  return runner.read_output(output, dtype, slot.owned.bytes());
}

Status Method::Impl::collect(const format::DelegateCall& call, const graph::Runner& runner, u32 first) {
  Delegate& delegate = delegates[call.delegate];
  for (const Taken& taken : taken_[pc_])
    if (graph_wanted_.contains(taken.output)) TRY_DO(collect(taken, runner, first));
  const u32 first_added = u32(delegate.runners->loaded()->compiled->graph.file_outputs);
  for (u32 i = 0; i < delegate.added_outputs.size(); ++i) {
    if (!graph_wanted_.contains(first_added + i)) continue;
    Tensor& output = outputs[delegate.added_outputs[i]];
    const u32 from = first + first_added + i;
    output.reshape(runner.output_dtype(from), runner.output_shape(from));
    TRY_DO(runner.read_output(from, output.dtype(), output.bytes()));
  }
  delegate.stats = runner.stats();
  delegate.profile.clear();
  if (!profiling) return {};
  for (const graph::OpTime& time : graph::profile_of(runner))
    delegate.profile.push_back(
        {runner.compiled().graph.ops[time.op].name, std::string(time.kernel), time.nanoseconds, time.route});
  return {};
}

// Takes everything from a step that has ended, so that others can have its runner, and goes on.
Status Method::Impl::land(const format::DelegateCall& call) {
  TRY_DO(collect(call, *runner_, 0));
  runner_.give_back();
  ++pc_;
  return run_until_submit();
}

Result<bool> Method::Impl::finish(bool wait) {
  if (!running_) return invalid("the method is not running; call begin first");
  if (!runner_ && call()) return invalid("the method runs in a batch, which has to finish it");
  const auto stop = [&](Error error) -> Result<bool> {
    running_ = false;
    runner_.give_back();
    return Failure(std::move(error));
  };
  while (pc_ < spec_->instructions.size()) {
    auto done = runner_->finish(wait);
    if (!done) return stop(std::move(done.error()));
    if (!*done) return false;
    auto landed = land(std::get<format::DelegateCall>(spec_->instructions[pc_]));
    if (!landed) return stop(std::move(landed.error()));
  }
  if (auto status = publish(); !status) return stop(std::move(status.error()));
  running_ = false;
  return true;
}

Status Method::Impl::publish() {
  const auto& results = spec_->outputs;
  for (u32 i = 0; i < results.size(); ++i) {
    if (!wanted_.contains(i)) continue;
    if (!slots_[results[i]].ready) return invalid("output ", i, " of method ", info.name, " is never produced");
    const TensorView from = slots_[results[i]].get();
    outputs[i].reshape(from.dtype, from.shape);
    if (!from.bytes.empty()) std::memcpy(outputs[i].bytes().data(), from.bytes.data(), from.bytes.size());
  }
  return {};
}

}  // namespace pteron
