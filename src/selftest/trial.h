// SPDX-License-Identifier: BSD-3-Clause
// One small graph with its answer, computed on the CPU.
#pragma once

#include "format/program_builder.h"
#include "selftest/array.h"

#include <pteron/program.h>

namespace pteron::selftest {

class Trial : public format::ProgramBuilder {
 public:
  explicit Trial(std::string name, f64 tolerance = 1e-4) : name(std::move(name)), tolerance(tolerance) {}

  // The values of the graph: what it is given, what it keeps, what must come out.
  u32 give(const Array& a, DType dtype = DType::f32);
  u32 keep(const Array& a, DType dtype = DType::f32);
  u32 expect(const Array& a, DType dtype = DType::f32);

  std::string name;
  f64 tolerance;        // an element may differ by so much, or by so much of its size; whole numbers are exact
  u32 slack = 0;        // by which 8-bit results may differ
  LoadOptions options;  // routes
  MethodOptions method_options;
  std::vector<Tensor> inputs;
  std::vector<Array> expected;
};

using Trials = std::vector<Trial>;

// Names of a family's routes (src/ops/routes.h), each to be tried whatever this device would choose.
std::vector<std::string_view> routes_of(std::string_view family, bool subgroups);

// By what they try. `f16`, `subgroups`: the device has them.
void add_elementwise(Trials& trials, bool f16);
void add_movement(Trials& trials);
void add_rows(Trials& trials);
void add_images(Trials& trials);
void add_matrices(Trials& trials, bool f16);
void add_nibbles(Trials& trials, bool subgroups);
void add_bytes(Trials& trials);
void add_attention(Trials& trials);
void add_training(Trials& trials);

}  // namespace pteron::selftest
