// SPDX-License-Identifier: BSD-3-Clause
// Loads and runs hand-built programs.
#pragma once

#include "gpu/environment.h"
#include "runtime/device_inside.h"
#include "support/builder.h"

#include <functional>

namespace pteron::test {

// The shared device with kernels chosen and limits checked as if it were another, so that every route can be tested on
// every adapter.
inline Device device_like(const std::function<void(gpu::DeviceInfo&)>& change) {
  gpu::DeviceInfo info = context_of(device())->info();
  change(info);
  return make_device(
      std::make_shared<graph::Context>(context_of(device())->device().shared_from_this(), std::move(info)));
}
inline Device device_of_type(gpu::AdapterType type) {
  return device_like([&](gpu::DeviceInfo& info) { info.adapter.type = type; });
}

// A hand-built program's only method, ready to run.
class GraphRun {
 public:
  explicit GraphRun(const GraphBuilder& graph, const Device& on = device()) {
    LoadOptions options;
    options.device = on;
    auto program = Program::load(graph.program(), options);
    if (!program) {
      fail(program.error());
      return;
    }
    program_.emplace(*std::move(program));
    auto method = program_->method();
    if (!method) {
      fail(method.error());
      return;
    }
    method_.emplace(*std::move(method));
  }

  // Why loading or the last call failed; empty if it did not.
  const std::string& error() const { return error_; }
  Method& method() { return *method_; }

  // Runs; nothing if there was an error.
  std::span<const Tensor> operator()(std::vector<Tensor> inputs) {
    if (!method_) return {};
    error_.clear();
    const std::vector<TensorView> views(inputs.begin(), inputs.end());
    auto outputs = method_->execute(views);
    if (!outputs) return fail(outputs.error()), std::span<const Tensor>();
    return *outputs;
  }
  // The first output as numbers.
  template <class T = f32>
  std::vector<T> first(std::vector<Tensor> inputs) {
    const auto outputs = (*this)(std::move(inputs));
    EXPECT_EQ(error_, "");
    if (outputs.empty()) return {};
    const auto values = outputs[0].template as<T>();
    return {values.begin(), values.end()};
  }

 private:
  void fail(const Error& error) { error_ = error.to_string(); }

  std::string error_;
  std::optional<Program> program_;
  std::optional<Method> method_;
};

inline Tensor floats(const Shape& shape, const std::vector<f32>& values) {
  return tensor_of<f32>(DType::f32, shape, values);
}
// Numbers between -1 and 1 that look random.
inline std::vector<f32> noise(u64 count, u32 seed = 1) {
  std::vector<f32> out(count);
  u32 state = seed * 2654435761u + 1;
  for (f32& v : out) {
    state = state * 1664525u + 1013904223u;
    v = f32(state >> 8) / f32(1 << 23) - 1;
  }
  return out;
}

// How loading this graph fails.
inline std::string load_error(const GraphBuilder& graph) { return GraphRun(graph).error(); }

inline void expect_close(std::span<const f32> actual, std::span<const f64> expected, f64 tolerance) {
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t i = 0; i < actual.size(); ++i)
    ASSERT_NEAR(actual[i], expected[i], tolerance * std::max(1.0, std::abs(expected[i]))) << "element " << i;
}

}  // namespace pteron::test
