// SPDX-License-Identifier: BSD-3-Clause
#include "graph/plan.h"

#include "graph/op.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <numeric>

namespace pteron::graph {
namespace {

constexpr u64 binding_alignment = 256;
const Shape scalar;
const TensorArg nothing{no_value, DType::f32, &scalar, &scalar};  // stands for an argument that was complained about

}  // namespace

Status Plan::run() {
  Status status = op_.entry->plan(*this);
  if (complaint_) return Failure(*std::move(complaint_));
  if (!status) return status;
  for (u32 i = 0; i < redirected_count_; ++i) {
    const Redirect& r = redirected_[i];
    const u32 quads = u32((live_.shape[r.output].numel() * size_of(facts_.dtype[r.output]) + 15) / 16);
    if (quads == 0 || !r.written) continue;
    TRY_DO(dispatch_raw(Kernel(copy_kernel()), std::array{r.scratch, Operand(Operand::tensor, r.output)},
                        std::as_bytes(std::span(&quads, 1)), one_thread_per(quads, 64)));
  }
  return {};
}

void Plan::redirect_output(ValueId output) {
  if (op_.entry->is(copies) || !facts_.effects.reads(index_, output)) return;  // a copy onto itself is nothing to do
  for (u32 i = 0; i < redirected_count_; ++i)
    if (redirected_[i].output == output) return;
  if (redirected_count_ == redirected_.size())
    return complain({ErrorKind::unsupported, "too many outputs overwrite inputs", {}});
  const u64 bytes = facts_.graph->tensor(output)->max.numel() * size_of(facts_.dtype[output]);
  redirected_[redirected_count_++] = {output, scratch(bytes)};
}

void Plan::complain(Error error) {
  if (!complaint_) complaint_ = std::move(error);
}

void Plan::read(ValueId id) {
  if (auto status = host_.read(id); !status) complain(std::move(status.error()));
  if (facts_.varies[id]) read_varying_ = true;
}

TensorArg Plan::tensor_arg(ValueId id) const {
  if (id == no_value) return nothing;
  return {id, facts_.dtype[id], &live_.shape[id], &facts_.graph->tensor(id)->max};
}

TensorArg Plan::read_tensor(ValueId id) {
  if (id != no_value) read(id);
  return tensor_arg(id);
}

TensorArg Plan::output_tensor(ValueId id) {
  if (id != no_value) redirect_output(id);
  return tensor_arg(id);
}

TensorArg Plan::tensor(u32 arg) { return read_tensor(op_.args[arg]); }

std::optional<TensorArg> Plan::maybe_tensor(u32 arg) {
  if (is_null(arg)) return std::nullopt;
  return tensor(arg);
}

TensorArg Plan::output(u32 arg) { return output_tensor(op_.args[arg]); }

u32 Plan::list_size(u32 arg) const {
  const auto* list = std::get_if<ValueList>(&argument(arg));
  return list ? u32(list->items.size()) : 0;
}

ValueId Plan::item_of(u32 arg, u32 item) {
  if (item < list_size(arg)) return std::get<ValueList>(argument(arg)).items[item];
  complain({ErrorKind::invalid,
            str("argument ", arg, " '", op_.entry->signature.params[arg].name, "' has ", list_size(arg),
                " items; at least ", item + 1, " are needed"),
            {}});
  return no_value;
}

TensorArg Plan::list_tensor(u32 arg, u32 item) { return read_tensor(item_of(arg, item)); }

std::optional<TensorArg> Plan::maybe_list_tensor(u32 arg, u32 item) {
  const ValueId id = item_of(arg, item);
  if (id == no_value || !facts_.graph->tensor(id)) return std::nullopt;
  return read_tensor(id);
}

TensorArg Plan::list_output(u32 arg, u32 item) { return output_tensor(item_of(arg, item)); }

std::optional<TensorArg> Plan::updated_output(u32 arg, u32 item, const TensorArg& updated) {
  if (item_of(arg, item) == updated.id()) return std::nullopt;
  return list_output(arg, item);
}

bool Plan::is_null(u32 arg) const { return std::holds_alternative<std::monostate>(argument(arg)); }

namespace {

bool fits(i64 number) { return number >= INT32_MIN && number <= INT32_MAX; }
// Of a SymInt's number. The bits of a fraction are no integer of 32 bits.
f64 real_number(i64 number) { return fits(number) ? f64(number) : std::bit_cast<f64>(number); }

}  // namespace

i64 Plan::as_integer(ValueId id) {
  const Value& value = facts_.graph->values[id];
  if (const auto* i = std::get_if<i64>(&value)) return *i;
  if (const auto* d = std::get_if<f64>(&value)) return exact_integer(*d).value_or(0);
  if (const auto* b = std::get_if<bool>(&value)) return *b;
  read(id);
  const i64 number = live_.number[id];
  if (fits(number)) return number;
  complain({ErrorKind::invalid, str("a symbolic number is ", real_number(number), ", but an integer is needed"), {}});
  return 0;
}

i64 Plan::integer(u32 arg) {
  return is_null(arg) ? i64(op_.entry->signature.params[arg].number) : as_integer(op_.args[arg]);
}

i64 Plan::integer_or(u32 arg, i64 if_null) { return is_null(arg) ? if_null : integer(arg); }

f64 Plan::number(u32 arg) {
  if (is_null(arg)) return op_.entry->signature.params[arg].number;
  if (const auto* d = std::get_if<f64>(&argument(arg))) return *d;
  if (!std::holds_alternative<SymInt>(argument(arg))) return f64(as_integer(op_.args[arg]));
  read(op_.args[arg]);
  return real_number(live_.number[op_.args[arg]]);
}

std::optional<i64> Plan::whole(u32 arg) {
  const f64 value = number(arg);
  if (const auto* i = std::get_if<i64>(&argument(arg))) return *i;
  return exact_integer(value);
}

f64 Plan::number_or(u32 arg, f64 if_null) { return is_null(arg) ? if_null : number(arg); }

std::string_view Plan::text(u32 arg) const {
  if (is_null(arg)) return op_.entry->signature.params[arg].text;
  return std::get<std::string>(argument(arg));
}

IntList Plan::ints(u32 arg) {
  if (const auto* fixed = std::get_if<std::vector<i64>>(&argument(arg))) return IntList(*fixed);
  IntList out;
  if (const auto* list = std::get_if<ValueList>(&argument(arg)))
    for (ValueId id : list->items) out.push_live(as_integer(id));
  return out;
}

std::span<const f64> Plan::doubles(u32 arg) {
  const auto* list = std::get_if<std::vector<f64>>(&argument(arg));
  return list ? std::span<const f64>(*list) : std::span<const f64>();
}

u32 Plan::normalize_axis(i64 axis, u32 rank) {
  const i64 extent = std::max<i64>(rank, 1);
  if (axis < -extent || axis >= extent) {
    complain({ErrorKind::invalid, str("axis ", axis, " is out of range for rank ", rank), {}});
    return 0;
  }
  return u32(axis < 0 ? axis + extent : axis);
}

u32 Plan::axis(u32 arg, u32 rank) { return normalize_axis(integer(arg), rank); }

i64 Plan::host_element(const TensorArg& tensor, u64 flat_index) {
  read_varying_ = true;
  auto element = host_.host_element(tensor.id(), flat_index);
  if (element) return *element;
  complain(std::move(element.error()));
  return 0;
}

const gpu::DeviceInfo& Plan::device() const { return facts_.device; }

std::string_view Plan::forced_route(std::string_view family) const {
  for (std::string_view route : facts_.routes)
    if (route.starts_with(family) && route.substr(family.size()).starts_with('='))
      return route.substr(family.size() + 1);
  return {};
}

std::string_view Plan::measured_route(std::string_view family, const RouteShape& shape, bool fixed) {
  for (const MeasuredRoute& measured : facts_.measured_routes) {
    const RouteShape& of = measured.shape;
    if (measured.family != family || (fixed && (of.depth != shape.depth || of.columns != shape.columns))) continue;
    if (branch(of == shape)) return measured.route;
  }
  return {};
}

std::optional<MeasuredRoute> parse_route(std::string_view text) {
  const size_t at = text.find('@'), equals = text.find('=');
  if (at == std::string_view::npos || equals == std::string_view::npos || equals < at) return std::nullopt;
  MeasuredRoute out{std::string(text.substr(0, at)), {}, std::string(text.substr(equals + 1))};
  const char* next = text.data() + at + 1;
  const char* const end = text.data() + equals;
  for (u32* size : {&out.shape.rows, &out.shape.depth, &out.shape.columns}) {
    const auto [stop, error] = std::from_chars(next, end, *size);
    const bool last = size == &out.shape.columns;
    if (error != std::errc() || (last ? stop != end : stop == end || *stop != 'x')) return std::nullopt;
    next = stop + 1;
  }
  return out;
}

bool Plan::same_storage(const TensorArg& a, const TensorArg& b) const {
  if (a.id() == no_value || b.id() == no_value) return false;
  return facts_.effects.memory(a.id()) == facts_.effects.memory(b.id());
}

DType Plan::file_dtype(const TensorArg& t) const {
  return t.id() == no_value ? t.dtype() : facts_.graph->tensor(t.id())->dtype;
}

bool Plan::bytes_are_fixed(const TensorArg& t) const {
  return t.id() != no_value && facts_.effects.is_fixed(*facts_.graph, t.id());
}

bool Plan::can_be_halves(const TensorArg& t) const {
  if (!bytes_are_fixed(t)) return false;
  const auto constant = facts_.graph->tensor(t.id())->constant;
  return constant && facts_.graph->constants[*constant].halves && t.dtype() == DType::f32;
}

bool Plan::branch(bool condition) { return host_.branch(condition, settled()); }

Status Plan::resize(const TensorArg& output, const Shape& shape) {
  if (complaint_) return Failure(*complaint_);
  return host_.resize(output.id(), shape, settled());
}

void Plan::set_symint(u32 arg, i64 value) {
  if (std::holds_alternative<i64>(argument(arg))) return;  // folded by the exporter
  if (complaint_) return;
  if (value < INT32_MIN || value > INT32_MAX)
    return complain(
        {ErrorKind::invalid, str("the symbolic integer would be ", value, ", which does not fit in 32 bits"), {}});
  if (auto status = host_.set_number(op_.args[arg], value, settled()); !status) complain(std::move(status.error()));
}

void Plan::set_symreal(u32 arg, f64 value) {
  if (const auto integer = exact_integer(value)) return set_symint(arg, *integer);
  if (std::holds_alternative<i64>(argument(arg)) || complaint_) return;
  if (!std::isnormal(value)) return complain({ErrorKind::invalid, str("the symbolic number would be ", value), {}});
  const i64 bits = std::bit_cast<i64>(value);
  if (auto status = host_.set_number(op_.args[arg], bits, settled()); !status) complain(std::move(status.error()));
}

Operand Plan::scratch(u64 bytes) {
  const u32 number = scratch_used_++;
  if (auto status = host_.scratch(number, bytes); !status) complain(std::move(status.error()));
  return {Operand::scratch, number};
}

u32 Plan::fault_slot(std::string_view what, u64 limit) {
  auto slot = host_.fault_slot(what, limit);
  if (slot) return *slot;
  complain(std::move(slot.error()));
  return 0;
}

Operand Plan::packed(std::span<const PackedPart> parts) {
  if (complaint_) return {};
  auto number = host_.pack(parts);
  if (number) return {Operand::packed, *number};
  complain(std::move(number.error()));
  return {};
}

u64 Plan::rows_per_binding(u64 row_bytes) const {
  const u64 step = binding_alignment / std::gcd(binding_alignment, std::max<u64>(row_bytes, 1));
  const u64 rows = facts_.device.limits.max_storage_binding_bytes / std::max<u64>(row_bytes, 1);
  return std::max<u64>(rows / step * step, step);
}

void Plan::check_indices(const TensorArg& indices, u64 limit, std::string_view what, bool negative) {
  if (!complaint_) host_.check_indices(indices.id(), limit, what, negative);
}

Status Plan::dispatch(const Kernel& kernel, std::span<const Operand> operands, Bytes params, Grid grid) {
  if (complaint_) return Failure(*complaint_);
  if (kernel.spec().overflows())
    return internal_error("the specialisation of kernel ", kernel.source().name, " has too many declarations");
  if (operands.size() + 1 != kernel.bindings().size())
    return internal_error("kernel ", kernel.source().name, " has ", kernel.bindings().size(),
                          " bindings, but the op gives parameters and ", operands.size(), " operands");
  if (redirected_count_ == 0) return dispatch_raw(kernel, operands, params, grid);
  std::array<Operand, 16> patched;
  if (operands.size() > patched.size())
    return internal_error("kernel ", kernel.source().name, " has ", operands.size(), " operands");
  std::copy(operands.begin(), operands.end(), patched.begin());
  for (u32 i = 0; i < operands.size(); ++i)
    for (u32 r = 0; r < redirected_count_; ++r)
      if (patched[i].kind == Operand::tensor && patched[i].index == redirected_[r].output &&
          kernel.bindings()[i + 1] == gpu::BindingKind::read_write) {
        patched[i] = redirected_[r].scratch;
        redirected_[r].written = true;
      }
  return dispatch_raw(kernel, std::span(patched).first(operands.size()), params, grid);
}

Status Plan::dispatch_raw(const Kernel& kernel, std::span<const Operand> operands, Bytes params, Grid grid) {
  // The survey keeps a live result at its maximum, also if there is never a row to make it of.
  if (grid.groups == 0 && !settled()) return {};
  if (grid.groups == 0)
    return internal_error("kernel ", kernel.source().name, " is asked to run 0 workgroups; at least 1 is needed");
  const u64 limit = facts_.device.limits.max_workgroups;
  if (grid.groups > limit * limit || grid.groups > UINT32_MAX)
    return unsupported("kernel ", kernel.source().name, " needs ", grid.groups,
                       " workgroups; this device runs at most ", std::min<u64>(limit * limit, UINT32_MAX), " at once");
  return host_.dispatch(kernel, operands, params, grid);
}

}  // namespace pteron::graph
