// SPDX-License-Identifier: BSD-3-Clause
// Loading and running ExecuTorch programs.
//
//   auto program = pteron::Program::load("model.pte");
//   auto method  = program->method("forward");
//   auto outputs = method->execute({{x}});
#pragma once

#include <pteron/device.h>
#include <pteron/output_set.h>
#include <pteron/progress.h>
#include <pteron/tensor.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pteron {

// How an output is shortened on the GPU, in the same submit, so that a generator reads back bytes. A row is what lies
// along the output's last axis.
struct Epilogue {
  enum Kind {
    arg_max,      // int32: where the row's largest element is, the first one if several are
    top_k,        // float32: its k largest, best first; int32: where they are
    log_sum_exp,  // float32: the logarithm of the sum of e to its elements; an element minus this is its
                  // log-probability
  } kind = arg_max;
  u32 output = 0;  // of the method
  u32 k = 1;
  // Of the last row only, or of every row of a run, which then is the first axis of the results. A program that gives
  // only the logits of the last token has one row; see docs/converting.md for those that give all.
  enum Rows { last, all } rows = last;

  bool operator==(const Epilogue&) const = default;
};

struct MethodOptions {
  std::vector<Epilogue> epilogues;  // each adds one output behind the method's own, or two (top_k)

  bool operator==(const MethodOptions&) const = default;
};

struct LoadOptions {
  std::optional<Device> device;  // opened when first needed if not given
  DeviceOptions device_options;
  bool share_device = false;  // with the process's other programs that say so and have the same device_options
  std::vector<std::string> data_files;  // .ptd files with external constants
  std::vector<std::string> disabled_passes;
  // Which kernels a family of ops uses: "gemm=shared", or for one shape (rows, depth, columns)
  // "gemm@64x576x192=shared".
  std::vector<std::string> routes;
  bool f16_kv_cache = false;  // caches in half the memory; needs a device with f16
  // Less exact, for speed on GPUs: 4-bit linears take what many rows multiply (a prompt) in 8 bits.
  bool fast_math = false;
  // Words behind every tensor of a step and behind scratch memory that nobody may write: a step fails if a kernel did.
  bool guards = false;
  // A step that would take a slow GPU longer, as modelled, is submitted in parts, because drivers reset a GPU that
  // works on one submit for some seconds. 0: never.
  u32 submit_microseconds = 500'000;
  // A GPU that has not answered for so long, and 100 times what the step should take a slow one, is taken for lost: an
  // error of this and every later call. 0: never. A call that waits inside of the driver ends when that does.
  u32 answer_seconds = 300;
  ProgressFn progress;
};

struct ValueInfo {
  bool is_tensor = true;
  DType dtype = DType::f32;
  Shape shape;  // upper bounds where dynamic
  bool dynamic = false;
};

struct MethodInfo {
  std::string name;
  std::vector<ValueInfo> inputs, outputs;
};

struct MethodStats {
  u32 dispatches = 0;  // of the last execute
  u32 replanned = 0;
  u32 late_pipelines = 0;  // ever; 0 unless the planner missed a route
  u64 uploaded_bytes = 0, read_back_bytes = 0;
  u64 gpu_bytes = 0;      // of this method's state: what a further method like it would take
  u64 working_bytes = 0;  // for steps, shared by all methods that take turns
};

// What a step's dispatches read and write by what they bind, as if no cache kept anything from one to the next.
struct MemoryTraffic {
  u64 weights = 0, state = 0, activations = 0;
  // Each weight and each live position of a cache once: no step can do with less.
  u64 needed = 0;
  u64 total() const { return weights + state + activations; }
};

// What one dispatch of a step asks of a GPU, by the engine's plan: estimates of bytes and operations, exact numbers of
// threads.
struct DispatchCost {
  std::string op;
  std::string kernel;
  std::string route;  // as in OpTiming
  u64 workgroups = 0;
  u32 threads = 0;      // of a workgroup
  u64 bytes = 0;        // read and written
  u64 operations = 0;   // additions and multiplications of products; else one for each element written
  std::string warning;  // what would leave much of a GPU idle; empty: nothing
};

struct OpTiming {
  std::string op;
  std::string kernel;
  u64 nanoseconds = 0;
  std::string route;  // "gemm@64x576x192=shared" if other kernels could do the same, see LoadOptions::routes
};

// A method with a state of its own (KV caches). Not for two threads at once; different methods are independent. All
// that a step needs besides the state is borrowed for the time of the step, so that methods that take turns
// (conversations, say) share it; only those that run at the same time, in several threads, have it each.
class Method {
 public:
  Method(Method&&) noexcept;
  Method& operator=(Method&&) noexcept;
  ~Method();

  const MethodInfo& info() const;

  // Runs once. The outputs belong to the method and stay valid until the next call.
  Result<std::span<const Tensor>> execute(std::span<const TensorView> inputs);
  Result<std::span<const Tensor>> execute(std::initializer_list<TensorView> inputs) {
    return execute(std::span(inputs.begin(), inputs.size()));
  }
  // The same in two parts, for hosts that must not block. Only `wanted` outputs are read back; work that only others
  // need is skipped. The inputs are borrowed until `finish` is true or an error.
  Status begin(std::span<const TensorView> inputs, const OutputSet& wanted = OutputSet::all());
  Result<bool> finish(bool wait = true);
  std::span<const Tensor> outputs() const;

  // State (KV caches and the like).
  Status reset();               // as in the file
  Status rewind(u32 position);  // forgets caches from this position on
  Result<Method> clone();       // an independent copy in the same state
  // As bytes: so many positions of caches, and all other state. They fit where the layout is the same.
  std::string state_layout() const;
  u64 state_bytes(u32 positions) const;
  Result<std::vector<std::byte>> save_state(u32 positions) const;
  Status restore_state(u32 positions, Bytes bytes);

  MethodStats stats() const;
  // Of the last execute, modelled; nothing if another method has run since. Caches count as far as `positions` of them
  // are in use.
  MemoryTraffic traffic(u32 positions) const;
  // The same by dispatch, with what each asks of a GPU besides.
  std::vector<DispatchCost> costs(u32 positions) const;
  // Time per op of the next executes, by GPU timestamps. Slows them down.
  void set_profiling(bool on);
  std::vector<OpTiming> profile() const;
  // Names of the kernels that the last execute ran, each once; none if another method has run since.
  std::vector<std::string> kernels() const;

 private:
  friend class Batch;
  friend class Program;
  friend class StreamedProgram;
  struct Impl;
  explicit Method(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// Steps of several methods that are one method of one program, each with its own state, in one submit: what works on
// rows (linears, norms and the like) runs once over the rows of all, the rest for each. Weights are read once.
// Not for two threads at once.
class Batch {
 public:
  static constexpr u32 most_lanes = 64;
  struct Lane {
    Method* method = nullptr;
    std::span<const TensorView> inputs;  // of the same shapes in all lanes; borrowed until `finish` is true or an error
    OutputSet wanted = OutputSet::all();
    Status status = {};  // an error in one lane does not touch the others
  };
  Batch(Batch&&) noexcept;
  Batch& operator=(Batch&&) noexcept;
  ~Batch();

  // An error: nothing is under way, and each lane could still run by itself. Lanes with an error in their status are
  // not under way either. The first step of so many lanes prepares what that takes.
  Status begin(std::span<Lane> lanes);
  // The outputs are then those of the methods. The lanes stay where they are until this is true or an error.
  Result<bool> finish(bool wait = true);

  u64 working_bytes() const;  // on the GPU, besides what the methods have
  // As of a method, of the last step.
  MemoryTraffic traffic(u32 positions) const;
  MethodStats stats() const;

 private:
  friend class Program;
  struct Impl;
  explicit Batch(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

class Program {
 public:
  static Result<Program> load(const std::string& path, LoadOptions options = {});
  static Result<Program> load(std::vector<std::byte> bytes, LoadOptions options = {});
  Program(Program&&) noexcept;
  Program& operator=(Program&&) noexcept;
  ~Program();

  const std::vector<MethodInfo>& methods() const;
  // Whether the engine can run a method by itself, as far as the file says: not if ops lie outside of the delegate.
  Status check(std::string_view method) const;
  // Loads a method, or makes another one of what is loaded: all but the state is shared. Other options load it anew,
  // but for its constants.
  Result<Method> method(std::string_view name = "forward", const MethodOptions& options = {});
  // For methods that were made with this name and these options. Refused if more than one delegate runs.
  Result<Batch> batch(std::string_view name = "forward", const MethodOptions& options = {});
  // The value of a constant method such as get_vocab_size: integers, or nothing if there is no such method.
  std::optional<std::vector<i64>> constant(std::string_view name) const;
  Result<Device> device();
  // Bytes stored beside the program under a key, e.g. a tokenizer.
  Result<std::vector<std::byte>> named_data(std::string_view key) const;

 private:
  friend class Batch;
  friend class StreamedProgram;
  struct Impl;
  explicit Program(std::shared_ptr<Impl> impl);
  std::shared_ptr<Impl> impl_;
};

}  // namespace pteron
