// SPDX-License-Identifier: BSD-3-Clause
// The port to WebGPU: a device, buffers, pipelines, bind groups, one submit, one read back. Two implementations:
// native/ (webgpu.h) and browser/ (wasm imports). Nothing above this folder sees a WGPU type.
//
// Threads: one device may be used from several threads at once. Handles keep their device alive.
#pragma once

#include "base/error.h"

#include <pteron/types.h>

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace pteron::gpu {

enum class AdapterType { discrete, integrated, virtual_gpu, cpu, unknown };
std::string_view name_of(AdapterType type);

struct AdapterInfo {
  u32 index = 0;
  std::string name;     // "llvmpipe (LLVM 15.0.6, 256 bits)"
  std::string driver;   // "llvmpipe: Mesa 22.3.6"
  std::string backend;  // "Vulkan"
  AdapterType type = AdapterType::unknown;
};

// WebGPU's guaranteed minimums are the defaults, so a plan without a device holds on every device.
struct Limits {
  u64 max_buffer_bytes = 256u << 20;
  u64 max_storage_binding_bytes = 128u << 20;
  u64 max_uniform_binding_bytes = 64u << 10;
  u32 max_storage_buffers = 8;
  u32 max_workgroup_bytes = 16u << 10;
  u32 max_invocations = 256;
  u32 max_workgroups = 65535;  // per dimension
};

struct Features {
  bool f16 = false;
  bool subgroups = false;
  bool timestamps = false;
  u32 subgroup_min = 0;
  u32 subgroup_max = 0;
};

struct DeviceInfo {
  AdapterInfo adapter;
  Limits limits;
  Features features;
};

using Id = std::uintptr_t;  // a handle of the implementation; 0 is none

enum class BufferUse {
  gpu,       // storage, uniform, copies in and out
  readback,  // copies in, mapped for reading
};

enum class BindingKind : u8 { uniform, read, read_write };

struct PipelineSpec {
  std::string label;
  std::string source;  // WGSL with an entry point "main"
  std::vector<BindingKind> bindings;
  bool subgroups = false;                           // the port adds the directive that its compiler wants
  bool loops_end = false;                           // proven, so the port need not add counters to loops
  std::function<std::string(std::string)> explain;  // maps lines of `source` in an error message to files; may be empty
};

// Binding 0 of every pipeline is a uniform whose offset comes with the dispatch.
struct BindingRange {
  Id buffer = 0;
  u64 offset = 0;
  u64 size = 0;
};

struct Dispatch {
  Id pipeline = 0;
  Id bind_group = 0;
  u32 params_offset = 0;  // where binding 0 starts in its buffer
  u32 x = 1, y = 1, z = 1;
  bool operator==(const Dispatch&) const = default;
};

struct Copy {
  Id source = 0;
  u64 source_offset = 0;
  Id target = 0;
  u64 target_offset = 0;
  u64 size = 0;  // a multiple of 4; 0 is skipped
  bool operator==(const Copy&) const = default;
};

struct Fill {  // with zeros
  Id buffer = 0;
  u64 offset = 0;
  u64 size = 0;
};

// One encoder: fills, then copies, then all dispatches in one compute pass, then copies.
struct Submission {
  std::span<const Fill> fills;
  std::span<const Copy> copies_before;
  std::span<const Dispatch> dispatches;
  std::span<const Copy> copies_after;
  // Profiling only: a pass per dispatch, its duration in nanoseconds written here when the next read is done.
  std::vector<u64>* durations = nullptr;
};

// What tests and `stats` look at.
struct Counters {
  std::atomic<u64> buffers{0}, buffer_bytes{0}, pipelines{0}, bind_groups{0};  // alive now
  std::atomic<u64> peak_buffer_bytes{0};
  std::atomic<u64> creates{0};  // create* calls ever, without encoders, passes and command buffers
  std::atomic<u64> writes{0}, written_bytes{0}, submits{0}, dispatches{0};
  std::atomic<u64> waited_nanoseconds{0};    // for the GPU
  std::atomic<u64> prepared_nanoseconds{0};  // the next step, while the GPU worked
};

class Device;

// An owned object of a device.
template <class Tag>
class Handle {
 public:
  Handle() = default;
  Handle(std::shared_ptr<Device> device, Id id) : device_(std::move(device)), id_(id) {}
  Handle(Handle&& other) noexcept : device_(std::move(other.device_)), id_(std::exchange(other.id_, 0)) {}
  Handle& operator=(Handle&& other) noexcept {
    if (this != &other) {
      reset();
      device_ = std::move(other.device_);
      id_ = std::exchange(other.id_, 0);
    }
    return *this;
  }
  ~Handle() { reset(); }

  Id id() const { return id_; }
  explicit operator bool() const { return id_ != 0; }
  void reset();

 private:
  std::shared_ptr<Device> device_;
  Id id_ = 0;
};

struct BufferTag {};
struct PipelineTag {};
struct BindGroupTag {};
struct CommandsTag {};
using Pipeline = Handle<PipelineTag>;
using BindGroup = Handle<BindGroupTag>;

class Buffer {
 public:
  Buffer() = default;
  Buffer(Handle<BufferTag> handle, u64 size) : handle_(std::move(handle)), size_(size) {}
  Id id() const { return handle_.id(); }
  u64 size() const { return size_; }
  explicit operator bool() const { return bool(handle_); }
  void reset() { handle_.reset(), size_ = 0; }

 private:
  Handle<BufferTag> handle_;
  u64 size_ = 0;
};

// A submission that has been recorded ahead, to be submitted once.
struct Commands {
  Handle<CommandsTag> handle;
  u64 dispatches = 0;
  explicit operator bool() const { return bool(handle); }
};

class Device : public std::enable_shared_from_this<Device> {
 public:
  virtual ~Device() = default;

  const DeviceInfo& info() const { return info_; }
  const Limits& limits() const { return info_.limits; }
  const Features& features() const { return info_.features; }
  Counters& counters() { return counters_; }

  // `size` is rounded up to a multiple of 4, at least 4.
  Result<Buffer> create_buffer(u64 size, BufferUse use, std::string_view label);
  Result<BindGroup> create_bind_group(Id pipeline, std::span<const BindingRange> bindings, std::string_view label);

  // Starts compiling; the batch says when all of them are there.
  class PipelineBatch {
   public:
    virtual ~PipelineBatch() = default;
    // How many are done. With `wait`, natively, returns only when at least one more is (or all are).
    virtual Result<u32> poll(bool wait) = 0;
    // After all are done, once.
    virtual Result<std::vector<Pipeline>> take() = 0;
  };
  virtual Result<std::unique_ptr<PipelineBatch>> compile(std::vector<PipelineSpec> specs) = 0;
  virtual Result<Pipeline> compile_now(const PipelineSpec& spec) = 0;

  // Offsets and sizes are multiples of 4. The bytes are copied before the call returns.
  Status write(Id buffer, u64 offset, Bytes bytes);
  Status submit(const Submission& submission);
  // Recording takes longer than submitting, so it is best done while the GPU works on something else. The result is
  // empty where an implementation has no use for it.
  Result<Commands> record(const Submission& submission);
  Status submit(Commands commands);

  // Maps `size` bytes of a readback buffer after all that was submitted and copies them to `into`.
  virtual Status begin_read(Id buffer, MutableBytes into) = 0;
  // True when the read is done. With `wait`, natively, returns only then, or when it has waited for long.
  virtual Result<bool> poll_read(Id buffer, bool wait) = 0;
  // Waits until all submitted work is done (natively; a browser can't).
  virtual Status wait_idle() = 0;
  // The first error that no call could return: a lost device, a failed validation. Sticky.
  Status health();
  // From now on this is what is wrong with it, and the error of every call.
  void give_up(Error why);

 protected:
  template <class Tag>
  friend class Handle;

  virtual Result<Id> make_buffer(u64 size, BufferUse use, std::string_view label) = 0;
  virtual Result<Id> make_bind_group(Id pipeline, std::span<const BindingRange> bindings, std::string_view label) = 0;
  virtual Status do_write(Id buffer, u64 offset, Bytes bytes) = 0;
  virtual Status do_submit(const Submission& submission) = 0;
  virtual Result<Id> make_commands(const Submission&) { return Id(0); }
  virtual Status submit_commands(Id) { return internal_error("nothing was recorded"); }
  virtual Status check() { return {}; }  // what the implementation knows of health
  virtual void destroy_buffer(Id id) = 0;
  virtual void destroy_pipeline(Id id) = 0;
  virtual void destroy_bind_group(Id id) = 0;
  virtual void destroy_commands(Id) {}
  virtual u64 buffer_size(Id id) const = 0;

  Pipeline adopt_pipeline(Id id);

  DeviceInfo info_;

 private:
  Status given_up();
  void released(BufferTag, Id id);
  void released(PipelineTag, Id id);
  void released(BindGroupTag, Id id);
  void released(CommandsTag, Id id);

  Counters counters_;
  std::mutex failure_mutex_;
  std::optional<Error> failure_;
};

template <class Tag>
void Handle<Tag>::reset() {
  if (id_ != 0) device_->released(Tag{}, id_);
  id_ = 0;
  device_.reset();
}

}  // namespace pteron::gpu
