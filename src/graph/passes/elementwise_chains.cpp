// SPDX-License-Identifier: BSD-3-Clause
// Elementwise ops in float32 whose result only another one reads become one op with a generated function, so that what
// stands between is never written to memory.
#include "base/decimal.h"
#include "graph/op.h"
#include "graph/passes/editor.h"
#include "graph/passes/passes.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>

namespace pteron::graph {
namespace {

constexpr u32 max_inputs = 4;  // of the fused op
constexpr u32 max_steps = 16;

// An op that can be a step of a chain. Its expression is in the op table; this says which arguments it is over.
struct Scalar {
  u32 arg = 0;  // 0: there is none
  f64 otherwise = NAN;
};
struct Fusable {
  std::string_view name;
  u32 tensors;
  Scalar s0 = {}, s1 = {};
};
constexpr Fusable fusables[] = {
    {"aten.add.Tensor", 2, {2, 1}},
    {"aten.sub.Tensor", 2, {2, 1}},
    {"aten.mul.Tensor", 2},
    {"aten.div.Tensor", 2},
    {"aten.minimum.default", 2},
    {"aten.pow.Tensor_Tensor", 2},
    {"aten.pow.Tensor_Scalar", 1, {1}},
    {"aten.clamp.default", 1, {1}, {2}},
    {"aten.hardtanh.default", 1, {1}, {2}},
    {"aten.leaky_relu.default", 1, {1, 0.01}},
    {"aten.hardshrink.default", 1, {1, 0.5}},
    {"aten.abs.default", 1},
    {"aten.neg.default", 1},
    {"aten.relu.default", 1},
    {"aten.exp.default", 1},
    {"aten.sqrt.default", 1},
    {"aten.rsqrt.default", 1},
    {"aten.sin.default", 1},
    {"aten.cos.default", 1},
    {"aten.tanh.default", 1},
    {"aten.sigmoid.default", 1},
    {"aten.hardswish.default", 1},
};

// A function under construction. Operands are names: inputs "a" … "d", results of steps "t0", "t1", …
struct Step {
  std::string_view op, expression;
  std::array<std::string, 4> words;  // for a, b, s0, s1
};
struct Chain {
  std::vector<ValueId> inputs;
  std::vector<Step> steps;
  std::vector<u32> absorbed;  // ops
};

bool is_f32(const Editor& e, ValueId id) {
  const Tensor* tensor = e.tensor(id);
  return tensor && tensor->dtype == DType::f32;
}

std::optional<std::string> literal(const Editor& e, const Op& op, const Scalar& scalar) {
  const ValueId id = op.args[scalar.arg];
  const std::optional<f64> value = e.is_null(id) ? scalar.otherwise : e.number(id);
  if (!value || !std::isfinite(f32(*value))) return std::nullopt;
  const auto [digits, exponent] = shortest_decimal(f32(*value));
  return str("f32(", std::signbit(*value) ? "-" : "", digits, "e", exponent + 1 - int(digits.size()), ")");
}

// The expression with its operands' names.
std::string spell(const Step& step) {
  static constexpr std::string_view names[] = {"a", "b", "s0", "s1"};
  const auto is_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
  std::string out;
  const std::string_view text = step.expression;
  for (size_t at = 0; at < text.size();) {
    size_t end = at;
    while (end < text.size() && is_word(text[end])) ++end;
    const std::string_view word = text.substr(at, end - at);
    const auto found = std::ranges::find(names, word);
    if (word.empty())
      out += text[at++];
    else
      out += found == std::end(names) ? std::string(word) : step.words[size_t(found - std::begin(names))];
    at = std::max(at, end);
  }
  return out;
}

std::string input_name(u32 index) { return std::string(1, char('a' + index)); }
std::string result_name(size_t index) { return str("t", index); }

// The function `fused`, which src/ops/elementwise.cpp calls.
std::string function_of(const Chain& chain) {
  std::string params, lets;
  for (u32 i = 0; i < chain.inputs.size(); ++i) params += str(i == 0 ? "" : ", ", input_name(i), ": V");
  for (size_t i = 0; i < chain.steps.size(); ++i)
    lets += str("  let ", result_name(i), " = ", spell(chain.steps[i]), ";\n");
  return str("fn fused(", params, ") -> V {\n", lets, "  return ", result_name(chain.steps.size() - 1), ";\n}");
}

// For messages and profiles: "aten.add.Tensor + aten.relu.default".
std::string name_of(const Chain& chain) {
  std::string out;
  for (const Step& step : chain.steps) out += str(out.empty() ? "" : " + ", step.op);
  return out;
}

class Fusion {
 public:
  explicit Fusion(Graph& graph) : e_(graph), chains_(graph.ops.size()) {}

  void run() {
    for (u32 i = 0; i < e_.ops().size(); ++i) {
      chains_[i] = chain_at(i);
      if (!chains_[i] || chains_[i]->steps.size() < 2) continue;
      const Op place = e_.ops()[i];
      std::vector<ValueId> args = chains_[i]->inputs;
      args.push_back(place.args.back());
      Op fused = e_.make("pteron.elementwise", std::move(args), place);
      fused.code = function_of(*chains_[i]);
      fused.name = name_of(*chains_[i]);
      e_.replace(i, std::move(fused));
      for (u32 op : chains_[i]->absorbed) e_.remove(op);
    }
    e_.commit();
  }

 private:
  std::optional<Chain> chain_at(u32 index) const {
    const Op& op = e_.graph().ops[index];
    const auto fusable = std::ranges::find(fusables, op.name, &Fusable::name);
    if (fusable == std::end(fusables)) return std::nullopt;
    if (op.args.size() < fusable->tensors + 1 || !is_f32(e_, op.args.back())) return std::nullopt;
    Chain chain;
    Step last{fusable->name, op.entry->detail, {}};
    for (u32 i = 0; i < fusable->tensors; ++i) {
      if (!is_f32(e_, op.args[i]) || !e_.is_stable(op.args[i])) return std::nullopt;
      if (auto joined = absorb(chain, op.args[i], op.args.back())) {
        chain = *std::move(joined);
        last.words[i] = result_name(chain.steps.size() - 1);
      } else {
        last.words[i] = input_name(add_input(chain, op.args[i]));
      }
    }
    const Scalar scalars[] = {fusable->s0, fusable->s1};
    for (u32 i = 0; i < 2; ++i) {
      if (scalars[i].arg == 0) continue;
      if (scalars[i].arg + 1 >= op.args.size()) return std::nullopt;
      auto word = literal(e_, op, scalars[i]);
      if (!word) return std::nullopt;
      last.words[2 + i] = *std::move(word);
    }
    chain.steps.push_back(std::move(last));
    if (chain.inputs.size() > max_inputs) return std::nullopt;
    return chain;
  }

  // The chain with the one that makes `value` in front, if nobody else reads that and it is not repeated for `y`.
  std::optional<Chain> absorb(const Chain& chain, ValueId value, ValueId y) const {
    const auto producer = e_.producer(value);
    if (!producer || e_.uses(value) != 1 || !chains_[*producer]) return std::nullopt;
    if (!(e_.tensor(value)->max == e_.tensor(y)->max)) return std::nullopt;
    const Chain& front = *chains_[*producer];
    Chain out = chain;
    std::vector<std::string> inputs;
    for (ValueId input : front.inputs) inputs.push_back(input_name(add_input(out, input)));
    // One place must stay for what the op that absorbs may read besides.
    if (out.inputs.size() >= max_inputs || out.steps.size() + front.steps.size() >= max_steps) return std::nullopt;
    const size_t shift = chain.steps.size();
    const auto rename = [&](const std::string& word) {
      if (word.size() == 1) return inputs[size_t(word[0] - 'a')];
      size_t number = 0;
      if (word.starts_with('t')) std::from_chars(word.data() + 1, word.data() + word.size(), number);
      return word.starts_with('t') ? result_name(shift + number) : word;
    };
    for (Step step : front.steps) {
      for (std::string& word : step.words) word = word.empty() ? word : rename(word);
      out.steps.push_back(std::move(step));
    }
    out.absorbed.push_back(*producer);
    out.absorbed.insert(out.absorbed.end(), front.absorbed.begin(), front.absorbed.end());
    return out;
  }

  static u32 add_input(Chain& chain, ValueId value) {
    const auto found = std::ranges::find(chain.inputs, value);
    if (found != chain.inputs.end()) return u32(found - chain.inputs.begin());
    chain.inputs.push_back(value);
    return u32(chain.inputs.size() - 1);
  }

  Editor e_;
  std::vector<std::optional<Chain>> chains_;
};

Status run(Graph& graph, const gpu::DeviceInfo&) {
  Fusion(graph).run();
  return {};
}

}  // namespace

const Pass elementwise_pass{"elementwise-chains", "elementwise ops that follow each other are one kernel", run};

}  // namespace pteron::graph
