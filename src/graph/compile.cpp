// SPDX-License-Identifier: BSD-3-Clause
#include "graph/compiled.h"
#include "graph/op.h"
#include "graph/pass.h"
#include "graph/survey.h"

#include <algorithm>
#include <map>

namespace pteron::graph {

bool ConstantUse::matches(const Graph& graph, std::span<const PackedPart> parts) const {
  return std::equal(pieces.begin(), pieces.end(), parts.begin(), parts.end(),
                    [&](const ConstantPiece& piece, const PackedPart& part) {
                      const Tensor* tensor = graph.tensor(part.constant);
                      return tensor && tensor->constant && tensor->dtype == piece.from &&
                             piece.packing == part.packing &&
                             graph.constants[*tensor->constant].location == graph.constants[piece.constant].location;
                    });
}

bool CompileOptions::is_disabled(std::string_view pass) const {
  return std::find(disabled_passes.begin(), disabled_passes.end(), pass) != disabled_passes.end();
}

bool is_plain_copy(const Facts& facts, const Op& op) {
  if (!op.entry || !op.entry->is(copies)) return false;
  const ValueId from = op.args.front(), to = op.args.back();
  return facts.dtype[from] == facts.dtype[to] &&
         facts.graph->tensor(from)->max.numel() == facts.graph->tensor(to)->max.numel();
}

namespace {

// How the device stores a dtype: 64-bit types are narrowed; f16 is widened where shaders lack it.
DType device_dtype(DType t, const gpu::Features& features) {
  switch (t) {
    case DType::i64: return DType::i32;
    case DType::f64: return DType::f32;
    case DType::f16: return features.f16 ? DType::f16 : DType::f32;
    default: return t;
  }
}

u64 round_up(u64 bytes, u64 multiple) { return (bytes + multiple - 1) / multiple * multiple; }

class Compiler {
 public:
  Compiler(CompiledGraph& compiled, const CompileOptions& options) : c_(compiled), options_(options) {}

  // Before passes: what an op refuses is refused, whether or not a pass would put something else in its place.
  Status check(std::vector<UnsupportedOp>* problems) {
    init_facts();
    return Surveyor(c_, traffic_).check(problems);
  }

  Status run(std::vector<UnsupportedOp>* problems) {
    init_facts();
    TRY_DO(Surveyor(c_, traffic_).run(problems));
    if (problems && !problems->empty()) return {};
    const bool halved = options_.f16_kv_cache && halve_caches();
    const bool aliased = !options_.is_disabled("alias-copies") && alias_copies();
    if (halved)
      TRY_DO(within(Surveyor(c_, traffic_).run(nullptr), "with KV caches in half precision"));
    else if (aliased)
      TRY_DO(Surveyor(c_, traffic_).run(nullptr));
    if (!options_.is_disabled("constant-folding")) find_constant_ops();
    assign_storage();
    TRY_DO(place_memory());
    assign_slots();
    find_consumers();
    return check_constants();
  }

 private:
  void init_facts() {
    const Graph& graph = c_.graph;
    const size_t count = graph.values.size();
    c_.facts.graph = &c_.graph;
    c_.facts.dtype.assign(count, DType::f32);
    c_.facts.effects = Effects(graph);
    c_.facts.varies.assign(count, 0);
    for (ValueId id = 0; id < count; ++id) {
      if (const Tensor* tensor = graph.tensor(id))
        c_.facts.dtype[id] = device_dtype(tensor->dtype, c_.facts.device.features);
    }
    for (u32 i = 0; i < graph.inputs.size(); ++i) {
      const bool fixed = i < options_.input_is_static.size() && options_.input_is_static[i];
      c_.facts.varies[graph.inputs[i]] = !fixed || !graph.tensor(graph.inputs[i]);
    }
  }

  // Ops take any type of a cache, or refuse it in the survey that follows.
  bool halve_caches() {
    bool any = false;
    for (const Traffic::CacheUse& use : traffic_.caches) {
      if (!use.writes || !c_.graph.tensor(use.value)->constant || c_.facts.dtype[use.value] != DType::f32) continue;
      for (ValueId id = 0; id < c_.graph.values.size(); ++id)
        if (root(id) == root(use.value)) c_.facts.dtype[id] = DType::f16;
      any = true;
    }
    return any;
  }

  // Lets copies share their source's memory where nobody writes to either behind the other's back.
  bool alias_copies() {
    Effects& effects = c_.facts.effects;
    bool any = false;
    for (u32 i = 0; i < c_.graph.ops.size(); ++i) {
      const Op& op = c_.graph.ops[i];
      if (!is_plain_copy(c_.facts, op)) continue;
      const ValueId from = op.args.front(), to = op.args.back();
      if (root(from) == root(to) || c_.graph.is_input(to) || c_.graph.tensor(to)->constant) continue;
      if (c_.graph.tensor(from)->part || c_.graph.tensor(to)->part) continue;
      // `to` is written by this op alone, and `from` by nobody after it.
      const bool written_later = effects.writers(from) > 0 && effects.writing(from).back() > i;
      if (effects.writers(to) > 1 || written_later) continue;
      effects.share(i, from, to);
      any = true;
    }
    return any;
  }

  ValueId root(ValueId id) const { return c_.facts.effects.memory(id); }

  // Ops that depend on constants alone.
  void find_constant_ops() {
    const Graph& graph = c_.graph;
    const Effects& effects = c_.facts.effects;
    std::vector<u8> fixed(graph.values.size(), 0);
    for (ValueId id = 0; id < graph.values.size(); ++id)
      if (effects.is_fixed(graph, id)) fixed[root(id)] = 1;
    const auto stays = [&](const Use& use) {
      if (use.writes())
        return effects.writers(use.value) == 1 && !graph.is_input(root(use.value)) && !is_state(use.value);
      return use.role == Role::shape || fixed[root(use.value)] != 0;
    };
    for (u32 op = 0; op < graph.ops.size(); ++op) {
      OpPlan& plan = c_.ops[op];
      const auto varies = [&](ValueId id) { return c_.facts.varies[id] != 0; };
      plan.is_constant = plan.host_reads.empty() && std::ranges::none_of(plan.reads, varies) &&
                         std::ranges::all_of(effects.of(op), stays);
      if (!plan.is_constant) continue;
      for (const Use& use : effects.of(op))
        if (use.writes()) fixed[root(use.value)] = 1;
    }
  }

  void assign_storage() {
    const Graph& graph = c_.graph;
    c_.storage.assign(graph.values.size(), {});
    std::vector<u8> used(graph.values.size(), 0);
    for (u32 op = 0; op < graph.ops.size(); ++op) {
      for (ValueId id : traffic_.reads[op]) used[root(id)] = 1;
      for (ValueId id : traffic_.writes[op]) used[root(id)] = 1;
    }
    for (ValueId id : graph.outputs)
      if (graph.tensor(id)) used[root(id)] = 1;
    for (ValueId id = 0; id < graph.values.size(); ++id) {
      if (!used[id]) continue;
      const Tensor& tensor = *graph.tensor(id);
      Storage& storage = c_.storage[id];
      storage.bytes = round_up(std::max<u64>(tensor.max.numel() * size_of(c_.facts.dtype[id]), 1), 16);
      const bool written = c_.facts.effects.writers(id) > 0;
      if (tensor.constant && written) {
        storage.kind = StorageKind::state;
        storage.index = u32(c_.states.size());
        c_.states.push_back({*tensor.constant, id, tensor.dtype, c_.facts.dtype[id], storage.bytes, cache_axis(id),
                             position_bytes(id)});
      } else if (tensor.constant) {
        storage.kind = StorageKind::constant;
        storage.index = constant_use(tensor, id, storage.bytes);
      } else if (graph.is_input(id) && !written && storage.bytes <= arena_input_limit) {
        storage.kind = StorageKind::input;
      } else {
        storage.kind = StorageKind::transient;
      }
    }
  }

  std::optional<u32> cache_axis(ValueId id) const {
    for (const Traffic::CacheUse& use : traffic_.caches)
      if (use.writes && root(use.value) == id) return use.axis;
    return std::nullopt;
  }

  // What a position takes of a state that all ops use as a cache, so that it can start small. 0: it can't.
  u64 position_bytes(ValueId id) const {
    const auto axis = cache_axis(id);
    const Shape& shape = c_.graph.tensor(id)->max;
    if (!axis || shape.product(0, *axis) != 1) return 0;
    for (ValueId output : c_.graph.outputs)
      if (c_.graph.tensor(output) && root(output) == id) return 0;
    for (u32 op : c_.facts.effects.touching(id)) {
      const auto declares = [&](const Traffic::CacheUse& use) {
        return use.op == op && use.axis == *axis && root(use.value) == id;
      };
      if (std::ranges::none_of(traffic_.caches, declares)) return 0;
    }
    const u64 bytes = shape.product(*axis + 1, shape.rank()) * size_of(c_.facts.dtype[id]);
    return bytes % 16 == 0 ? bytes : 0;
  }

  u32 constant_use(const Tensor& tensor, ValueId id, u64 bytes) {
    const DType to = c_.facts.dtype[id];
    const DataLocation& location = c_.graph.constants[*tensor.constant].location;
    for (u32 i = 0; i < c_.constants.size(); ++i) {
      const ConstantPiece& other = c_.constants[i].pieces[0];
      if (!other.packing && other.from == tensor.dtype && other.to == to &&
          c_.graph.constants[other.constant].location == location)
        return i;
    }
    c_.constants.push_back({{{*tensor.constant, tensor.dtype, to, std::nullopt, 0}}, bytes, {}});
    return u32(c_.constants.size() - 1);
  }

  Status place_memory() {
    const Graph& graph = c_.graph;
    const i64 end = i64(graph.ops.size());
    std::vector<MemoryRequest> requests;
    std::map<ValueId, u32> request_of;
    const auto touch = [&](ValueId id, i64 at) {
      if (c_.storage[root(id)].kind != StorageKind::transient) return;
      const auto [entry, added] = request_of.emplace(root(id), u32(requests.size()));
      if (added) requests.push_back({c_.storage[root(id)].bytes, at, at});
      MemoryRequest& r = requests[entry->second];
      r.first = std::min(r.first, at);
      r.last = std::max(r.last, at);
    };
    for (ValueId id : graph.inputs)
      if (graph.tensor(id)) touch(id, -1);
    for (i64 op = 0; op < end; ++op) {
      for (ValueId id : traffic_.reads[size_t(op)]) touch(id, op);
      for (ValueId id : traffic_.writes[size_t(op)]) {
        touch(id, op);
        if (c_.ops[size_t(op)].is_constant) touch(id, -1), touch(id, end);  // also for the next step
      }
    }
    for (ValueId id : graph.outputs)
      if (graph.tensor(id)) touch(id, end);
    const size_t tensors = requests.size();

    std::vector<std::vector<u32>> scratch_requests(graph.ops.size());
    for (u32 op = 0; op < graph.ops.size(); ++op)
      for (u64 bytes : c_.ops[op].scratch) {
        scratch_requests[op].push_back(u32(requests.size()));
        requests.push_back({round_up(bytes, 16), op, op});
      }
    std::vector<MemoryConflict> conflicts;
    for (u32 op = 0; op < graph.ops.size(); ++op)
      for (const Variant& variant : c_.ops[op].variants)
        add_conflicts(variant, scratch_requests[op], request_of, conflicts);

    if (options_.guards) separate(requests);
    std::vector<Placement> placements;
    const u64 limit = c_.facts.device.limits.max_buffer_bytes;
    TRY(const auto without_scratch,
        place(std::span(requests).first(tensors), tensor_conflicts(conflicts, tensors), limit, placements));
    TRY(c_.memory.pools, place(requests, conflicts, limit, placements));
    for (const auto& [value, request] : request_of) c_.storage[value].at = placements[request];
    for (u32 op = 0; op < graph.ops.size(); ++op)
      for (u32 request : scratch_requests[op]) c_.ops[op].scratch_at.push_back(placements[request]);
    if (options_.guards) add_guards(request_of);
    for (u64 bytes : c_.memory.pools) c_.memory.activations += bytes;
    u64 bare = 0;
    for (u64 bytes : without_scratch) bare += bytes;
    c_.memory.scratch = c_.memory.activations > bare ? c_.memory.activations - bare : 0;
    return {};
  }

  // Every request lives for the whole step, with room for its guard.
  void separate(std::vector<MemoryRequest>& requests) {
    c_.guard_size = guard_bytes;
    for (MemoryRequest& r : requests) r = {r.bytes + guard_bytes, -1, i64(c_.graph.ops.size())};
  }

  void add_guards(const std::map<ValueId, u32>& request_of) {
    const auto behind = [](Placement at, u64 bytes) { return Placement{at.pool, at.offset + bytes}; };
    for (u32 op = 0; op < c_.graph.ops.size(); ++op) {
      for (ValueId id : traffic_.writes[op])
        if (request_of.contains(root(id)))
          c_.guards.push_back({behind(c_.storage[root(id)].at, c_.storage[root(id)].bytes), op});
      for (size_t i = 0; i < c_.ops[op].scratch.size(); ++i)
        c_.guards.push_back({behind(c_.ops[op].scratch_at[i], round_up(c_.ops[op].scratch[i], 16)), op});
    }
  }

  static std::vector<MemoryConflict> tensor_conflicts(const std::vector<MemoryConflict>& all, size_t tensors) {
    std::vector<MemoryConflict> out;
    for (const MemoryConflict& c : all)
      if (c.read < tensors && c.written < tensors) out.push_back(c);
    return out;
  }

  void add_conflicts(const Variant& variant, const std::vector<u32>& scratch, const std::map<ValueId, u32>& request_of,
                     std::vector<MemoryConflict>& conflicts) const {
    const auto request = [&](const Operand& o) -> std::optional<u32> {
      if (o.kind == Operand::scratch) return scratch[o.index];
      if (o.kind != Operand::tensor) return std::nullopt;
      const auto found = request_of.find(root(o.index));
      return found == request_of.end() ? std::nullopt : std::optional(found->second);
    };
    for (size_t r = 0; r < variant.operands.size(); ++r) {
      if (variant.kernel.bindings()[r + 1] == gpu::BindingKind::read_write) continue;
      const auto read = request(variant.operands[r]);
      if (!read) continue;
      for (size_t w = 0; w < variant.operands.size(); ++w) {
        if (variant.kernel.bindings()[w + 1] != gpu::BindingKind::read_write) continue;
        const auto written = request(variant.operands[w]);
        if (written && *written != *read) conflicts.push_back({*read, *written});
      }
    }
  }

  void assign_slots() {
    u64 offset = 0;
    for (ValueId id : c_.graph.inputs) {
      Storage& storage = c_.storage[root(id)];
      if (storage.kind != StorageKind::input || root(id) != id) continue;
      storage.at.offset = offset;
      offset = round_up(offset + storage.bytes, placement_alignment);
    }
    // Slots of ops that plan at every step come first, next to the inputs, so that one short write covers both.
    u32 next = u32(offset / slot_bytes);
    for (const bool busy : {true, false})
      for (OpPlan& op : c_.ops) {
        if (plans_often(op) != busy) continue;
        op.first_slot = next;
        next += op.slots;
      }
    c_.memory.arena = u64(next) * slot_bytes;
    for (const ConstantUse& use : c_.constants) c_.memory.weights += round_up(use.bytes, 4);
    for (const StateUse& use : c_.states) c_.memory.state += use.bytes;
    c_.memory.staging = c_.faults.empty() ? 0 : round_up(c_.faults.size() * 8, 16);
    for (ValueId id : c_.graph.outputs)
      if (const Tensor* tensor = c_.graph.tensor(id))
        c_.memory.staging += round_up(tensor->max.numel() * size_of(c_.facts.dtype[id]), 16);
    if (!c_.faults.empty()) c_.memory.arena += round_up(c_.faults.size() * 8, 16);
  }

  bool is_state(ValueId id) const {
    const Tensor* tensor = c_.graph.tensor(root(id));
    return tensor && tensor->constant && c_.facts.effects.writers(id) > 0;
  }

  // Which outputs does each op work for?
  void find_consumers() {
    std::vector<OutputSet> wanted(c_.graph.values.size());
    for (u32 i = 0; i < c_.graph.outputs.size(); ++i) wanted[root(c_.graph.outputs[i])].add(i);
    for (size_t op = c_.graph.ops.size(); op-- > 0;) {
      OpPlan& plan = c_.ops[op];
      const auto uses = c_.facts.effects.of(u32(op));
      for (const Use& use : uses) {
        if (!use.writes()) continue;
        plan.needed_by.add(wanted[root(use.value)]);
        plan.has_effects |= is_state(use.value);
      }
      // What runs for its effects needs its inputs always, also if no output is wanted.
      plan.has_effects |= plan.needed_by.is_all();
      const OutputSet pass_on = plan.has_effects ? OutputSet::all() : plan.needed_by;
      for (const Use& use : uses)
        if (use.reads() || plan.has_effects) wanted[root(use.value)].add(pass_on);
    }
  }

  bool plans_often(const OpPlan& op) const {
    if (!op.host_reads.empty()) return true;
    return std::any_of(op.reads.begin(), op.reads.end(), [&](ValueId id) {
      return c_.facts.varies[id] && std::holds_alternative<SymInt>(c_.graph.values[id]);
    });
  }

  // A constant larger than a buffer may be needs a buffer per stretch that ops bind.
  Status check_constants() {
    const u64 limit = c_.facts.device.limits.max_buffer_bytes;
    for (u32 i = 0; i < c_.constants.size(); ++i) {
      ConstantUse& use = c_.constants[i];
      if (use.bytes <= limit) continue;
      for (const OpPlan& op : c_.ops)
        for (const Variant& variant : op.variants)
          for (const Operand& operand : variant.operands)
            if (constant_of(operand) == i) use.split.push_back(operand.offset);
      std::sort(use.split.begin(), use.split.end());
      use.split.erase(std::unique(use.split.begin(), use.split.end()), use.split.end());
      if (!use.split.empty() && use.split.front() == 0) use.split.erase(use.split.begin());
    }
    for (const StateUse& use : c_.states)
      if (use.bytes > limit)
        return fail(ErrorKind::out_of_memory, "state of shape ", c_.graph.tensor(use.value)->max, " needs ",
                    human_bytes(use.bytes), " in one buffer, but this device allows at most ", human_bytes(limit));
    return {};
  }

  std::optional<u32> constant_of(const Operand& operand) const {
    if (operand.kind == Operand::packed) return operand.index;
    if (operand.kind != Operand::tensor) return std::nullopt;
    const Storage& storage = c_.storage[root(operand.index)];
    return storage.kind == StorageKind::constant ? std::optional(storage.index) : std::nullopt;
  }

  CompiledGraph& c_;
  const CompileOptions& options_;
  Traffic traffic_;
};

}  // namespace

Result<std::shared_ptr<const CompiledGraph>> compile(Graph graph, const gpu::DeviceInfo& device,
                                                     const CompileOptions& options,
                                                     std::vector<UnsupportedOp>* problems) {
  auto compiled = std::make_shared<CompiledGraph>();
  compiled->submit_microseconds = options.submit_microseconds;
  compiled->answer_seconds = options.answer_seconds;
  compiled->graph = std::move(graph);
  compiled->facts.device = device;
  compiled->facts.fast_math = options.fast_math;
  for (const std::string& route : options.routes) {
    if (auto measured = parse_route(route))
      compiled->facts.measured_routes.push_back(*std::move(measured));
    else
      compiled->facts.routes.push_back(route);
  }
  if (options.f16_kv_cache && !device.features.f16)
    return unsupported(
        "a KV cache in half precision was asked for, but ",
        device.adapter.name.empty() ? "a device with no more than WebGPU's defaults" : device.adapter.name,
        " has no f16; use a cache in float32");
  TRY_DO(check_pass_names(options.disabled_passes));
  if (!problems || problems->empty()) {
    TRY_DO(Compiler(*compiled, options).check(problems));
    if (!problems || problems->empty()) run_passes(compiled->graph, device, options);
  }
  TRY_DO(Compiler(*compiled, options).run(problems));
  return compiled;
}

Result<std::shared_ptr<const CompiledGraph>> compile_batch(Graph graph, const Facts& like, CompileOptions options) {
  auto compiled = std::make_shared<CompiledGraph>();
  compiled->submit_microseconds = options.submit_microseconds;
  compiled->answer_seconds = options.answer_seconds;
  compiled->graph = std::move(graph);
  compiled->facts.device = like.device;
  compiled->facts.routes = like.routes;
  compiled->facts.measured_routes = like.measured_routes;
  compiled->facts.fast_math = like.fast_math;
  options.input_is_static.assign(compiled->graph.inputs.size(), 1);
  TRY_DO(Compiler(*compiled, options).run(nullptr));
  return compiled;
}

}  // namespace pteron::graph
