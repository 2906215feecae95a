// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/method_impl.h"

#include "graph/dtype_cast.h"

#include <algorithm>
#include <cstring>
#include <set>

namespace pteron {
namespace {

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

Result<std::unique_ptr<Method::Impl>> Method::Impl::create(std::shared_ptr<const void> keep_alive,
                                                           const std::shared_ptr<LoadedMethod>& loaded) {
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
  reset_values();
  for (size_t i = 0; i < spec_->instructions.size(); ++i) {
    TRY(auto taken, taken_by(i));
    taken_.push_back(std::move(taken));
  }
  std::set<u32> written;
  for (const format::Instruction& instruction : spec_->instructions) {
    if (const auto* call = std::get_if<format::KernelCall>(&instruction); call && !call->args.empty())
      written.insert(call->args[0]);
    if (const auto* move = std::get_if<format::MoveCall>(&instruction)) written.insert(move->to);
  }
  for (const auto& taken : taken_)
    for (const Taken& result : taken) written.insert(result.value);
  for (const auto& [id, constant] : loaded_->constants)
    if (written.contains(id)) written_constants_.push_back(id);
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
  other->slots_ = slots_;
  return other;
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
    if (const auto* kernel = std::get_if<format::KernelCall>(&code[pc_])) TRY_DO(copy_into(kernel->args));
    if (const auto* move = std::get_if<format::MoveCall>(&code[pc_])) TRY_DO(copy(move->from, move->to));
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
  const u32 output = first + taken.output;
  if (!runner.output_is_tensor(output)) {
    TRY(const i64 number, runner.output_number(output));
    return take_number(taken.value, number);
  }
  const auto* tensor = std::get_if<format::TensorSpec>(&spec_->values[taken.value]);
  const DType dtype = tensor && tensor->dtype ? *tensor->dtype : runner.output_dtype(output);
  TRY_DO(check_fits(taken.value, dtype, runner.output_shape(output)));
  return runner.read_output(output, dtype, slot.own(dtype, runner.output_shape(output)));
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
