// SPDX-License-Identifier: BSD-3-Clause
#include "graph/lanes.h"
#include "runtime/program_impl.h"

#include <algorithm>

namespace pteron {

struct Batch::Impl {
  std::shared_ptr<Program::Impl> program;
  std::shared_ptr<LoadedMethod> loaded;

  // What runs so many lanes of these shapes.
  struct Engine {
    u32 lanes = 0;
    std::vector<Shape> shapes;
    std::unique_ptr<graph::Runner> runner;
  };
  std::vector<Engine> engines;

  // The step under way, or the last one.
  graph::Runner* runner = nullptr;
  bool running = false;
  std::vector<Lane*> lanes;
  std::vector<graph::State*> states;
  std::vector<graph::HostInput> inputs;
  OutputSet wanted;

  const graph::LoadedGraph& single() const { return *loaded->delegates[0].graph; }
  u32 outputs_per_lane() const { return u32(single().compiled->graph.outputs.size()); }
  static Method::Impl& impl_of(const Lane& lane) { return *lane.method->impl_; }

  void take_up(std::span<Lane> all);
  bool has_shapes(const Engine& engine, std::span<const graph::HostInput> given) const;
  Result<graph::Runner*> find_runner();
  Result<std::unique_ptr<graph::Runner>> make_runner(u32 count, std::span<const graph::HostInput> like);
  void line_up();
  Status submit();
  void let_go();
};

namespace {

u32 delegate_calls(const format::MethodSpec& spec) {
  return u32(std::ranges::count_if(spec.instructions, [](const format::Instruction& instruction) {
    return std::holds_alternative<format::DelegateCall>(instruction);
  }));
}

}  // namespace

Result<Batch> Program::batch(std::string_view name, const MethodOptions& options) {
  TRY(const format::MethodSpec* spec, impl_->find(name));
  if (delegate_calls(*spec) != 1)
    return unsupported("method ", name, " runs ", delegate_calls(*spec),
                       " delegates; only methods with one can be batched");
  const std::scoped_lock lock(impl_->mutex);
  auto loaded = within(impl_->load(*spec, options), impl_->frame(name));
  if (!loaded) return Failure(std::move(loaded.error()));
  auto impl = std::make_unique<Batch::Impl>();
  impl->program = impl_;
  impl->loaded = *std::move(loaded);
  return Batch(std::move(impl));
}

Batch::Batch(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Batch::Batch(Batch&&) noexcept = default;
Batch& Batch::operator=(Batch&&) noexcept = default;
Batch::~Batch() = default;

// Those lanes that can begin; all of one shape.
void Batch::Impl::take_up(std::span<Lane> all) {
  lanes.clear();
  for (Lane& lane : all) {
    Method::Impl& method = impl_of(lane);
    lane.status = method.begin_lane(*loaded, lane.inputs, lane.wanted);
    if (!lane.status) continue;
    const auto mine = method.lane_inputs();
    const auto same = [&](std::span<const graph::HostInput> first) {
      return std::ranges::equal(first, mine, {}, &graph::HostInput::shape, &graph::HostInput::shape);
    };
    if (lanes.empty() || same(impl_of(*lanes[0]).lane_inputs())) {
      lanes.push_back(&lane);
      continue;
    }
    method.drop_lane();
    lane.status = invalid("its inputs have other shapes than those of the first lane; in a batch they are the same");
  }
}

bool Batch::Impl::has_shapes(const Engine& engine, std::span<const graph::HostInput> given) const {
  return std::ranges::equal(engine.shapes, given, {}, {}, &graph::HostInput::shape);
}

Result<std::unique_ptr<graph::Runner>> Batch::Impl::make_runner(u32 count, std::span<const graph::HostInput> like) {
  TRY(auto compiled, graph::compile_lanes(*single().compiled, count, like, compile_options(program->options)));
  TRY(auto loading, graph::Loading::begin(single().context, std::move(compiled), program->constants));
  TRY(auto made, graph::drive(*loading, program->open.sources, ProgressFn{}));
  return graph::Runner::create(std::move(made));
}

Result<graph::Runner*> Batch::Impl::find_runner() {
  const u32 count = u32(lanes.size());
  const auto like = impl_of(*lanes[0]).lane_inputs();
  for (const Engine& engine : engines)
    if (engine.lanes == count && has_shapes(engine, like)) return engine.runner.get();
  auto made = within(make_runner(count, like), "a batch of ", count);
  if (!made) return Failure(std::move(made.error()));
  Engine& engine = engines.emplace_back(count, std::vector<Shape>(), *std::move(made));
  for (const graph::HostInput& input : like) engine.shapes.push_back(input.shape);
  return engine.runner.get();
}

// Everything of the first lane, then of the second, …
void Batch::Impl::line_up() {
  states.clear();
  inputs.clear();
  wanted.clear();
  for (u32 i = 0; i < lanes.size(); ++i) {
    Method::Impl& method = impl_of(*lanes[i]);
    states.push_back(&method.delegates[0].state);
    inputs.insert(inputs.end(), method.lane_inputs().begin(), method.lane_inputs().end());
    for (u32 output = 0; output < outputs_per_lane(); ++output)
      if (method.lane_wanted().contains(output)) wanted.add(i * outputs_per_lane() + output);
  }
}

// A lane that fails is left out, and the others try again without it.
Status Batch::Impl::submit() {
  while (!lanes.empty()) {
    TRY(runner, find_runner());
    line_up();
    Status begun = runner->begin(states, inputs, wanted);
    if (begun) return running = true, Status();
    const auto failed = runner->failed_lane();
    if (!failed || begun.error().kind == ErrorKind::unsupported) return begun;
    impl_of(*lanes[*failed]).drop_lane();
    lanes[*failed]->status = std::move(begun);
    lanes.erase(lanes.begin() + *failed);
  }
  return {};
}

void Batch::Impl::let_go() {
  running = false;
  for (Lane* lane : lanes) impl_of(*lane).drop_lane();
  lanes.clear();
  runner = nullptr;
  std::erase_if(engines, [](const Engine& engine) { return engine.runner->is_running(); });
}

Status Batch::begin(std::span<Lane> lanes) {
  Impl& b = *impl_;
  if (b.running) return invalid("the batch is already running; call finish first");
  if (lanes.empty() || lanes.size() > most_lanes)
    return invalid("a batch has 1 to ", most_lanes, " lanes, not ", lanes.size());
  b.take_up(lanes);
  Status begun = b.submit();
  if (!begun) b.let_go();
  return begun;
}

Result<bool> Batch::finish(bool wait) {
  Impl& b = *impl_;
  if (!b.running) return true;  // no lane could begin
  auto done = b.runner->finish(wait);
  if (!done) b.let_go();
  if (!done || !*done) return done;
  for (u32 i = 0; i < b.lanes.size(); ++i) {
    Method::Impl& method = Impl::impl_of(*b.lanes[i]);
    Status& status = b.lanes[i]->status;
    status = b.runner->fault(i);
    if (status)
      status = method.finish_lane(*b.runner, i * b.outputs_per_lane());
    else
      method.drop_lane();
  }
  b.running = false;
  b.lanes.clear();
  return true;
}

u64 Batch::working_bytes() const {
  u64 sum = 0;
  for (const Impl::Engine& engine : impl_->engines) sum += engine.runner->bytes();
  return sum;
}

MemoryTraffic Batch::traffic(u32 positions) const {
  return impl_->runner ? graph::traffic_of(*impl_->runner, positions) : MemoryTraffic{};
}

MethodStats Batch::stats() const {
  if (!impl_->runner) return {};
  const graph::StepStats s = impl_->runner->stats();
  return {.dispatches = s.dispatches,
          .replanned = s.replanned,
          .late_pipelines = s.late_pipelines,
          .uploaded_bytes = s.uploaded,
          .read_back_bytes = s.read_back,
          .working_bytes = working_bytes()};
}

}  // namespace pteron
