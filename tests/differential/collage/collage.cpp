// SPDX-License-Identifier: BSD-3-Clause
#include "differential/collage/collage.h"

#include "differential/hostile/seeds.h"
#include "differential/reference/program.h"

#include <algorithm>
#include <map>

namespace pteron::differential {
namespace {

constexpr size_t most_calls = 12;
constexpr u64 most_elements = 1 << 14;  // of what is fitted to another shape

// A tensor that any op may read.
struct Known {
  u32 id = 0;
  size_t since = 0;    // the number of calls that stand before it
  bool fixed = false;  // its shape is always that of the file
  bool made = false;   // by an op
};

class Collage {
 public:
  explicit Collage(Choices& choices) : choices_(choices) {}

  Sample run() {
    choices_.repeat(75, [&](u32) {
      add(program_sample(choices_));
      return graph().calls.size() < most_calls;
    });
    choices_.repeat(40, [&](u32 i) {
      if (i > 0 || choices_.percent(50)) write_over();
      return i < 2;
    });
    choose_outputs();
    return std::move(out_);
  }

 private:
  format::DelegateGraph& graph() { return out_.graph.graph; }
  const format::GraphTensor* tensor(u32 id) { return std::get_if<format::GraphTensor>(&graph().values[id]); }
  u32 any(const std::vector<u32>& ids) { return ids[choices_.below(u32(ids.size()))]; }

  // The values of a part stand behind each other; some of its inputs are values that are there already.
  struct Part {
    const Sample& sample;
    u32 base = 0;
    std::map<u32, u32> replaced = {};
    u32 operator()(u32 id) const {
      const auto found = replaced.find(id);
      return found == replaced.end() ? base + id : found->second;
    }
    bool changes_shape = false;
  };

  void add(const Sample& sample) {
    Part part{sample, u32(graph().values.size())};
    const format::MethodDraft method = sample.graph.method("forward");
    const auto is_dynamic = [&](u32 value) { return std::get<format::TensorSpec>(method.spec.values[value]).dynamic; };
    const auto is_symint = [](const format::GraphValue& v) { return std::holds_alternative<format::GraphSymInt>(v); };
    part.changes_shape = std::ranges::any_of(method.spec.inputs, is_dynamic) ||
                         std::ranges::any_of(sample.graph.graph.values, is_symint);
    copy_values(part);
    if (out_.steps.empty()) out_.steps.resize(sample.steps.size());
    const auto& inputs = sample.graph.graph.inputs;
    for (size_t i = 0; i < inputs.size(); ++i) add_input(part, i, is_dynamic(method.spec.inputs[i]));
    for (u32 id = part.base; id < graph().values.size(); ++id)
      if (auto* list = std::get_if<format::GraphValueList>(&graph().values[id]); list && id < part.base + size_of(part))
        for (u32& item : list->items) item = part(item);
    for (format::GraphCall call : sample.graph.graph.calls) {
      for (u32& id : call.args) id = part(id);
      out_.graph.op(call.name, call.args);
      know_results(call, !part.changes_shape);
    }
  }

  static u32 size_of(const Part& part) { return u32(part.sample.graph.graph.values.size()); }

  void copy_values(const Part& part) {
    const reference::Graph from = reference::read_graph(part.sample.graph.blob());
    for (const format::GraphValue& value : from.file.values) {
      const auto* t = std::get_if<format::GraphTensor>(&value);
      if (!t || t->constant < 0) {
        out_.graph.value(value);
        continue;
      }
      const u32 id = out_.graph.constant_bytes(t->dtype, t->shape, from.constants[size_t(t->constant)]);
      known_.push_back({id, 0, true, false});
    }
  }

  void add_input(Part& part, size_t index, bool dynamic) {
    const u32 id = part.sample.graph.graph.inputs[index], here = part.base + id;
    const Known known{here, graph().calls.size(), !dynamic, false};
    if (tensor(here) && is_float(tensor(here)->dtype) && !dynamic && choices_.percent(70)) {
      if (const auto other = fitted(known)) {
        // What an op updates can't be its other argument too.
        out_.may_be_refused |= *other >= part.base && *other < part.base + size_of(part);
        for (const auto& [input, value] : part.replaced) out_.may_be_refused |= value == *other;
        part.replaced[id] = *other;
        return;
      }
    }
    const Tensor& given = part.sample.steps[0].inputs[index];
    out_.graph.input(here, dynamic, given.dtype());
    for (size_t step = 0; step < out_.steps.size(); ++step)
      out_.steps[step].inputs.push_back(part.sample.steps[step % part.sample.steps.size()].inputs[index]);
    if (tensor(here)) known_.push_back(known);
  }

  // A tensor that is there, in the shape of another one.
  std::optional<u32> fitted(const Known& wanted) {
    const DType dtype = tensor(wanted.id)->dtype;
    const Shape shape = tensor(wanted.id)->shape;
    std::vector<u32> same, others;
    for (const Known& k : known_) {
      const format::GraphTensor& t = *tensor(k.id);
      if (k.fixed && t.dtype == dtype && t.shape == shape) same.push_back(k.id);
      if (k.fixed && t.dtype == dtype && t.shape != shape && k.made && t.shape.numel() > 0 &&
          std::max(t.shape.numel(), shape.numel()) <= most_elements)
        others.push_back(k.id);
    }
    if (!same.empty() && choices_.percent(60)) return any(same);
    if (others.empty()) return std::nullopt;
    return reshaped(any(others), dtype, shape);
  }

  // In one line, again and again until there is enough of it, cut to its length.
  u32 reshaped(u32 x, DType dtype, const Shape& shape) {
    const u32 there = u32(tensor(x)->shape.numel()), wanted = u32(shape.numel());
    const auto apply = [&](const char* name, std::vector<u32> args, const Shape& to) {
      args.push_back(out_.graph.tensor(dtype, to));
      x = args.back();
      out_.graph.op(name, std::move(args));
      known_.push_back({x, graph().calls.size(), true, true});
    };
    auto& b = out_.graph;
    if (there != wanted) {
      apply("aten.view_copy.default", {x, b.ints({there})}, {there});
      const u32 times = (wanted + there - 1) / there;
      if (times > 1) apply("aten.repeat.default", {x, b.ints({times})}, {times * there});
      if (const u32 long_enough = std::max(times, 1u) * there; long_enough != wanted)
        apply("aten.slice_copy.Tensor", {x, b.integer(0), b.integer(0), b.integer(wanted), b.integer(1)}, {wanted});
    }
    apply("aten.view_copy.default", {x, b.ints({shape.begin(), shape.end()})}, shape);
    return x;
  }

  std::vector<u32> results_of(const format::GraphCall& call) {
    if (const auto* list = std::get_if<format::GraphValueList>(&graph().values[call.args.back()])) return list->items;
    return {call.args.back()};
  }

  void know_results(const format::GraphCall& call, bool fixed) {
    for (u32 id : results_of(call))
      if (tensor(id) && std::ranges::find(known_, id, &Known::id) == known_.end())
        known_.push_back({id, graph().calls.size(), fixed, true});
  }

  // The result of an op is something that was there before it; who read the result reads that.
  void write_over() {
    if (graph().calls.empty()) return;
    const size_t at = choices_.below(u32(graph().calls.size()));
    const u32 result = graph().calls[at].args.back();
    const auto own = std::ranges::find(known_, result, &Known::id);
    if (own == known_.end() || !own->made || !own->fixed || graph().calls[at].name == "et_vk.prepack.default") return;
    std::vector<u32> targets;
    for (const Known& k : known_)
      if (k.id != result && k.fixed && k.since <= at && tensor(k.id)->dtype == tensor(result)->dtype &&
          tensor(k.id)->shape == tensor(result)->shape)
        targets.push_back(k.id);
    if (targets.empty()) return;
    const u32 target = any(targets);
    out_.may_be_refused = true;
    for (size_t i = at; i < graph().calls.size(); ++i) std::ranges::replace(graph().calls[i].args, result, target);
    for (format::GraphValue& value : graph().values)
      if (auto* list = std::get_if<format::GraphValueList>(&value)) std::ranges::replace(list->items, result, target);
    std::erase_if(known_, [&](const Known& k) { return k.id == result; });
  }

  bool is_read(u32 id) {
    for (const format::GraphCall& call : graph().calls)
      for (size_t i = 0; i + 1 < call.args.size(); ++i) {
        const auto* list = std::get_if<format::GraphValueList>(&graph().values[call.args[i]]);
        if (call.args[i] == id || (list && std::ranges::count(list->items, id) > 0)) return true;
      }
    return false;
  }

  void choose_outputs() {
    for (const Known& k : known_)
      if (choices_.percent(!k.made ? 4 : is_read(k.id) ? 10 : 90)) out_.graph.output(k.id, !k.fixed);
    if (graph().outputs.empty()) out_.graph.output(known_.back().id, !known_.back().fixed);
  }

  Choices& choices_;
  Sample out_;
  std::vector<Known> known_;
};

}  // namespace

Sample collage_of(Choices& choices) { return Collage(choices).run(); }

}  // namespace pteron::differential
