// SPDX-License-Identifier: BSD-3-Clause
// What is in a program and what it would take to run it, without touching a GPU.
#pragma once

#include <pteron/program.h>

namespace pteron {

struct OpReport {
  std::string name;
  u32 count = 0;
  bool supported = true;
  std::string reason;                // why not
  std::vector<u32> positions;        // of unsupported ones, in the delegate's op list
  std::vector<std::string> kernels;  // that its plans may use
};

struct MemoryReport {
  u64 weights = 0, state = 0, initial_state = 0, activations = 0, scratch = 0, parameters = 0, staging = 0;
  u64 total = 0;
};

struct DelegateReport {
  std::string backend;
  std::string error;  // why it can't be planned at all, or empty
  std::vector<OpReport> ops;
  u32 values = 0, constants = 0;
  u64 constant_bytes = 0;
  u32 pipelines = 0, dispatches = 0;
  MemoryReport memory;              // only if every op is supported
  std::vector<DispatchCost> costs;  // of the step that was asked for
  std::string costs_problem;        // why they can't be told, or empty
};

// An op outside of the delegates, for which a program counts on ExecuTorch's own kernels.
struct OutsideOp {
  std::string name;
  u32 count = 0;
  std::vector<std::string> forms;  // types and shapes of the tensors that it is called with
  std::string reason;              // why the exporter did not delegate it, as far as the file and its registry tell
  bool runs_here = false;          // Pteron does it itself
};

struct Remedy {
  std::string what;                 // a sentence
  std::vector<std::string> python;  // the lines that do it
};

struct MethodReport {
  MethodInfo info;
  std::vector<i64> constants;  // values of a constant method
  std::vector<OutsideOp> outside;
  std::vector<DelegateReport> delegates;
  bool runnable = true;
  std::string problem;  // why not
  Remedy remedy;        // if the problem is what lies outside of this backend's delegates
};

struct ProgramReport {
  u64 file_bytes = 0;
  u32 named_data = 0;
  u64 named_data_bytes = 0;
  std::string assumptions;  // which device the memory plan is for
  std::vector<MethodReport> methods;
};

// A step whose costs are foretold: so many tokens behind so many positions, of programs with caches. Others run at
// their largest shapes.
struct Step {
  u32 tokens = 1, context = 32;
};

// Plans every method for `device`, or for WebGPU's default limits without f16 if none is given.
Result<ProgramReport> inspect(const std::string& path, const LoadOptions& options = {}, const Device* device = nullptr,
                              std::optional<Step> step = {});

}  // namespace pteron
