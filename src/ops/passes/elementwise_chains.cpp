// SPDX-License-Identifier: BSD-3-Clause
// Elementwise ops in float32 whose result only another one reads, and the conditions of such, become one op with a
// generated function, so that what stands between is never written to memory.
#include "base/decimal.h"
#include "graph/op.h"
#include "ops/elementwise.h"
#include "ops/passes/passes.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>

namespace pteron::ops {
namespace {

constexpr u32 max_inputs = 4;  // of the fused op
constexpr u32 max_steps = 16;

// A function under construction. Operands are names: inputs "a" … "d", results of steps "t0", "t1", …
struct Step {
  std::string_view op, expression;
  bool is_condition = false;         // it gives 1 for true and 0 for false
  std::array<std::string, 5> words;  // for a, b, c, s0, s1
};
struct Chain {
  std::vector<ValueId> inputs;
  std::vector<Step> steps;
  std::vector<u32> absorbed;  // ops
};

std::optional<std::string> literal(const Rewriter& e, ValueId id, const graph::Parameter& parameter) {
  const std::optional<f64> value = e.is_null(id) ? parameter.number : e.number(id);
  if (!value || !std::isfinite(f32(*value))) return std::nullopt;
  const auto [digits, exponent] = shortest_decimal(f32(*value));
  return str("f32(", std::signbit(*value) ? "-" : "", digits, "e", exponent + 1 - int(digits.size()), ")");
}

// The expression with its operands' names.
std::string spell(const Step& step) {
  static constexpr std::string_view names[] = {"a", "b", "c", "s0", "s1"};
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
  return step.is_condition ? str("f32(", out, ")") : out;
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
  explicit Fusion(Rewriter& e) : e_(e), chains_(e.size()) {}

  void run() {
    for (u32 i = 0; i < e_.size(); ++i) {
      chains_[i] = chain_at(i, true);
      if (!chains_[i] || chains_[i]->absorbed.empty()) continue;
      if (!fuse(i, *chains_[i])) chains_[i] = chain_at(i, false);
    }
  }

 private:
  bool fuse(u32 at, const Chain& chain) {
    const Op& place = e_.op(at);
    std::vector<ValueId> args = chain.inputs;
    while (args.size() < max_inputs) args.push_back(e_.add({}));
    args.push_back(place.args.back());
    Op fused = e_.make("pteron.elementwise", std::move(args), place);
    fused.code = function_of(chain);
    fused.name = name_of(chain);
    std::vector<u32> ops = chain.absorbed;
    ops.push_back(at);
    return e_.fuse(at, std::move(fused), ops);
  }

  std::optional<Chain> chain_at(u32 index, bool absorbs) const {
    const Op& op = e_.op(index);
    if (!op.entry || !op.entry->is(graph::chains)) return std::nullopt;
    const ValueId y = op.args.back();
    const auto is_f32 = [&](ValueId id) { return e_.tensor(id)->dtype == DType::f32; };
    // A condition begins a chain, but never ends one.
    const bool is_condition = gives_truth(*op.entry);
    if (is_condition ? e_.tensor(y)->dtype != DType::boolean : !is_f32(y)) return std::nullopt;
    Chain chain;
    Step last{op.entry->name, op.entry->detail, is_condition, {}};
    u32 tensors = 0, scalars = 0;
    for (u32 i = 0; i + 1 < op.args.size(); ++i) {
      const graph::Parameter& parameter = op.entry->signature.params[i];
      if (parameter.kind == graph::Kind::tensor) {
        auto joined = absorbs && !is_condition ? absorb(chain, op.args[i], y) : std::nullopt;
        if (!joined && !is_f32(op.args[i])) return std::nullopt;
        std::string& word = last.words[tensors++];
        if (joined) {
          chain = *std::move(joined);
          word = result_name(chain.steps.size() - 1);
        } else {
          word = input_name(add_input(chain, op.args[i]));
        }
      } else {
        auto word = literal(e_, op.args[i], parameter);
        if (!word) return std::nullopt;
        last.words[3 + scalars++] = *std::move(word);
      }
    }
    // A shader compiler takes a value minus or over itself for 0 or 1, also where it is infinite.
    if (tensors == 2 && last.words[0] == last.words[1] && last.expression != "a * b") return std::nullopt;
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
    inputs.reserve(front.inputs.size());
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
    return out;
  }

  static u32 add_input(Chain& chain, ValueId value) {
    const auto found = std::ranges::find(chain.inputs, value);
    if (found != chain.inputs.end()) return u32(found - chain.inputs.begin());
    chain.inputs.push_back(value);
    return u32(chain.inputs.size() - 1);
  }

  Rewriter& e_;
  std::vector<std::optional<Chain>> chains_;
};

void run(Rewriter& e, const gpu::DeviceInfo&) { Fusion(e).run(); }

}  // namespace

const Pass elementwise_pass{"elementwise-chains", "elementwise ops that follow each other are one kernel", run};

}  // namespace pteron::ops
