// SPDX-License-Identifier: BSD-3-Clause
// One small graph with its answer, computed on the CPU.
#pragma once

#include "format/program_builder.h"
#include "graph/signature.h"
#include "selftest/array.h"

#include <pteron/program.h>

#include <variant>

namespace pteron::selftest {

// A tensor of a trial.
struct Operand {
  Operand(Array a, DType type = DType::f32, bool is_kept = false) : array(std::move(a)), dtype(type), kept(is_kept) {}

  Array array;
  DType dtype;
  bool kept;  // a constant of the program, not given when it runs
};
inline Operand kept(Array a, DType dtype = DType::f32) { return {std::move(a), dtype, true}; }

// What stands for one parameter of an op's signature, which says what kind of value it becomes.
class Argument {
 public:
  Argument() = default;  // Null: absent, or the signature's default
  template <class T>
    requires std::is_arithmetic_v<T>
  Argument(T number) : value(f64(number)) {}
  Argument(const char* text) : value(std::string(text)) {}
  Argument(std::initializer_list<i64> integers) : value(std::vector<i64>(integers)) {}
  Argument(Array array) : value(std::vector{Operand(std::move(array))}) {}
  Argument(Operand operand) : value(std::vector{std::move(operand)}) {}
  Argument(std::vector<Operand> list) : value(std::move(list)) {}

  std::variant<std::monostate, f64, std::string, std::vector<i64>, std::vector<Operand>> value;
};

class Trial : public format::ProgramBuilder {
 public:
  explicit Trial(std::string name, f64 tolerance = 1e-4) : name(std::move(name)), tolerance(tolerance) {}

  // The values of the graph: what it is given, what it keeps, what must come out.
  u32 give(const Array& a, DType dtype = DType::f32);
  u32 keep(const Array& a, DType dtype = DType::f32);
  u32 expect(const Array& a, DType dtype = DType::f32);

  // The whole graph is this op. Arguments stand as in its signature; what is left out at their end is Null. Results are
  // what must come out.
  void run(const std::string& op, const std::vector<Argument>& arguments, const std::vector<Operand>& results);

  std::string name;
  f64 tolerance;        // an element may differ by so much, or by so much of its size; whole numbers are exact
  u32 slack = 0;        // by which 8-bit results may differ
  LoadOptions options;  // routes
  MethodOptions method_options;
  std::vector<Tensor> inputs;
  std::vector<Array> expected;

 private:
  u32 place(const Argument& argument, graph::Kind kind);
};

using Trials = std::vector<Trial>;

// Names of a family's routes (src/ops/routes.h), each to be tried whatever this device would choose.
std::vector<std::string_view> routes_of(std::string_view family, bool subgroups);

// By what they try. `f16`, `subgroups`: the device has them.
void add_elementwise(Trials& trials, bool f16);
void add_movement(Trials& trials);
void add_rows(Trials& trials);
void add_images(Trials& trials);
void add_matrices(Trials& trials, bool f16, bool subgroups);
void add_nibbles(Trials& trials, bool subgroups);
void add_bytes(Trials& trials);
void add_attention(Trials& trials, bool subgroups);
void add_indexing(Trials& trials);
void add_training(Trials& trials);

}  // namespace pteron::selftest
