// SPDX-License-Identifier: BSD-3-Clause
// The method loop: runs a method's instructions over host values, delegates on the GPU.
#pragma once

#include "graph/instance.h"
#include "runtime/method_loading.h"

#include <pteron/inspect.h>

namespace pteron {

MethodInfo describe_method(const format::MethodSpec& spec, std::span<const Epilogue> epilogues);

// The ops after all rewriting, and the memory without the initial values of states.
DelegateReport describe_plan(const graph::CompiledGraph& compiled);

struct Method::Impl {
  static Result<std::unique_ptr<Impl>> create(std::shared_ptr<const void> keep_alive, LoadedMethod loaded,
                                              const LoadOptions& options);
  Result<std::unique_ptr<Impl>> clone();

  Status begin(std::span<const TensorView> inputs, u64 wanted);
  Result<bool> finish(bool wait);

  std::shared_ptr<const void> keep_alive;  // the program that `loaded.spec` belongs to
  LoadedMethod loaded;
  MethodInfo info;
  std::vector<std::unique_ptr<graph::Instance>> instances;  // by delegate
  std::vector<Tensor> outputs;

 private:
  // A value of the method on the host. Inputs are borrowed, results owned.
  struct Slot {
    TensorView view;
    Tensor owned;
    std::optional<i64> number;
    bool borrowed = false;
    bool ready = false;
    TensorView get() const { return borrowed ? view : owned.view(); }
  };

  Status check_inputs(std::span<const TensorView> inputs) const;
  Status set_inputs(std::span<const TensorView> inputs);
  Status run_until_submit();
  Status submit(const format::DelegateCall& call);
  Status collect(const format::DelegateCall& call);
  Status copy(const format::KernelCall& call);
  Status publish();
  u64 wanted_of(const format::DelegateCall& call) const;

  std::vector<Slot> slots_;
  std::vector<graph::HostInput> host_inputs_;
  size_t pc_ = 0;
  u64 wanted_ = 0;
  bool running_ = false;
};

}  // namespace pteron
