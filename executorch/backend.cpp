// SPDX-License-Identifier: BSD-3-Clause
// The backend that stock ExecuTorch finds under the names "VulkanBackend" and "PteronBackend" once this library is
// loaded. All it does is to map contexts, EValues and errors onto the engine.
#include "gpu/native/native.h"
#include "loader.h"
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
  std::shared_ptr<SharedProgram> program;
  std::unique_ptr<graph::Instance> instance;
  bool profile = false;
  std::mutex mutex;  // one step at a time
  std::vector<graph::HostInput> inputs;
  std::vector<i64> numbers;
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

// Devices and shared constants, opened when first needed.
class Pool {
 public:
  Result<std::shared_ptr<graph::Context>> context(const std::string& adapter) {
    const std::scoped_lock lock(mutex_);
    auto& slot = contexts_[adapter];
    if (slot && slot->device().health()) return slot;  // a lost device is opened anew
    gpu::OpenOptions open;
    open.adapter = adapter;
    TRY(auto device, gpu::open_device(open));
    ET_LOG(Info, "pteron: running on %s", device->info().adapter.name.c_str());
    slot = std::make_shared<graph::Context>(std::move(device));
    return slot;
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
  std::map<std::string, std::shared_ptr<graph::Context>> contexts_;
  std::map<std::pair<const void*, const graph::Context*>, std::weak_ptr<SharedProgram>> programs_;
};

class Backend final : public runtime::BackendInterface {
 public:
  bool is_available() const override {
    try {
      auto context = pool_.context(defaults().adapter);
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
    auto gpu = pool_.context(options.adapter);
    if (!gpu) return fail_with(runtime::Error::NotFound, gpu.error());

    auto delegate = std::make_unique<Delegate>();
    delegate->program = pool_.program(context.get_named_data_map(), gpu->get());
    delegate->profile = options.profile;
    const Bytes blob(static_cast<const std::byte*>(processed->data()), processed->size());
    auto instance = load(*gpu, *delegate->program, blob, context.get_named_data_map(), options);
    if (!instance)
      return fail_with(code_of(instance.error()), std::move(instance.error().error).within("loading a delegate"));
    delegate->instance = *std::move(instance);
    processed->Free();
    return static_cast<runtime::DelegateHandle*>(delegate.release());
  }

  // `args` are the inputs, then the outputs. If the call has fewer outputs than the graph, the graph's first ones are
  // updated buffers that nobody takes.
  static Status run(Delegate& delegate, runtime::BackendExecutionContext& context,
                    runtime::Span<runtime::EValue*> args) {
    graph::Instance& instance = *delegate.instance;
    const graph::Graph& graph = instance.compiled().graph;
    const size_t inputs = graph.inputs.size(), outputs = graph.outputs.size();
    if (args.size() < inputs || args.size() > inputs + outputs)
      return invalid("the delegate has ", inputs, " inputs and ", outputs, " outputs, but is called with ", args.size(),
                     " values");
    const size_t bound = args.size() - inputs;
    delegate.inputs.resize(inputs);
    delegate.numbers.resize(inputs);
    for (size_t i = 0; i < inputs; ++i) {
      auto input =
          within(to_host_input(*args[i], graph.tensor(graph.inputs[i]) != nullptr, delegate.numbers[i]), "input ", i);
      if (!input) return Failure(std::move(input.error()));
      delegate.inputs[i] = *std::move(input);
    }
    u64 wanted = 0;
    for (size_t i = 0; i < bound; ++i) wanted |= u64(1) << std::min<size_t>(outputs - bound + i, 63);
    const bool traced = context.event_tracer() != nullptr && instance.loaded().context->info().features.timestamps;
    instance.set_profiling(delegate.profile || traced);
    const u64 start = runtime::pal_current_ticks();
    TRY_DO(instance.begin(delegate.inputs, wanted));
    TRY_DO(instance.finish());
    for (size_t i = 0; i < bound; ++i) TRY_DO(write_output(*args[inputs + i], instance, u32(outputs - bound + i)));
    if (traced) log_ops(*context.event_tracer(), instance, start);
    return {};
  }

  mutable Pool pool_;
  mutable std::mutex options_mutex_;
  Options defaults_;
};

// Lives until the process ends: programs may be destroyed later than this library's own statics.
Backend* const backend = new Backend;
[[maybe_unused]] const runtime::Error registered[] = {runtime::register_backend({backend_id.data(), backend}),
                                                      runtime::register_backend({own_backend_id.data(), backend})};

}  // namespace
}  // namespace pteron::et
