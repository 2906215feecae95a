// SPDX-License-Identifier: BSD-3-Clause
#include "differential/hostile/judgement.h"

#include "base/text.h"
#include "differential/agreement.h"
#include "differential/hostile/mutator.h"
#include "differential/hostile/opinion.h"
#include "differential/hostile/seeds.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace pteron::differential {
namespace {

// Where the reference overflows, any result is as good.
void forgive_overflow(Expected& expected) {
  for (size_t s = 0; s < expected.values.size(); ++s)
    for (size_t o = 0; o < expected.values[s].size(); ++o)
      for (size_t i = 0; i < expected.values[s][o].data.size(); ++i)
        if (!std::isfinite(expected.values[s][o].data[i])) expected.slack[s][o].data[i] = INFINITY;
}

std::optional<Expected> ask(const std::vector<std::byte>& program, const Sample& sample, u32 runs) {
  auto out = ask_reference(program, sample.steps, runs);
  if (out) forgive_overflow(*out);
  return out;
}

// Bits of what two variants computed; rounding may differ, so only kinds and large steps count.
std::string distance(const Outputs& a, const Outputs& b) {
  for (size_t s = 0; s < a.size(); ++s)
    for (size_t o = 0; o < a[s].size(); ++o) {
      if (o >= b[s].size() || a[s][o].dims != b[s][o].dims) return str("output ", o, " has another shape");
      for (size_t i = 0; i < a[s][o].data.size(); ++i) {
        const f64 x = a[s][o].data[i], y = b[s][o].data[i];
        if (!std::isfinite(x) || !std::isfinite(y)) continue;
        if (std::abs(x - y) > 1e-2 + 1e-2 * std::max(std::abs(x), std::abs(y)))
          return str("step ", s, ", output ", o, ", element ", i, ": ", x, " and ", y);
      }
    }
  return "";
}

// Shaders may take NaN and infinity for anything, and nothing writes the placeholder that update_cache returns: a graph
// with those only has to end.
bool is_unspecified(const Sample& sample) {
  for (const format::GraphCall& call : sample.graph.graph.calls)
    if (call.name == "update_cache.default" && !call.args.empty()) {
      const u32 placeholder = call.args.back();
      const auto reads = [&](const format::GraphCall& c) { return std::ranges::count(c.args, placeholder) > 0; };
      if (std::ranges::count(sample.graph.graph.outputs, placeholder) > 0 ||
          std::ranges::count_if(sample.graph.graph.calls, reads) > 1)
        return true;
    }
  for (const format::GraphValue& value : sample.graph.graph.values)
    if (const f64* number = std::get_if<f64>(&value); number && !std::isfinite(*number)) return true;
  return false;
}

// torch exports no graph in which sizes with one upper bound are different ones, so a pass may refuse a step in which
// one of them is 1 and another is not.
bool is_dynamic(const Sample& sample) {
  const format::MethodDraft method = sample.graph.method("forward");
  return std::ranges::any_of(method.spec.inputs, [&](u32 id) {
    const auto* input = std::get_if<format::TensorSpec>(&method.spec.values[id]);
    return input && input->dynamic;
  });
}

}  // namespace

Sample hostile_sample(Choices& choices, std::vector<std::string>* done) {
  Sample sample = seed_sample(choices);
  Mutator mutator(choices, sample);
  mutator.run();
  sample.may_be_refused = true;
  if (done) *done = mutator.done();
  return sample;
}

Sample hostile_sample(Choices& choices) { return hostile_sample(choices, nullptr); }

Judgement judge(const Sample& sample, u32 variant) {
  const std::vector<std::byte> program = sample.graph.program();
  const std::vector<Way> variants = ways(variant);
  std::vector<EngineRun> runs;
  runs.reserve(variants.size());
  for (const Way& way : variants) runs.push_back(run_engine(program, sample, way));
  for (const EngineRun& run : runs)
    if (run.internal) return {Judgement::differs, run.error};
  const EngineRun* first = nullptr;
  for (const EngineRun& run : runs)
    if (run.error.empty() && !first) first = &run;
  if (!first) return {sample.may_be_refused ? Judgement::refused : Judgement::differs, runs[0].error};
  if (is_unspecified(sample)) return {Judgement::unknown, ""};
  auto expected = ask(program, sample, few_runs);
  if (expected && !runs[0].error.empty() && runs[1].error.empty() && !(runs[0].loaded && is_dynamic(sample)))
    return {Judgement::differs, str("refused with passes only: ", runs[0].error)};
  bool sure = false;
  for (size_t i = 0; i < runs.size(); ++i) {
    if (!runs[i].error.empty()) continue;
    std::string d = expected ? difference(runs[i], *expected, false) : distance(first->outputs, runs[i].outputs);
    if (!d.empty() && expected && !sure) {
      sure = true;
      if (auto more = ask(program, sample, many_runs)) expected = std::move(more);
      d = difference(runs[i], *expected, false);
    }
    if (!d.empty()) return {Judgement::differs, str(variants[i].name, expected ? ": " : " against another: ", d)};
  }
  return {expected ? Judgement::agrees : Judgement::unknown, ""};
}

std::string describe(const Sample& sample) {
  struct Text {
    std::string operator()(std::monostate) const { return "null"; }
    std::string operator()(i64 v) const { return str(v); }
    std::string operator()(f64 v) const { return str(v); }
    std::string operator()(bool v) const { return v ? "true" : "false"; }
    std::string operator()(const std::string& v) const { return "'" + v + "'"; }
    std::string operator()(const std::vector<i64>& v) const { return str("ints [", join(v), "]"); }
    std::string operator()(const std::vector<f64>&) const { return "numbers"; }
    std::string operator()(const std::vector<bool>&) const { return "booleans"; }
    std::string operator()(const format::GraphSymInt&) const { return "symint"; }
    std::string operator()(const format::GraphValueList& v) const { return str("list [", join(v.items), "]"); }
    std::string operator()(const format::GraphTensor& t) const {
      return str(name_of(t.dtype), " ", t.shape, t.constant >= 0 ? " constant" : "");
    }
  };
  const format::DelegateGraph& graph = sample.graph.graph;
  std::string out;
  for (size_t i = 0; i < graph.values.size(); ++i)
    out += str("  %", i, " = ", std::visit(Text(), graph.values[i]), "\n");
  for (const format::GraphCall& call : graph.calls) out += str("  ", call.name, "(", join(call.args), ")\n");
  return out + str("  inputs ", join(graph.inputs), "; outputs ", join(graph.outputs), "\n");
}

}  // namespace pteron::differential
