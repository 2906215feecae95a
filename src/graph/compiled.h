// SPDX-License-Identifier: BSD-3-Clause
// A program that has been planned: which kernels with which bindings its ops may ask for, where every byte will be.
// Made without a GPU, shared by all instances.
#pragma once

#include "graph/memory_plan.h"
#include "graph/plan.h"

#include <pteron/output_set.h>

#include <memory>

namespace pteron::graph {

// A kernel with its bindings, one of those that an op chooses from.
struct Variant {
  Kernel kernel;
  std::vector<Operand> operands;
  u32 pipeline = 0;  // index into CompiledGraph::pipelines

  bool matches(const Kernel& k, std::span<const Operand> o) const {
    return std::equal(operands.begin(), operands.end(), o.begin(), o.end()) && kernel == k;
  }
};

struct OpPlan {
  std::vector<Variant> variants;
  std::vector<ValueId> reads;         // values whose change makes the op plan again
  std::vector<u64> scratch;           // bytes, by number
  std::vector<Placement> scratch_at;  // where they are
  u32 first_slot = 0, slots = 0;      // in the parameter arena; one per dispatch
  OutputSet needed_by;                // outputs that depend on this op
  bool has_effects = false;           // writes state, or works for an op that does: runs whatever outputs are wanted
  struct HostRead {
    ValueId value;
    u32 input;  // of which it is a copy; index into Graph::inputs
    bool operator==(const HostRead&) const = default;
  };
  std::vector<HostRead> host_reads;  // values whose contents the plan looks at, so that it runs at every execute
  bool is_constant = false;          // always gives the same, which stays where it is: runs once
};

enum class StorageKind : u8 {
  none,       // nothing on the GPU
  input,      // in the arena, beside the parameters
  transient,  // in a shared pool
  constant,   // read-only, shared by instances
  state,      // starts as a constant, written by ops, owned by an instance
};

struct Storage {
  StorageKind kind = StorageKind::none;
  u64 bytes = 0;
  Placement at;   // input: offset in the arena; transient: pool and offset
  u32 index = 0;  // constant: into CompiledGraph::constants; state: into CompiledGraph::states
};

// Constant bytes on the GPU: a constant as it is, or several in other layouts, one behind the other.
struct ConstantPiece {
  u32 constant = 0;  // into Graph::constants
  DType from = DType::f32, to = DType::f32;
  std::optional<Packing> packing;
  u64 offset = 0;  // in the buffer
};
struct ConstantUse {
  std::vector<ConstantPiece> pieces;
  u64 bytes = 0;
  std::vector<u64> split;  // where further buffers start, if it is larger than one may be

  bool matches(const Graph& graph, std::span<const PackedPart> parts) const;
};

struct StateUse {
  u32 constant = 0;
  ValueId value = 0;
  DType from = DType::f32, to = DType::f32;
  u64 bytes = 0;
  // A cache whose axis `cache_axis` is the position in a sequence: later positions can be forgotten.
  std::optional<u32> cache_axis;
  u64 position_bytes = 0;  // if not 0, memory for further positions may come when they are used
};

struct IndexCheck {
  u32 op = 0;
  u32 input = 0;  // index into Graph::inputs
  u64 limit = 0;
  std::string what;
  bool negative = false;
};

struct FaultSlot {
  u32 op = 0;
  std::string what;
};

struct CompileOptions {
  std::vector<u8> input_is_static;  // by input; missing: may vary
  std::vector<std::string> disabled_passes;
  bool f16_kv_cache = false;        // caches in half precision
  bool fast_math = false;           // see Facts
  std::vector<std::string> routes;  // "family=route"
  bool guards = false;              // see CompiledGraph::guards
  u32 submit_microseconds = 0;      // the same
  u32 answer_seconds = 0;           // the same
  bool is_disabled(std::string_view pass) const;
};

// Words behind a tensor or scratch memory of op `op`. Kernels can reach them, but must not write them.
struct Guard {
  Placement at;
  u32 op = 0;
};
constexpr u64 guard_bytes = 64;

struct CompiledGraph {
  Graph graph;
  Facts facts;
  std::vector<OpPlan> ops;
  std::vector<Kernel> pipelines;
  std::vector<Storage> storage;        // by value
  std::vector<ConstantUse> constants;  // used by the GPU; Operand::packed counts these
  std::vector<StateUse> states;
  std::vector<IndexCheck> index_checks;
  std::vector<FaultSlot> faults;
  MemoryPlan memory;
  std::vector<Guard> guards;    // only if asked for; then no two tensors share memory
  u64 guard_size = 0;           // bytes that every binding to a pool is longer
  u32 submit_microseconds = 0;  // longest work of one submit, as modelled in work.h; 0: any
  u32 answer_seconds = 0;       // until a GPU that says nothing is taken for lost; 0: never

  CompiledGraph() = default;
  CompiledGraph(const CompiledGraph&) = delete;
  CompiledGraph& operator=(const CompiledGraph&) = delete;
};

constexpr u64 slot_bytes = 256;              // of parameters, per dispatch
constexpr u64 arena_input_limit = 64 << 10;  // larger inputs are written to a pool of their own accord

// From a graph as the file has it to one that can be loaded: rewrites, validates and plans. With `problems`, goes on
// after an op that fails and lists all of them.
Result<std::shared_ptr<const CompiledGraph>> compile(Graph graph, const gpu::DeviceInfo& device,
                                                     const CompileOptions& options,
                                                     std::vector<UnsupportedOp>* problems = nullptr);

// A graph that was made of a compiled one (see lanes.h): its passes have run, and its inputs have one shape. Of the
// options only disabled passes matter.
Result<std::shared_ptr<const CompiledGraph>> compile_batch(Graph graph, const Facts& like, CompileOptions options);

// Is this op's result the same bytes as its first argument?
bool is_plain_copy(const Facts& facts, const Op& op);

}  // namespace pteron::graph
