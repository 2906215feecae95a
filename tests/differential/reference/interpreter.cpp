// SPDX-License-Identifier: BSD-3-Clause
#include "differential/reference/interpreter.h"

#include <cmath>
#include <stdexcept>

namespace pteron::reference {
namespace {

const std::map<std::string_view, void (*)(Call&)>& rules() {
  static const auto all = [] {
    std::map<std::string_view, void (*)(Call&)> out;
    for (const OpRules& family :
         {elementwise_rules, comparison_rules, movement_rules, indexing_rules, reduction_rules, norm_rules,
          matrix_rules, image_rules, resizing_rules, quantized_rules, attention_rules, symbol_rules, function_rules,
          line_rules, scattering_rules, statistics_rules, code_rules, coded_image_rules})
      for (const OpRule& rule : family) out.emplace(rule.name, rule.run);
    return out;
  }();
  return all;
}

bool is_symbol(const format::GraphValue& v) { return std::holds_alternative<format::GraphSymInt>(v); }

}  // namespace

bool Interpreter::knows(std::string_view op) { return rules().contains(op); }

Interpreter::Interpreter(const Graph& graph, Noise noise) : graph_(graph), noise_(noise) {
  const auto& values = graph.file.values;
  for (u32 id = 0; id < values.size(); ++id) cell_.push_back(id);
  for (const format::GraphCall& call : graph.file.calls)
    if (call.name == "et_vk.prepack.default") cell_[call.args.at(1)] = cell_[call.args.at(0)];
  cells_.resize(values.size());
  reset();
}

void Interpreter::reset() {
  for (u32 id = 0; id < cells_.size(); ++id) {
    const auto* tensor = std::get_if<format::GraphTensor>(&graph_.file.values[id]);
    if (!tensor) continue;
    cells_[id] = Array(tensor->dtype, dims_of(tensor->shape));
    if (tensor->constant >= 0)
      cells_[id] = decode(tensor->dtype, dims_of(tensor->shape), graph_.constants[size_t(tensor->constant)]);
  }
}

Array Interpreter::value(u32 id) const {
  const auto& v = graph_.file.values[id];
  if (std::holds_alternative<format::GraphTensor>(v) || is_symbol(v)) return cells_[cell_[id]];
  Array number(DType::i64, {});
  if (const auto* i = std::get_if<i64>(&v)) number.data[0] = f64(*i);
  return number;
}

std::vector<Array> Interpreter::execute(std::span<const Array> inputs) {
  if (inputs.size() != graph_.file.inputs.size()) throw std::runtime_error("the number of inputs is wrong");
  for (size_t i = 0; i < inputs.size(); ++i) {
    const u32 id = graph_.file.inputs[i];
    Array given = inputs[i];
    if (const auto* tensor = std::get_if<format::GraphTensor>(&graph_.file.values[id])) given.dtype = tensor->dtype;
    // A device without half precision keeps what the host gave.
    const bool halves = given.dtype == DType::f16;
    for (f64& v : given.data) v = stored(given.dtype, halves && stored(given.dtype, v) != v ? noise_.halved(v) : v);
    cells_[cell_[id]] = std::move(given);
  }
  for (const format::GraphCall& op : graph_.file.calls) {
    const auto rule = rules().find(op.name);
    if (rule == rules().end()) throw std::runtime_error("the reference has no " + op.name);
    Call call(*this, op);
    rule->second(call);
  }
  std::vector<Array> out;
  out.reserve(graph_.file.outputs.size());
  for (u32 id : graph_.file.outputs) out.push_back(value(id));
  return out;
}

bool Call::is_null(u32 arg) const {
  return arg + 1 >= call_.args.size() || std::holds_alternative<std::monostate>(at(arg));
}

const Array& Call::tensor(u32 arg) const {
  if (!std::holds_alternative<format::GraphTensor>(at(arg))) throw std::runtime_error(name() + ": no tensor");
  return in_.cells_[in_.cell_[call_.args[arg]]];
}

f64 Call::number(u32 arg) const {
  const auto& v = at(arg);
  if (const auto* i = std::get_if<i64>(&v)) return f64(*i);
  if (const auto* d = std::get_if<f64>(&v)) return *d;
  if (const auto* b = std::get_if<bool>(&v)) return *b;
  if (is_symbol(v)) return in_.cells_[call_.args[arg]].data.at(0);
  throw std::runtime_error(name() + ": no number");
}

i64 Call::integer(u32 arg) const {
  if (const auto* i = std::get_if<i64>(&at(arg))) return *i;
  return i64(number(arg));
}

std::string Call::text_or(u32 arg, std::string otherwise) const {
  if (is_null(arg)) return otherwise;
  return std::get<std::string>(at(arg));
}

Dims Call::ints(u32 arg) const {
  if (is_null(arg)) return {};
  if (const auto* list = std::get_if<std::vector<i64>>(&at(arg))) return *list;
  Dims out;
  for (u32 id : std::get<format::GraphValueList>(at(arg)).items) out.push_back(i64(in_.value(id).data.at(0)));
  return out;
}

size_t Call::items(u32 arg) const { return std::get<format::GraphValueList>(at(arg)).items.size(); }

bool Call::item_is_null(u32 arg, u32 item) const {
  const u32 id = std::get<format::GraphValueList>(at(arg)).items.at(item);
  return std::holds_alternative<std::monostate>(in_.graph_.file.values[id]);
}

const Array& Call::item(u32 arg, u32 item) const {
  return in_.cells_[in_.cell_[std::get<format::GraphValueList>(at(arg)).items.at(item)]];
}

i64 Call::axis(u32 arg, i64 rank) const {
  const i64 axis = integer(arg);
  return axis < 0 ? axis + std::max<i64>(rank, 1) : axis;
}

DType Call::dtype(std::optional<u32> item) const {
  u32 id = call_.args.back();
  if (item) id = std::get<format::GraphValueList>(at(u32(call_.args.size() - 1))).items.at(*item);
  return std::get<format::GraphTensor>(in_.graph_.file.values[id]).dtype;
}

Dims Call::widest() const {
  return dims_of(std::get<format::GraphTensor>(in_.graph_.file.values[call_.args.back()]).shape);
}

void Call::give(u32 item, Array y) {
  store(std::get<format::GraphValueList>(at(u32(call_.args.size() - 1))).items.at(item), std::move(y));
}

void Call::give_number(f64 v) {
  Array y(DType::i64, {});
  y.data[0] = v;
  if (is_symbol(in_.graph_.file.values[call_.args.back()])) in_.cells_[call_.args.back()] = std::move(y);
}

void Call::store(u32 id, Array y) {
  const auto& tensor = std::get<format::GraphTensor>(in_.graph_.file.values[id]);
  const Dims most = dims_of(tensor.shape);
  bool fits = y.dims.size() == most.size();
  for (size_t i = 0; fits && i < most.size(); ++i) fits = y.dims[i] <= most[i];
  if (!fits) throw std::runtime_error(name() + ": the result does not fit its tensor");
  y.dtype = tensor.dtype;
  // Which integer NaN is, or a number beyond all of them, nothing says.
  if (!is_float(y.dtype) && y.dtype != DType::boolean)
    for (f64& v : y.data)
      if (!(std::abs(v) < 0x1p62)) v = anything(stored(y.dtype, INT32_MIN), stored(y.dtype, 0x7fffff7f));
  for (f64& v : y.data) v = stored(y.dtype, y.dtype == DType::f16 ? in_.noise_.halved(v) : v);
  in_.cells_[in_.cell_[id]] = std::move(y);
}

}  // namespace pteron::reference
