// SPDX-License-Identifier: BSD-3-Clause
// A method's values on the host: what they may be, and how they get from one to another.
#include "graph/dtype_cast.h"
#include "runtime/method_impl.h"

#include <algorithm>

namespace pteron {
namespace {

ValueInfo describe_value(const format::ProgramValue& value) {
  ValueInfo out;
  if (const auto* tensor = std::get_if<format::TensorSpec>(&value)) {
    out.dtype = tensor->dtype.value_or(DType::f32);
    out.shape = tensor->shape;
    out.dynamic = tensor->dynamic;
  } else {
    out.is_tensor = false;
    out.dtype = std::holds_alternative<f64>(value)    ? DType::f64
                : std::holds_alternative<bool>(value) ? DType::boolean
                                                      : DType::i64;
  }
  return out;
}

// A method's number as a scalar tensor.
std::optional<Tensor> scalar_tensor(const format::ProgramValue& value) {
  if (const auto* i = std::get_if<i64>(&value)) return Tensor::scalar(*i);
  if (const auto* d = std::get_if<f64>(&value)) return Tensor::scalar(*d);
  if (const auto* b = std::get_if<bool>(&value)) return Tensor::scalar(*b);
  return std::nullopt;
}

}  // namespace

MethodInfo describe_method(const format::MethodSpec& spec, std::span<const Epilogue> epilogues) {
  MethodInfo out;
  out.name = spec.name;
  for (u32 id : spec.inputs) out.inputs.push_back(describe_value(spec.values[id]));
  for (u32 id : spec.outputs) out.outputs.push_back(describe_value(spec.values[id]));
  for (const Epilogue& e : epilogues) {
    const ValueInfo source = out.outputs[e.output];
    Shape shape;
    if (e.rows == Epilogue::all) shape.push_back(u32(source.shape.numel() / std::max(source.shape.dim(-1), 1u)));
    if (e.kind == Epilogue::top_k)
      shape.push_back(e.k);
    else if (e.rows == Epilogue::last)
      shape.push_back(1);
    const bool dynamic = e.rows == Epilogue::all && source.dynamic;
    if (e.kind != Epilogue::arg_max) out.outputs.push_back({true, DType::f32, shape, dynamic});
    if (e.kind != Epilogue::log_sum_exp) out.outputs.push_back({true, DType::i32, shape, dynamic});
  }
  return out;
}

void Method::Impl::reset_values() {
  slots_.assign(spec_->values.size(), {});
  for (size_t id = 0; id < spec_->values.size(); ++id) {
    Slot& slot = slots_[id];
    if (auto scalar = scalar_tensor(spec_->values[id])) {
      slot.owned = *std::move(scalar);
      slot.ready = true;
    }
    if (const auto* i = std::get_if<i64>(&spec_->values[id])) slot.number = *i;
  }
  for (const auto& [id, constant] : loaded_->constants) slots_[id].borrow(constant);
}

void Method::Impl::write_constant(u32 value, Bytes bytes) {
  const TensorView as = loaded_->constants.at(value);
  std::ranges::copy(bytes, slots_[value].own(as.dtype, as.shape).begin());
}

Status Method::Impl::check_inputs(std::span<const TensorView> inputs) const {
  if (inputs.size() != info.inputs.size())
    return invalid("method ", info.name, " takes ", info.inputs.size(), " inputs, but ", inputs.size(), " were given");
  for (size_t i = 0; i < inputs.size(); ++i) {
    const ValueInfo& want = info.inputs[i];
    if (inputs[i].dtype != want.dtype)
      return invalid("input ", i, " should be ", want.dtype, ", but ", inputs[i].dtype, " was given");
    if (!want.is_tensor && inputs[i].shape.rank() != 0)
      return invalid("input ", i, " should be a number (rank 0), but ", inputs[i].shape, " was given");
    if (want.is_tensor && !want.dynamic && !(inputs[i].shape == want.shape))
      return invalid("input ", i, " should have shape ", want.shape, ", but ", inputs[i].shape, " was given");
    const u64 bytes = inputs[i].shape.numel() * size_of(inputs[i].dtype);
    if (inputs[i].bytes.size() != bytes || (bytes > 0 && inputs[i].bytes.data() == nullptr))
      return invalid("input ", i, " of shape ", inputs[i].shape, " ", inputs[i].dtype, " needs ", bytes, " bytes, but ",
                     inputs[i].bytes.size(), " were given");
  }
  return {};
}

Status Method::Impl::set_inputs(std::span<const TensorView> inputs) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    Slot& slot = slots_[spec_->inputs[i]];
    slot.borrow(inputs[i]);
    if (info.inputs[i].is_tensor) continue;
    if (inputs[i].dtype == DType::i64) {
      slot.number = graph::element_as_integer(inputs[i].bytes, DType::i64, 0);
    } else if (!std::ranges::equal(inputs[i].bytes, scalar_tensor(spec_->values[spec_->inputs[i]])->bytes())) {
      return invalid("input ", i,
                     " is a number that was fixed when the program was exported; only that value can be given");
    }
  }
  return {};
}

Status Method::Impl::check_fits(u32 value, DType dtype, const Shape& shape) const {
  const ValueInfo want = describe_value(spec_->values[value]);
  // Exporters call some dynamic results static.
  const bool fits = loaded_->constants.contains(value) ? shape == want.shape : shape.fits_in(want.shape);
  if (fits && dtype == want.dtype) return {};
  return invalid("value ", value, " becomes ", dtype, " ", shape, ", but the file says ", want.dtype, " ", want.shape);
}

// The only op outside of delegates that is run here: it writes an updated input back.
Status Method::Impl::copy_into(const std::vector<u32>& args) {
  if (args.size() < 2) return invalid("aten::copy_ has ", args.size(), " arguments; it takes a target and a source");
  const Slot &to = slots_[args[0]], &from = slots_[args[1]];
  if (to.ready && from.ready && !(to.get().shape == from.get().shape))
    return unsupported("aten::copy_ of ", from.get().shape, " into ", to.get().shape,
                       "; only tensors of the same shape are copied here");
  return copy(args[1], args[0]);
}

Status Method::Impl::take_number(u32 value, i64 number) {
  const ValueInfo as = describe_value(spec_->values[value]);
  if (as.shape.numel() != 1)
    return invalid("value ", value, " becomes a number, but the file says ", as.dtype, " ", as.shape);
  const Tensor scalar = Tensor::scalar(number);
  TRY_DO(graph::convert(scalar.bytes(), DType::i64, slots_[value].own(as.dtype, as.shape), as.dtype));
  slots_[value].number = number;
  return {};
}

Status Method::Impl::copy(u32 from, u32 to) {
  const Slot& source = slots_[from];
  if (!source.ready) return invalid("value ", to, " is copied from value ", from, ", which nothing has produced");
  if (from == to) return {};
  const TensorView view = source.get();
  TRY_DO(check_fits(to, view.dtype, view.shape));
  Slot& target = slots_[to];
  std::ranges::copy(view.bytes, target.own(view.dtype, view.shape).begin());
  target.number = source.number;
  return {};
}

}  // namespace pteron
