// SPDX-License-Identifier: BSD-3-Clause
// The backend that stock ExecuTorch finds under the names "VulkanBackend" and "PteronBackend" once this library is
// loaded. All it does is to map contexts, EValues and errors onto the engine.
#include "loader.h"
#include "runtime/device_inside.h"
#include "runtime/method_loading.h"
#include "trace.h"
#include "values.h"

#include <executorch/runtime/platform/log.h>
#include <executorch/runtime/platform/platform.h>

#include <exception>

namespace pteron::et {
namespace {

namespace runtime = executorch::runtime;

struct Delegate {
  Delegate(std::shared_ptr<SharedProgram> shared, std::unique_ptr<graph::Runner> run, graph::State begun, bool times)
      : program(std::move(shared)), runner(std::move(run)), state(std::move(begun)), profile(times) {}

  std::shared_ptr<SharedProgram> program;
  std::unique_ptr<graph::Runner> runner;
  graph::State state;
  bool profile = false;
  std::mutex mutex;  // one step at a time
  std::vector<graph::HostInput> inputs;
  std::vector<i64> numbers;
  OutputSet wanted;
};

runtime::Error fail_with(runtime::Error code, const pteron::Error& error) {
  ET_LOG(Error, "pteron: %s (%s)", error.to_string().c_str(), std::string(name_of(error.kind)).c_str());
  return code;
}

runtime::Error code_of(const LoadError& failure) {
  switch (failure.stage) {
    case LoadError::header:
      return failure.error.kind == ErrorKind::not_found ? runtime::Error::NotFound : runtime::Error::InvalidArgument;
    case LoadError::graph: return runtime::Error::DelegateInvalidCompatibility;
    case LoadError::gpu:
      return failure.error.kind == ErrorKind::out_of_memory ? runtime::Error::MemoryAllocationFailed
                                                            : runtime::Error::Internal;
  }
  return runtime::Error::Internal;
}

// Shared constants, and the devices that were ever asked for: kept open between programs.
class Pool {
 public:
  Result<std::shared_ptr<graph::Context>> context(const DeviceOptions& options) {
    TRY(const Device device, Device::shared(options));
    const std::scoped_lock lock(mutex_);
    auto& kept = kept_[options];
    if (kept != context_of(device)) {
      kept = context_of(device);
      ET_LOG(Info, "pteron: running on %s", device.adapter().name.c_str());
    }
    return kept;
  }

  std::shared_ptr<SharedProgram> program(const void* identity, const graph::Context* context) {
    const std::scoped_lock lock(mutex_);
    std::erase_if(programs_, [](const auto& entry) { return entry.second.expired(); });
    auto& slot = programs_[{identity, context}];
    auto program = slot.lock();
    if (!program) slot = program = std::make_shared<SharedProgram>();
    return program;
  }

 private:
  std::mutex mutex_;
  std::map<DeviceOptions, std::shared_ptr<graph::Context>> kept_;
  std::map<std::pair<const void*, const graph::Context*>, std::weak_ptr<SharedProgram>> programs_;
};

class Backend final : public runtime::BackendInterface {
 public:
  bool is_available() const override {
    try {
      auto context = pool_.context(defaults().load.device_options);
      if (!context) ET_LOG(Error, "pteron: %s", context.error().to_string().c_str());
      return context.has_value();
    } catch (const std::exception&) {
      return false;
    }
  }

  runtime::Result<runtime::DelegateHandle*> init(runtime::BackendInitContext& context,
                                                 runtime::FreeableBuffer* processed,
                                                 runtime::ArrayRef<runtime::CompileSpec> compile_specs) const override {
    try {
      return load_delegate(context, processed, compile_specs);
    } catch (const std::exception& e) {
      return fail_with(runtime::Error::Internal, {ErrorKind::internal, e.what(), {}});
    }
  }

  runtime::Error execute(runtime::BackendExecutionContext& context, runtime::DelegateHandle* handle,
                         runtime::Span<runtime::EValue*> args) const override {
    if (!handle) return runtime::Error::DelegateInvalidHandle;
    try {
      auto& delegate = *static_cast<Delegate*>(handle);
      const std::scoped_lock lock(delegate.mutex);
      const Status status = run(delegate, context, args);
      return status ? runtime::Error::Ok : fail_with(runtime::Error::Internal, status.error());
    } catch (const std::exception& e) {
      return fail_with(runtime::Error::Internal, {ErrorKind::internal, e.what(), {}});
    }
  }

  runtime::Error set_option(runtime::BackendOptionContext&,
                            const runtime::Span<runtime::BackendOption>& list) override {
    Options changed = defaults();
    for (size_t i = 0; i < list.size(); ++i)
      if (auto status = apply(changed, list[i]); !status)
        return fail_with(runtime::Error::InvalidArgument, status.error());
    const std::scoped_lock lock(options_mutex_);
    defaults_ = std::move(changed);
    return runtime::Error::Ok;
  }

  void destroy(runtime::DelegateHandle* handle) const override { delete static_cast<Delegate*>(handle); }

 private:
  Options defaults() const {
    const std::scoped_lock lock(options_mutex_);
    return defaults_;
  }

  runtime::Result<runtime::DelegateHandle*> load_delegate(runtime::BackendInitContext& context,
                                                          runtime::FreeableBuffer* processed,
                                                          runtime::ArrayRef<runtime::CompileSpec> compile_specs) const {
    if (!processed || !processed->data())
      return fail_with(runtime::Error::InvalidArgument, {ErrorKind::invalid, "the delegate has no data", {}});
    if (auto status = check_compile_specs(compile_specs); !status)
      return fail_with(runtime::Error::DelegateInvalidCompatibility, status.error());
    Options options = defaults();
    if (auto status = apply(options, context.runtime_specs()); !status)
      return fail_with(runtime::Error::InvalidArgument, status.error());
    auto gpu = pool_.context(options.load.device_options);
    if (!gpu) return fail_with(runtime::Error::NotFound, gpu.error());

    auto program = pool_.program(context.get_named_data_map(), gpu->get());
    const Bytes blob(static_cast<const std::byte*>(processed->data()), processed->size());
    auto loaded = load(*gpu, *program, blob, context.get_named_data_map(), options);
    if (!loaded)
      return fail_with(code_of(loaded.error()), std::move(loaded.error().error).within("loading a delegate"));
    auto delegate = start(std::move(program), *std::move(loaded), options);
    if (!delegate)
      return fail_with(code_of({LoadError::gpu, delegate.error()}),
                       std::move(delegate.error()).within("loading a delegate"));
    processed->Free();
    return static_cast<runtime::DelegateHandle*>(delegate->release());
  }

  static Result<std::unique_ptr<Delegate>> start(std::shared_ptr<SharedProgram> program,
                                                 std::shared_ptr<const graph::LoadedGraph> loaded,
                                                 const Options& options) {
    TRY(auto runner, graph::Runner::create(loaded));
    TRY(auto state, graph::State::create(std::move(loaded)));
    return std::make_unique<Delegate>(std::move(program), std::move(runner), std::move(state), options.profile);
  }

  // `args` are the inputs, then the outputs.
  static Status run(Delegate& delegate, runtime::BackendExecutionContext& context,
                    runtime::Span<runtime::EValue*> args) {
    graph::Runner& runner = *delegate.runner;
    const graph::Graph& graph = runner.compiled().graph;
    const size_t inputs = graph.inputs.size();
    TRY(const u32 first, graph.first_taken_output(args.size()));
    delegate.inputs.resize(inputs);
    delegate.numbers.resize(inputs);
    for (size_t i = 0; i < inputs; ++i) {
      auto input =
          within(to_host_input(*args[i], graph.tensor(graph.inputs[i]) != nullptr, delegate.numbers[i]), "input ", i);
      if (!input) return Failure(std::move(input.error()));
      delegate.inputs[i] = *std::move(input);
    }
    delegate.wanted.clear();
    for (size_t i = first; i < graph.outputs.size(); ++i) delegate.wanted.add(u32(i));
    const bool traced = context.event_tracer() != nullptr && runner.loaded().context->info().features.timestamps;
    runner.set_profiling(delegate.profile || traced);
    const u64 start = runtime::pal_current_ticks();
    graph::State* const lanes[] = {&delegate.state};
    TRY_DO(runner.begin(lanes, delegate.inputs, delegate.wanted));
    TRY_DO(runner.finish());
    for (size_t i = inputs; i < args.size(); ++i) TRY_DO(write_output(*args[i], runner, first + u32(i - inputs)));
    if (traced) log_ops(*context.event_tracer(), runner, start);
    return {};
  }

  mutable Pool pool_;
  mutable std::mutex options_mutex_;
  Options defaults_;
};

// Lives until the process ends: programs may be destroyed later than this library's own statics. That there is no
// memory for it while a library is loaded can't be handled by anybody.
// NOLINTBEGIN(bugprone-throwing-static-initialization)
Backend* const backend = new Backend;
[[maybe_unused]] const runtime::Error registered[] = {runtime::register_backend({backend_id, backend}),
                                                      runtime::register_backend({own_backend_id, backend})};
// NOLINTEND(bugprone-throwing-static-initialization)

}  // namespace
}  // namespace pteron::et
