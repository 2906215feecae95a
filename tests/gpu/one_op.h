// SPDX-License-Identifier: BSD-3-Clause
// Runs graphs that were built by hand around one op.
#pragma once

#include "gpu/environment.h"
#include "support/builder.h"

#include <gtest/gtest.h>

namespace pteron::test {

inline Result<Program> load(const GraphBuilder& b, const Device& on = device()) {
  LoadOptions options;
  options.device = on;
  return Program::load(b.program(), options);
}

// What the graph gives for these inputs; a failure fails the test and gives nothing.
inline std::vector<Tensor> run(const GraphBuilder& b, const std::vector<Tensor>& inputs, const Device& on = device()) {
  auto program = load(b, on);
  if (!program) return ADD_FAILURE() << program.error().to_string(), std::vector<Tensor>();
  auto method = program->method();
  if (!method) return ADD_FAILURE() << method.error().to_string(), std::vector<Tensor>();
  const std::vector<TensorView> views(inputs.begin(), inputs.end());
  auto outputs = method->execute(views);
  if (!outputs) return ADD_FAILURE() << outputs.error().to_string(), std::vector<Tensor>();
  return {outputs->begin(), outputs->end()};
}

// What loading the graph, or running it with these inputs, complains about.
inline std::string error_of(const GraphBuilder& b, const std::vector<Tensor>& inputs = {}) {
  auto program = load(b);
  if (!program) return program.error().to_string();
  auto method = program->method();
  if (!method) return method.error().to_string();
  const std::vector<TensorView> views(inputs.begin(), inputs.end());
  auto outputs = method->execute(views);
  return outputs ? "nothing" : outputs.error().to_string();
}

template <class T>
std::vector<T> values(const Tensor& t) {
  return {t.as<T>().begin(), t.as<T>().end()};
}

// Elements 0, 1, 2, …, as far as T can count.
template <class T>
Tensor counting(DType dtype, const Shape& shape) {
  Tensor out(dtype, shape);
  for (u64 i = 0; i < out.numel(); ++i) out.as<T>()[i] = T(i);
  return out;
}

#define EXPECT_MENTIONS(text, part) EXPECT_NE((text).find(part), std::string::npos) << (text)

}  // namespace pteron::test
