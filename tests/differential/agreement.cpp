// SPDX-License-Identifier: BSD-3-Clause
#include "differential/agreement.h"

#include "base/text.h"
#include "differential/engine.h"
#include "differential/reference/program.h"
#include "gpu/environment.h"
#include "ops/routes.h"

#include <cmath>
#include <limits>

namespace pteron::differential {
namespace {

using reference::Array;
using reference::Noise;

constexpr f64 margin = 4;

Outputs run_reference(const std::vector<std::byte>& program, const Sample& sample, Noise noise) {
  reference::Method method(program, noise);
  Outputs out;
  for (const Step& step : sample.steps) {
    if (step.reset) method.reset();
    out.emplace_back();
    for (const Tensor& t : method.execute(step.inputs)) out.back().push_back(reference::from_tensor(t));
  }
  return out;
}

bool same_kind(f64 a, f64 b) {
  if (std::isfinite(a) || std::isfinite(b)) return std::isfinite(a) && std::isfinite(b);
  return std::isnan(a) ? std::isnan(b) : a == b;
}

}  // namespace

Expected expect(const std::vector<std::byte>& program, const Sample& sample, u32 runs) {
  Expected out;
  out.values = out.slack = run_reference(program, sample, Noise());
  for (auto& step : out.slack)
    for (Array& y : step)
      for (f64& v : y.data) v = 0;
  for (u32 run = 0; run < runs; ++run) {
    const Noise noise(run == 0 ? Noise::up : run == 1 ? Noise::down : Noise::random, run);
    const Outputs moved = run_reference(program, sample, noise);
    for (size_t s = 0; s < moved.size(); ++s)
      for (size_t o = 0; o < moved[s].size(); ++o)
        for (size_t i = 0; i < moved[s][o].data.size(); ++i) {
          const f64 a = out.values[s][o].data[i], b = moved[s][o].data[i];
          f64& slack = out.slack[s][o].data[i];
          slack = std::max(slack, !same_kind(a, b) ? INFINITY : std::isfinite(a) ? std::abs(a - b) : 0);
        }
  }
  return out;
}

namespace {

f64 last_place(DType dtype, f64 v) {
  if (dtype == DType::f16) return std::max(std::abs(v) * 0x1p-10, 0x1p-24);
  return is_float(dtype) ? std::max(std::abs(v) * 0x1p-23, f64(std::numeric_limits<f32>::min())) : 0;
}

std::string difference(const Array& actual, const Array& expected, const Array& slack) {
  if (actual.dtype != expected.dtype) return "another dtype";
  if (actual.dims != expected.dims)
    return str("shape [", join(actual.dims), "] instead of [", join(expected.dims), "]");
  for (size_t i = 0; i < expected.data.size(); ++i) {
    const f64 a = actual.data[i], e = expected.data[i], may = margin * slack.data[i] + last_place(expected.dtype, e);
    if (std::isinf(slack.data[i]) || (same_kind(a, e) && !(std::abs(a - e) > may))) continue;
    return str("element ", i, " is ", a, " instead of ", e, ", more than ", may, " off");
  }
  return "";
}

}  // namespace

namespace {

// A step that another conversation can take at the same time: if there is one of the same shapes, not the same one.
const Step& step_beside(const Sample& sample, const Step& step) {
  const auto found = std::ranges::find_if(sample.steps, [&](const Step& other) {
    return &other != &step && std::ranges::equal(other.inputs, step.inputs, {}, &Tensor::shape, &Tensor::shape);
  });
  return found == sample.steps.end() ? step : *found;
}

// A method on its own, or in the middle of a batch of three.
class Conversation {
 public:
  static Result<Conversation> begin(const std::vector<std::byte>& program, const Way& way) {
    Conversation out;
    TRY(Program loaded, Program::load(program, way.options));
    for (u32 i = 0; i < (way.in_batch ? 3 : 1); ++i) {
      TRY(Method method, loaded.method());
      out.methods_.push_back(std::move(method));
    }
    if (way.in_batch) {
      TRY(Batch batch, loaded.batch());
      out.batch_.emplace(std::move(batch));
    }
    return out;
  }

  Status reset() { return mine().reset(); }
  // Sets whether others took part.
  Result<std::span<const Tensor>> step(const Step& step, const Step& beside, bool& together) {
    const std::vector<TensorView> views(step.inputs.begin(), step.inputs.end()),
        others(beside.inputs.begin(), beside.inputs.end());
    together = false;
    if (batch_) {
      Batch::Lane lanes[] = {{&methods_[0], others}, {&methods_[1], views}, {&methods_[2], others}};
      const Status begun = batch_->begin(lanes);
      // What a batch can't do, a conversation may do by itself.
      if (!begun && begun.error().kind == ErrorKind::internal) return Failure(begun.error());
      if (begun) TRY_DO(batch_->finish());
      together = begun && lanes[0].status && lanes[1].status && lanes[2].status;
      if (begun && lanes[1].status) return mine().outputs();
    }
    return mine().execute(views);
  }

 private:
  Method& mine() { return methods_[methods_.size() / 2]; }

  std::vector<Method> methods_;
  std::optional<Batch> batch_;
};

}  // namespace

EngineRun run_engine(const std::vector<std::byte>& program, const Sample& sample, Way way) {
  EngineRun out;
  const auto failed = [&](const Error& error) {
    out.error = error.to_string();
    out.internal = error.kind == ErrorKind::internal;
    return out;
  };
  if (!way.options.device) way.options.device = engine();
  auto conversation = Conversation::begin(program, way);
  if (!conversation) return failed(conversation.error());
  out.loaded = true;
  for (const Step& step : sample.steps) {
    if (step.reset)
      if (const Status reset = conversation->reset(); !reset) return failed(reset.error());
    bool together = false;
    const auto outputs = conversation->step(step, step_beside(sample, step), together);
    if (!outputs) return failed(outputs.error());
    out.in_batch += together;
    out.outputs.emplace_back();
    for (const Tensor& t : *outputs) out.outputs.back().push_back(reference::from_tensor(t));
  }
  return out;
}

EngineRun run_engine(const std::vector<std::byte>& program, const Sample& sample, LoadOptions options) {
  return run_engine(program, sample, Way{"", std::move(options)});
}

std::string difference(const EngineRun& run, const Expected& expected, bool may_be_refused) {
  if (!run.error.empty())
    return may_be_refused ? "" : str(run.loaded ? "it fails: " : "it can't be loaded: ", run.error);
  for (size_t s = 0; s < expected.values.size(); ++s) {
    if (run.outputs[s].size() != expected.values[s].size()) return "another number of outputs";
    for (size_t o = 0; o < expected.values[s].size(); ++o) {
      const std::string d = difference(run.outputs[s][o], expected.values[s][o], expected.slack[s][o]);
      if (!d.empty()) return str("step ", s, ", output ", o, ": ", d);
    }
  }
  return "";
}

namespace {

Way further_way(u32 drawn) {
  const std::vector<std::string> passes = test::without_passes().disabled_passes;
  const auto routes = ops::routes();
  const auto devices = disguises();
  drawn %= u32(passes.size() + routes.size() + devices.size() + 1);
  Way out;
  if (drawn < passes.size()) {
    out.name = "without " + passes[drawn];
    out.options.disabled_passes = {passes[drawn]};
  } else if (drawn -= u32(passes.size()); drawn < routes.size()) {
    out.name = str("with ", routes[drawn].family, "=", routes[drawn].name);
    out.options.routes = {str(routes[drawn].family, "=", routes[drawn].name)};
  } else if (drawn -= u32(routes.size()); drawn < devices.size()) {
    out.name = devices[drawn].name;
    out.options.device = disguised(devices[drawn]);
  } else {
    out.name = "with guards";
    out.options.guards = true;
  }
  return out;
}

}  // namespace

std::vector<Way> ways(u32 drawn) {
  return {
      {"with passes", {}}, {"without passes", test::without_passes()}, {"in a batch", {}, true}, further_way(drawn)};
}

namespace {

// A graph and what is known about its results.
class Comparison {
 public:
  explicit Comparison(const Sample& sample) : sample_(sample), program_(sample.graph.program()) {}

  std::string of(const Way& way) {
    try {
      if (expected_.values.empty()) expected_ = expect(program_, sample_, few_runs);
    } catch (const std::exception& e) {
      return str("the reference refuses it: ", e.what());
    }
    const EngineRun run = run_engine(program_, sample_, way);
    std::string problem = difference(run, expected_, sample_.may_be_refused);
    if (problem.empty() || sure_) return problem;
    // A step that jumps at a value, such as rounding, may have been missed by few runs.
    expected_ = expect(program_, sample_, many_runs);
    sure_ = true;
    return difference(run, expected_, sample_.may_be_refused);
  }

 private:
  const Sample& sample_;
  std::vector<std::byte> program_;
  Expected expected_;
  bool sure_ = false;
};

}  // namespace

std::string disagreement(const Sample& sample, const Way& way) { return Comparison(sample).of(way); }

std::string disagreement(const Sample& sample, std::span<const Way> ways) {
  Comparison comparison(sample);
  std::string out;
  for (const Way& way : ways)
    if (const std::string problem = comparison.of(way); !problem.empty())
      out += str(out.empty() ? "" : "; ", way.name, ": ", problem);
  return out;
}

void expect_agreement(const test::GraphBuilder& graph, std::vector<Step> steps) {
  const std::vector<Way> both = {{"with passes", {}}, {"without passes", test::without_passes()}};
  EXPECT_EQ(disagreement({graph, std::move(steps), false}, both), "");
}

}  // namespace pteron::differential
