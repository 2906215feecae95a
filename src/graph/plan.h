// SPDX-License-Identifier: BSD-3-Clause
// What an op's one function sees: it reads arguments, live shapes and symbolic integers, and records what should run.
// A plan is pure: it allocates nothing on the GPU, so a whole program is validated before a GPU object exists, and it
// is run again exactly when something it read has changed.
#pragma once

#include "graph/effects.h"
#include "graph/kernel.h"

#include <array>
#include <type_traits>
#include <vector>

namespace pteron::graph {

// A tensor argument. Its shape is the live one.
class TensorArg {
 public:
  TensorArg() = default;
  TensorArg(ValueId id, DType dtype, const Shape* live, const Shape* max)
      : id_(id), dtype_(dtype), live_(live), max_(max) {}

  ValueId id() const { return id_; }
  DType dtype() const { return dtype_; }  // as it is stored on the device
  const Shape& shape() const { return *live_; }
  const Shape& max() const { return *max_; }
  u32 rank() const { return live_->rank(); }
  u32 dim(i32 axis) const { return live_->dim(axis); }
  u64 numel() const { return live_->numel(); }
  u64 rows() const { return live_->product(0, rank() - 1); }  // as long as the last axis, perhaps without elements

 private:
  ValueId id_ = no_value;
  DType dtype_ = DType::f32;
  const Shape* live_ = nullptr;
  const Shape* max_ = nullptr;
};

// What a kernel binds: a tensor, scratch memory of the op, or the word in which kernels report bad indices.
struct Operand {
  enum Kind : u8 { tensor, scratch, packed, fault } kind = tensor;
  u32 index = 0;
  u64 offset = 0;  // bytes
  u64 size = 0;    // bytes; 0: all of it

  Operand() = default;
  Operand(const TensorArg& t) : kind(tensor), index(t.id()) {}
  Operand(Kind k, u32 i, u64 o = 0, u64 s = 0) : kind(k), index(i), offset(o), size(s) {}
  friend bool operator==(const Operand&, const Operand&) = default;
};

// A number of workgroups, of any size: the engine folds it over the device's limit per dimension, and kernels undo that
// with the snippet `grid`.
struct Grid {
  u64 groups;
};
inline Grid one_group_per(u64 items) { return {items}; }
inline Grid one_thread_per(u64 items, u32 workgroup_size) { return {(items + workgroup_size - 1) / workgroup_size}; }
// One thread per unit of the output (see Spec::output).
inline Grid one_thread_per_unit(const TensorArg& output, u32 workgroup_size) {
  const u32 unit = elements_per_unit(output.dtype());
  return one_thread_per((output.numel() + unit - 1) / unit, workgroup_size);
}

// A list of integers that may contain live values.
class IntList {
 public:
  IntList() = default;
  explicit IntList(std::span<const i64> fixed) : fixed_(fixed) {}
  u32 size() const { return u32(live_count_ > 0 ? live_count_ : fixed_.size()); }
  bool empty() const { return size() == 0; }
  i64 operator[](u32 i) const { return live_count_ > 0 ? live_[i] : fixed_[i]; }
  bool push_live(i64 v) {
    if (live_count_ == live_.size()) return false;
    live_[live_count_++] = v;
    return true;
  }

 private:
  std::span<const i64> fixed_;
  std::array<i64, 16> live_{};
  size_t live_count_ = 0;
};

// How a constant's bytes are laid out on the GPU if not as in the file. Groups of `group_rows` rows, in the dtype of
// the device, become `group_bytes` bytes each; `pack` is called with whole groups only.
struct Packing {
  std::string_view name;  // identifies the layout: the same name means the same bytes
  u64 row_bytes = 0;
  u64 rows = 0;
  u64 group_rows = 1;
  u64 group_bytes = 0;  // on the GPU
  Status (*pack)(const Packing& self, Bytes rows, u64 first_row, MutableBytes out) = nullptr;
  std::array<u32, 4> args{};

  u64 groups() const { return group_rows == 0 ? 0 : (rows + group_rows - 1) / group_rows; }
  u64 packed_bytes() const { return groups() * group_bytes; }
  friend bool operator==(const Packing& a, const Packing& b) {
    return a.name == b.name && a.row_bytes == b.row_bytes && a.rows == b.rows && a.group_rows == b.group_rows &&
           a.group_bytes == b.group_bytes && a.args == b.args;
  }
};

// A constant, or a part of one that is put together from several, in another layout.
struct PackedPart {
  ValueId constant = no_value;
  Packing packing;
};

// What a kernel's speed depends on.
struct RouteShape {
  u32 rows = 0, depth = 0, columns = 0;
  bool operator==(const RouteShape&) const = default;
};
struct MeasuredRoute {
  std::string family;
  RouteShape shape{};
  std::string route;
};
// "family@64x576x192=route", or nothing if it has another form.
std::optional<MeasuredRoute> parse_route(std::string_view text);

// What is known about each value for good.
struct Facts {
  const Graph* graph = nullptr;
  gpu::DeviceInfo device;
  std::vector<DType> dtype;         // as stored on the device
  Effects effects;                  // also: which values share memory
  std::vector<u8> varies;           // its shape or number can differ from one execute to the next
  std::vector<std::string> routes;  // "family=route": kernels that the user insists on
  std::vector<MeasuredRoute> measured_routes;
  bool fast_math = false;  // the user wants speed rather than exactness where an op offers that
};

// Per value: what is live.
struct LiveValues {
  std::vector<Shape> shape;
  std::vector<i64> number;  // of SymInts: 32 bits, or the bits of an f64 that is no such integer
};

// Who a plan is made for: the survey at load, or an instance at execute.
class PlanHost {
 public:
  virtual ~PlanHost() = default;
  virtual Status read(ValueId id) = 0;  // a plan looks at this value's live shape or number
  virtual Status resize(ValueId id, const Shape& shape, bool settled) = 0;
  virtual Status set_number(ValueId id, i64 value, bool settled) = 0;
  virtual bool branch(bool condition, bool settled) = 0;
  virtual Status scratch(u32 number, u64 bytes) = 0;
  virtual Result<u32> pack(std::span<const PackedPart> parts) = 0;
  virtual Result<u32> fault_slot(std::string_view what, u64 limit) = 0;
  virtual void check_indices(ValueId indices, u64 limit, std::string_view what, bool negative) = 0;
  virtual void use_cache(ValueId tensor, u32 axis, u64 positions, bool writes) = 0;
  virtual Result<i64> host_element(ValueId tensor, u64 flat_index) = 0;
  virtual void note_route(std::string_view family, const RouteShape& shape, std::string_view route) = 0;
  virtual void note_operations(u64 count) = 0;
  virtual Status dispatch(const Kernel& kernel, std::span<const Operand> operands, Bytes params, Grid grid) = 0;
};

class Plan {
 public:
  enum class Mode {
    survey,  // at load: shapes are maximal, both sides of every branch are visited
    live,    // at execute
  };

  // --- arguments, which fit the signature. Where that has a default, Null stands for it.
  u32 arity() const { return u32(op_.args.size()); }  // with the result
  TensorArg tensor(u32 arg);
  std::optional<TensorArg> maybe_tensor(u32 arg);  // nothing if Null
  TensorArg output(u32 arg);
  TensorArg last_output() { return output(arity() - 1); }
  u32 list_size(u32 arg) const;
  TensorArg list_tensor(u32 arg, u32 item);
  std::optional<TensorArg> maybe_list_tensor(u32 arg, u32 item);
  TensorArg list_output(u32 arg, u32 item);
  // Where the op returns an argument that it has updated in place: nothing if that is the argument itself.
  std::optional<TensorArg> updated_output(u32 arg, u32 item, const TensorArg& updated);
  bool is_null(u32 arg) const;
  i64 integer(u32 arg);  // Int, SymInt, or a Double with an integer value
  i64 integer_or(u32 arg, i64 if_null);
  f64 number(u32 arg);                // Int, Double or SymInt
  std::optional<i64> whole(u32 arg);  // a number, or nothing if that is no integer
  f64 number_or(u32 arg, f64 if_null);
  bool flag(u32 arg) { return integer(arg) != 0; }
  bool flag_or(u32 arg, bool if_null) { return is_null(arg) ? if_null : flag(arg); }
  std::string_view text(u32 arg) const;
  IntList ints(u32 arg);  // IntList, or a ValueList of Ints and SymInts; Null is empty
  std::span<const f64> doubles(u32 arg);
  // An axis, counted from the back when negative.
  u32 axis(u32 arg, u32 rank);
  u32 normalize_axis(i64 axis, u32 rank);
  // One element of a graph input, from the host's memory.
  i64 host_element(const TensorArg& tensor, u64 flat_index);

  // --- facts
  const gpu::DeviceInfo& device() const;
  const OpEntry& entry() const { return *op_.entry; }
  std::string_view code() const { return op_.code; }
  bool fast_math() const { return facts_.fast_math; }
  // The route that the user insists on for this family of kernels, or nothing.
  std::string_view forced_route(std::string_view family) const;
  // The route that was measured to be the fastest for this shape, or nothing. `fixed`: only its rows can vary.
  std::string_view measured_route(std::string_view family, const RouteShape& shape, bool fixed);
  // The route that was taken, for profiles. Names outlive the plan.
  void note_route(std::string_view family, const RouteShape& shape, std::string_view route) {
    host_.note_route(family, shape, route);
  }
  // How many additions and multiplications the next dispatch takes, for estimates; else one for each element written.
  void note_operations(u64 count) { host_.note_operations(count); }
  // True if `a` and `b` are one piece of memory, so that copying between them is nothing to do.
  bool same_storage(const TensorArg& a, const TensorArg& b) const;
  // Its type in the file, which a device without half precision stores as another.
  DType file_dtype(const TensorArg& t) const;
  // True if nothing ever changes these bytes, so that they can be packed().
  bool bytes_are_fixed(const TensorArg& t) const;
  // True if these are float32 that halves hold exactly: a packing may make halves of them.
  bool can_be_halves(const TensorArg& t) const;
  // True if the shape is the same at every execute, so that it can choose a kernel without branch().
  bool shape_is_fixed(const TensorArg& t) const { return t.id() != no_value && !facts_.varies[t.id()]; }
  // False while values that this plan read are not known yet, so that a check on them would mean nothing.
  bool settled() const { return mode_ == Mode::live || !read_varying_; }
  // `condition` at run time. At load, where it depends on live values, the plan is visited with both answers, so that
  // whatever a later shape asks for is ready.
  bool branch(bool condition);

  // --- results
  Status resize(const TensorArg& output, const Shape& shape);
  void set_symint(u32 arg, i64 value);
  // The same for a number that may have a fraction.
  void set_symreal(u32 arg, f64 value);
  // Memory for this op alone. `bytes` must not grow beyond what the maximal shapes ask for.
  Operand scratch(u64 bytes);
  Operand fault() { return {Operand::fault, 0}; }
  // The word of fault() that stands for this complaint; kernels get it as a parameter.
  u32 fault_slot(std::string_view what, u64 limit);
  // Constants in another layout, one behind the other in one buffer; they are converted on their way to the GPU.
  Operand packed(std::span<const PackedPart> parts);
  // How many rows of `row_bytes` one binding can hold, so that further bindings may start behind them.
  u64 rows_per_binding(u64 row_bytes) const;
  // This tensor keeps one entry per position of a sequence along `axis`, written before it is read. The op touches
  // none from position `positions` on, so there need not be memory for those.
  void writes_cache(const TensorArg& tensor, u32 axis, u64 positions) {
    host_.use_cache(tensor.id(), axis, positions, true);
  }
  void reads_cache(const TensorArg& tensor, u32 axis, u64 positions) {
    host_.use_cache(tensor.id(), axis, positions, false);
  }
  // Every element of `indices` must lie in [0, limit) or, if `negative` is allowed, in [-limit, limit). Checked on the
  // host when the elements come straight from a graph input; the kernel reports the rest through fault().
  void check_indices(const TensorArg& indices, u64 limit, std::string_view what, bool negative = false);

  template <class Params>
  Status dispatch(const Kernel& kernel, std::initializer_list<Operand> operands, const Params& params, Grid grid) {
    static_assert(std::is_trivially_copyable_v<Params> && sizeof(Params) <= 256 && sizeof(Params) % 4 == 0);
    return dispatch(kernel, std::span(operands.begin(), operands.size()), std::as_bytes(std::span(&params, 1)), grid);
  }
  Status dispatch(const Kernel& kernel, std::span<const Operand> operands, Bytes params, Grid grid);

  template <class... Ts>
  Failure refuse(const Ts&... parts) const {
    return invalid(parts...);
  }
  template <class... Ts>
  Failure refuse_unsupported(const Ts&... parts) const {
    return unsupported(parts...);
  }

  // --- for the engine
  Plan(Mode mode, const Facts& facts, u32 op, LiveValues& live, PlanHost& host)
      : mode_(mode), facts_(facts), index_(op), op_(facts.graph->ops[op]), live_(live), host_(host) {}
  // Runs the op's function; the first complaint about an argument wins over what the function says.
  Status run();

 private:
  const Value& argument(u32 arg) const { return facts_.graph->values[op_.args[arg]]; }
  ValueId item_of(u32 arg, u32 item);  // of a list of tensors
  TensorArg tensor_arg(ValueId id) const;
  TensorArg read_tensor(ValueId id);
  TensorArg output_tensor(ValueId id);
  i64 as_integer(ValueId id);
  void read(ValueId id);
  void complain(Error error);
  // An op whose output is one of its inputs (a buffer updated in place) writes to scratch memory, which is copied over
  // the output when the op is done: WebGPU has no dispatch that reads and writes one buffer through two bindings.
  void redirect_output(ValueId output);
  Status dispatch_raw(const Kernel& kernel, std::span<const Operand> operands, Bytes params, Grid grid);

  Mode mode_;
  const Facts& facts_;
  u32 index_;
  const Op& op_;
  LiveValues& live_;
  PlanHost& host_;
  bool read_varying_ = false;
  u32 scratch_used_ = 0;
  struct Redirect {
    ValueId output;
    Operand scratch;
    bool written = false;  // an op that has nothing to do leaves its output as it is
  };
  std::array<Redirect, 4> redirected_{};
  u32 redirected_count_ = 0;
  std::optional<Error> complaint_;
};

}  // namespace pteron::graph

// REQUIRE(op, cond, …): a fact about the file. REQUIRE_LIVE: about live values, checked as soon as they are known.
#define REQUIRE(op, condition, ...)    \
  do {                                 \
    if (!(condition)) [[unlikely]]     \
      return (op).refuse(__VA_ARGS__); \
  } while (false)
#define REQUIRE_LIVE(op, condition, ...)             \
  do {                                               \
    if ((op).settled() && !(condition)) [[unlikely]] \
      return (op).refuse(__VA_ARGS__);               \
  } while (false)
// For what is valid and not supported.
#define REQUIRE_SUPPORTED(op, condition, ...)      \
  do {                                             \
    if (!(condition)) [[unlikely]]                 \
      return (op).refuse_unsupported(__VA_ARGS__); \
  } while (false)
