// SPDX-License-Identifier: BSD-3-Clause
#include "differential/hostile/mutator.h"

#include "base/text.h"
#include "graph/op.h"

#include <algorithm>
#include <cmath>

namespace pteron::differential {
namespace {

constexpr i64 integers[] = {0,
                            1,
                            -1,
                            2,
                            3,
                            INT64_MAX,
                            INT64_MIN,
                            INT32_MAX,
                            INT32_MIN,
                            UINT32_MAX,
                            -2,
                            64,
                            i64(1) << 40,
                            7,
                            -(i64(1) << 40),
                            INT64_MIN + 1};
constexpr f64 numbers[] = {0, -0.0, NAN, INFINITY, -INFINITY, 3e38, -3e38, 0.5, 1, -1, 0x1p31, 0x1p63};
constexpr u32 sizes[] = {1, 0, 2, 3, 4, 5, 7, 8, 9, 16, 33, 1u << 16, 0x7FFFFFFF, 0xFFFFFFFF};
constexpr u32 common_sizes = 11;
constexpr DType dtypes[] = {DType::f32, DType::i32, DType::f16, DType::boolean,
                            DType::u8,  DType::i8,  DType::i64, DType::f64};

}  // namespace

void Mutator::run() {
  static constexpr Mutation mutations[] = {
      &Mutator::change_argument, &Mutator::change_scalar,  &Mutator::change_shape,  &Mutator::write_in_place,
      &Mutator::swap_arguments,  &Mutator::change_arity,   &Mutator::change_list,   &Mutator::share_results,
      &Mutator::change_dtype,    &Mutator::change_name,    &Mutator::change_order,  &Mutator::repeat_call,
      &Mutator::write_constant,  &Mutator::add_outputs,    &Mutator::change_output, &Mutator::nest_list,
      &Mutator::repeat_input,    &Mutator::change_inputs,  &Mutator::change_scalar, &Mutator::change_shape,
      &Mutator::swap_results,    &Mutator::share_memory,   &Mutator::change_rank,   &Mutator::change_steps,
      &Mutator::repeat_node,     &Mutator::write_in_place,
  };
  choices_.repeat(45, [&](u32 i) {
    (this->*choices_.of(mutations))();
    return i < 3;
  });
  if (choices_.percent(85)) fit_ends();
}

format::GraphCall* Mutator::call() {
  if (graph_.calls.empty()) return nullptr;
  auto& chosen = graph_.calls[choices_.below(u32(graph_.calls.size()))];
  return chosen.args.empty() ? nullptr : &chosen;
}

std::optional<u32> Mutator::any_tensor() {
  std::vector<u32> all;
  for (u32 id = 0; id < graph_.values.size(); ++id)
    if (std::holds_alternative<format::GraphTensor>(graph_.values[id])) all.push_back(id);
  if (all.empty()) return std::nullopt;
  return all[choices_.below(u32(all.size()))];
}

format::GraphValue Mutator::extreme() {
  switch (choices_.below(8)) {
    default: return choices_.of(integers);
    case 3:
    case 4: return choices_.of(numbers);
    case 5: return std::monostate();
    case 6: {
      static const std::string texts[] = {
          "none", "tanh", "floor", "trunc", "relu", "mean", "sum", "", std::string(1000, '%')};
      return choices_.percent(50) ? format::GraphValue(true) : format::GraphValue(choices_.of(texts));
    }
    case 7: {
      const u32 length = choices_.below(10), kind = choices_.below(4);
      if (kind == 2) return std::vector<f64>(length, choices_.of(numbers));
      if (kind == 3) return std::vector<bool>(length, true);
      return std::vector<i64>(length, choices_.of(integers));
    }
  }
}

void Mutator::change_arity() {
  auto* c = call();
  if (!c) return;
  if (choices_.percent(50)) {
    const u32 at = choices_.below(u32(c->args.size()));
    c->args.erase(c->args.begin() + at);
    return note(str(c->name, " loses argument ", at));
  }
  const u32 at = choices_.below(u32(c->args.size()) + 1);
  c->args.insert(c->args.begin() + at, any_value());
  note(str(c->name, " gets one more argument at ", at));
}

void Mutator::change_argument() {
  auto* c = call();
  if (!c) return;
  const u32 at = choices_.below(u32(c->args.size()));
  const auto tensor = choices_.percent(70) ? any_tensor() : std::nullopt;
  c->args[at] = tensor ? *tensor : any_value();
  note(str(c->name, ": argument ", at, " is value ", c->args[at]));
}

void Mutator::swap_arguments() {
  auto* c = call();
  if (!c) return;
  const u32 a = choices_.below(u32(c->args.size())), b = choices_.below(u32(c->args.size()));
  std::swap(c->args[a], c->args[b]);
  note(str(c->name, ": arguments ", a, " and ", b, " change places"));
}

// The result is one of the arguments.
void Mutator::write_in_place() {
  auto* c = call();
  if (!c) return;
  const u32 from = c->args[choices_.below(u32(c->args.size()))];
  if (auto* list = std::get_if<format::GraphValueList>(&graph_.values[c->args.back()]); list && !list->items.empty())
    list->items[choices_.below(u32(list->items.size()))] = from;
  else
    c->args.back() = from;
  note(str(c->name, " writes to value ", from));
}

// Two ops, or two results of one, write to one value.
void Mutator::share_results() {
  auto *a = call(), *b = call();
  if (!a || !b) return;
  if (auto* list = std::get_if<format::GraphValueList>(&graph_.values[a->args.back()]); list && list->items.size() > 1)
    list->items[0] = list->items[1];
  else
    a->args.back() = b->args.back();
  note(str(a->name, " shares its result"));
}

void Mutator::change_scalar() {
  std::vector<u32> all;
  for (u32 id = 0; id < graph_.values.size(); ++id)
    if (const auto& v = graph_.values[id]; std::holds_alternative<i64>(v) || std::holds_alternative<f64>(v) ||
                                           std::holds_alternative<bool>(v) || std::holds_alternative<std::monostate>(v))
      all.push_back(id);
  if (all.empty()) return change_argument();
  const u32 id = all[choices_.below(u32(all.size()))];
  graph_.values[id] = extreme();
  note(str("value ", id, " is another scalar"));
}

void Mutator::change_list() {
  std::vector<u32> all;
  for (u32 id = 0; id < graph_.values.size(); ++id)
    if (const auto& v = graph_.values[id]; std::holds_alternative<std::vector<i64>>(v) ||
                                           std::holds_alternative<std::vector<f64>>(v) ||
                                           std::holds_alternative<format::GraphValueList>(v))
      all.push_back(id);
  if (all.empty()) return change_scalar();
  const u32 id = all[choices_.below(u32(all.size()))];
  const u32 how = choices_.below(3);
  const auto change = [&](auto& list, auto draw) {
    if (how == 0 && !list.empty()) list[choices_.below(u32(list.size()))] = draw();
    if (how == 1) list.push_back(draw());
    if (how == 2 && !list.empty()) list.erase(list.begin() + choices_.below(u32(list.size())));
  };
  if (auto* ints = std::get_if<std::vector<i64>>(&graph_.values[id]))
    change(*ints, [&] { return choices_.of(integers); });
  else if (auto* reals = std::get_if<std::vector<f64>>(&graph_.values[id]))
    change(*reals, [&] { return choices_.of(numbers); });
  else
    change(std::get<format::GraphValueList>(graph_.values[id]).items, [&] { return any_value(); });
  note(str("list ", id, " changes"));
}

void Mutator::nest_list() {
  auto* c = call();
  if (!c) return;
  const u32 at = choices_.below(u32(c->args.size()));
  c->args[at] = sample_.graph.list({c->args[at], any_value()});
  note(str(c->name, ": argument ", at, " becomes a list"));
}

void Mutator::change_shape() {
  const auto id = any_tensor();
  if (!id) return;
  auto& tensor = std::get<format::GraphTensor>(graph_.values[*id]);
  const u32 size = sizes[choices_.below(choices_.percent(15) ? u32(std::size(sizes)) : common_sizes)];
  std::vector<u32> dims(tensor.shape.begin(), tensor.shape.end());
  const u32 how = choices_.below(4);
  const u32 at = choices_.below(u32(dims.size()) + 1);
  if (how == 0 && dims.size() < Shape::max_rank) dims.insert(dims.begin() + at, 1 + choices_.below(2));
  if (how == 1 && at < dims.size()) dims.erase(dims.begin() + at);
  if (how >= 2 && at < dims.size()) dims[at] = size;
  const auto shape = Shape::from(dims);
  if (!shape) return;
  tensor.shape = *shape;
  note(str("value ", *id, " has shape ", tensor.shape));
}

void Mutator::change_dtype() {
  const auto id = any_tensor();
  if (!id) return;
  auto& tensor = std::get<format::GraphTensor>(graph_.values[*id]);
  tensor.dtype = choices_.of(dtypes);
  note(str("value ", *id, " is ", name_of(tensor.dtype)));
}

void Mutator::change_name() {
  auto* c = call();
  if (!c) return;
  static const std::vector<std::string> names = [] {
    std::vector<std::string> out;
    for (const graph::OpList& list : graph::all_ops())
      for (const graph::OpEntry& entry : list) out.emplace_back(entry.name);
    return out;
  }();
  const std::string before = c->name;
  c->name = names[choices_.below(u32(names.size()))];
  note(str(before, " is now ", c->name));
}

void Mutator::change_order() {
  if (graph_.calls.size() < 2) return change_argument();
  const u32 a = choices_.below(u32(graph_.calls.size())), b = choices_.below(u32(graph_.calls.size()));
  std::swap(graph_.calls[a], graph_.calls[b]);
  note(str("ops ", a, " and ", b, " change places"));
}

void Mutator::repeat_call() {
  const auto* c = call();
  if (!c) return;
  const format::GraphCall copy = *c;
  graph_.calls.insert(graph_.calls.begin() + choices_.below(u32(graph_.calls.size()) + 1), copy);
  note(str(copy.name, " stands there twice"));
}

void Mutator::write_constant() {
  auto* c = call();
  if (!c) return;
  std::vector<u32> all;
  for (u32 id = 0; id < graph_.values.size(); ++id)
    if (const auto* t = std::get_if<format::GraphTensor>(&graph_.values[id]); t && t->constant >= 0) all.push_back(id);
  if (all.empty()) return write_in_place();
  c->args.back() = all[choices_.below(u32(all.size()))];
  note(str(c->name, " writes constant ", c->args.back()));
}

void Mutator::add_outputs() {
  const auto id = any_tensor();
  if (!id) return;
  const u32 times = choices_.percent(15) ? 70 : 1;
  for (u32 i = 0; i < times; ++i) sample_.graph.output(*id);
  note(str("value ", *id, " is ", times, " more outputs"));
}

void Mutator::change_output() {
  const auto id = any_tensor();
  if (!id || graph_.outputs.empty()) return;
  graph_.outputs[choices_.below(u32(graph_.outputs.size()))] = *id;
  note(str("value ", *id, " is an output"));
}

void Mutator::repeat_input() {
  const auto id = any_tensor();
  if (!id || graph_.inputs.empty()) return;
  graph_.inputs[choices_.below(u32(graph_.inputs.size()))] = *id;
  note(str("value ", *id, " is an input"));
}

// What is given to the graph, not the graph.
void Mutator::change_inputs() {
  for (Step& step : sample_.steps) {
    if (step.inputs.empty()) return;
    Tensor& t = step.inputs[choices_.below(u32(step.inputs.size()))];
    for (u32 i = 0; i < 4 && !t.bytes().empty(); ++i) {
      const u64 width = size_of(t.dtype()), at = choices_.below(u32(t.bytes().size() / width)) * width;
      // 0, −0, 1, ±2^23 and the smallest number as floats; small and large numbers as integers.
      static constexpr u64 patterns[] = {0, 0x80000000, 0x3F800000, 0x4B000000, 0xCB000000, 1, ~u64(0), 0x7FFFFFFF};
      const u64 bits = patterns[choices_.below(is_float(t.dtype()) ? 6 : u32(std::size(patterns)))];
      std::memcpy(t.bytes().data() + at, &bits, width);
    }
  }
  note("inputs hold extremes");
}

}  // namespace pteron::differential
