// SPDX-License-Identifier: BSD-3-Clause
#include "gpu/browser/browser_device.h"

#include "gpu/browser/browser.h"
#include "gpu/browser/imports.h"

#include <algorithm>

namespace pteron::gpu {
namespace browser {
namespace {

using imports::Health;
using imports::Number;
using imports::Object;
using imports::Progress;
using imports::Text;

std::string text(Text what, Id id = 0) {
  std::string out(imports::pteron_gpu_text(what, id, nullptr, 0), '\0');
  imports::pteron_gpu_text(what, id, out.data(), u32(out.size()));
  return out;
}

u64 integer(Number what) { return u64(imports::pteron_gpu_number(what)); }

// Offsets are 32-bit words in a submission, and so they are in every shading language below.
constexpr u64 addressable = 0xFFFF'FFFC;

DeviceInfo describe(const BrowserOptions& options) {
  DeviceInfo out;
  out.adapter.name = text(Text::adapter_name);
  out.adapter.driver = text(Text::adapter_driver);
  out.adapter.backend = "browser";
  out.adapter.type = integer(Number::adapter_is_software) ? AdapterType::cpu : AdapterType::unknown;
  out.limits.max_buffer_bytes = std::min(integer(Number::max_buffer_bytes), addressable);
  out.limits.max_storage_binding_bytes = std::min(integer(Number::max_storage_binding_bytes), addressable);
  out.limits.max_uniform_binding_bytes = integer(Number::max_uniform_binding_bytes);
  out.limits.max_storage_buffers = u32(integer(Number::max_storage_buffers));
  out.limits.max_workgroup_bytes = u32(integer(Number::max_workgroup_bytes));
  out.limits.max_invocations = u32(integer(Number::max_invocations));
  out.limits.max_workgroups = u32(integer(Number::max_workgroups));
  out.features.f16 = options.f16 && integer(Number::has_f16);
  out.features.subgroups = options.subgroups && integer(Number::has_subgroups);
  out.features.timestamps = integer(Number::has_timestamps);
  out.features.subgroup_min = u32(integer(Number::subgroup_min));
  out.features.subgroup_max = u32(integer(Number::subgroup_max));
  return out;
}

Id create_pipeline(const PipelineSpec& spec, bool now) {
  // On the first line, so that the lines of errors keep their numbers.
  const std::string source = spec.subgroups ? "enable subgroups; " + spec.source : spec.source;
  return imports::pteron_gpu_create_pipeline(spec.label.data(), u32(spec.label.size()), source.data(),
                                             u32(source.size()), spec.bindings.data(), u32(spec.bindings.size()), now);
}

}  // namespace

Status BrowserDevice::check() {
  switch (imports::pteron_gpu_health()) {
    case Health::healthy: return {};
    case Health::out_of_memory: return fail(ErrorKind::out_of_memory, text(Text::failure));
    case Health::device_lost: return fail(ErrorKind::device_lost, text(Text::failure));
    case Health::internal: return fail(ErrorKind::internal, text(Text::failure));
  }
  return {};
}

Result<Id> BrowserDevice::make_buffer(u64 size, BufferUse use, std::string_view label) {
  TRY_DO(health());
  return imports::pteron_gpu_create_buffer(f64(size), use, label.data(), u32(label.size()));
}

Result<Id> BrowserDevice::make_bind_group(Id pipeline, std::span<const BindingRange> bindings, std::string_view label) {
  TRY_DO(health());
  return imports::pteron_gpu_create_bind_group(pipeline, bindings.data(), u32(bindings.size()), label.data(),
                                               u32(label.size()));
}

// The pipelines of a batch are compiled by the browser in parallel.
class BrowserDevice::Batch final : public PipelineBatch {
 public:
  Batch(std::shared_ptr<BrowserDevice> device, std::vector<PipelineSpec> specs)
      : device_(std::move(device)), specs_(std::move(specs)) {
    for (const PipelineSpec& spec : specs_) pipelines_.push_back(device_->adopt_pipeline(create_pipeline(spec, false)));
  }

  Result<u32> poll(bool) override {
    TRY_DO(device_->health());
    return u32(std::count_if(pipelines_.begin(), pipelines_.end(), [](const Pipeline& pipeline) {
      return imports::pteron_gpu_poll_pipeline(pipeline.id()) != Progress::pending;
    }));
  }

  Result<std::vector<Pipeline>> take() override {
    for (size_t i = 0; i < pipelines_.size(); ++i) {
      const Id id = pipelines_[i].id();
      if (imports::pteron_gpu_poll_pipeline(id) != Progress::failed) continue;
      Error error{ErrorKind::internal, text(Text::pipeline_error, id), {}};
      if (specs_[i].explain) error.message = specs_[i].explain(std::move(error.message));
      return Failure(std::move(error).within(str("kernel ", specs_[i].label)));
    }
    return std::move(pipelines_);
  }

 private:
  std::shared_ptr<BrowserDevice> device_;
  std::vector<PipelineSpec> specs_;
  std::vector<Pipeline> pipelines_;
};

Result<std::unique_ptr<Device::PipelineBatch>> BrowserDevice::compile(std::vector<PipelineSpec> specs) {
  TRY_DO(health());
  return std::make_unique<Batch>(std::static_pointer_cast<BrowserDevice>(shared_from_this()), std::move(specs));
}

Result<Pipeline> BrowserDevice::compile_now(const PipelineSpec& spec) {
  TRY_DO(health());
  return adopt_pipeline(create_pipeline(spec, true));
}

// What is wrong with a write or with what is read shows when the answer is polled.
Status BrowserDevice::do_write(Id buffer, u64 offset, Bytes bytes) {
  imports::pteron_gpu_write(buffer, f64(offset), bytes.data(), u32(bytes.size()));
  return {};
}

Status BrowserDevice::do_submit(const Submission& s) {
  TRY_DO(health());
  constexpr u32 most = 2048;  // a query set holds 4,096
  if (s.durations && !features().timestamps)
    return unsupported("this browser or GPU has no timestamp queries, so time per op can't be measured");
  if (s.durations && s.dispatches.size() > most)
    return unsupported("profiling covers at most ", most, " dispatches, this program has ", s.dispatches.size());
  durations_ = s.durations;
  if (durations_) durations_->assign(s.dispatches.size(), 0);
  imports::pteron_gpu_submit(s.fills.data(), u32(s.fills.size()), s.copies_before.data(), u32(s.copies_before.size()),
                             s.dispatches.data(), u32(s.dispatches.size()), s.copies_after.data(),
                             u32(s.copies_after.size()), s.durations != nullptr);
  return {};
}

Status BrowserDevice::begin_read(Id buffer, MutableBytes into) {
  std::erase_if(reads_, [&](const Read& read) { return read.buffer == buffer; });
  reads_.push_back({buffer, into, std::exchange(durations_, nullptr)});
  imports::pteron_gpu_begin_read(buffer, u32(into.size()));
  return {};
}

Result<bool> BrowserDevice::poll_read(Id buffer, bool wait) {
  const auto read = std::find_if(reads_.begin(), reads_.end(), [&](const Read& r) { return r.buffer == buffer; });
  if (read == reads_.end()) return internal_error("a buffer is polled that nobody reads");
  switch (imports::pteron_gpu_poll_read(buffer, read->into.data(), u32(read->into.size()))) {
    case Progress::pending:
      if (wait) return unsupported("a browser can't wait for the GPU; call finish again when it has worked");
      return false;
    case Progress::failed:
      reads_.erase(read);
      TRY_DO(health());
      return fail(ErrorKind::device_lost, "the GPU's answer could not be read");
    case Progress::done:
      if (read->durations) imports::pteron_gpu_durations(read->durations->data(), u32(read->durations->size()));
      reads_.erase(read);
      return true;
  }
  return false;
}

void BrowserDevice::destroy_buffer(Id id) {
  std::erase_if(reads_, [&](const Read& read) { return read.buffer == id; });
  imports::pteron_gpu_destroy(Object::buffer, id);
}
void BrowserDevice::destroy_pipeline(Id id) { imports::pteron_gpu_destroy(Object::pipeline, id); }
void BrowserDevice::destroy_bind_group(Id id) { imports::pteron_gpu_destroy(Object::bind_group, id); }
u64 BrowserDevice::buffer_size(Id id) const { return u64(imports::pteron_gpu_buffer_size(id)); }

}  // namespace browser

Result<std::shared_ptr<Device>> open_browser_device(const BrowserOptions& options) {
  auto device = std::make_shared<browser::BrowserDevice>(browser::describe(options));
  TRY_DO(device->health());
  return device;
}

}  // namespace pteron::gpu
