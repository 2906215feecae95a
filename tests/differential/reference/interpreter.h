// SPDX-License-Identifier: BSD-3-Clause
// Runs a delegated graph as its file says, op after op, with plain loops. Every result is a value of its own (views
// copy); only what is named twice shares memory: an argument that an op writes, and a constant with the results of its
// prepack. Constants keep what ops wrote to them between calls.
#pragma once

#include "differential/reference/array.h"
#include "differential/reference/noise.h"
#include "format/delegate_graph.h"

#include <map>
#include <span>
#include <string>
#include <string_view>

namespace pteron::reference {

struct Graph {
  format::DelegateGraph file;
  std::vector<std::vector<std::byte>> constants;  // by DelegateGraph::constants
};

// Throws std::runtime_error where a graph has no meaning.
class Interpreter {
 public:
  explicit Interpreter(const Graph& graph, Noise noise = Noise());

  static bool knows(std::string_view op);

  // A symbolic number is an array of one element.
  std::vector<Array> execute(std::span<const Array> inputs);
  void reset();  // constants as in the file

 private:
  friend class Call;
  Array value(u32 id) const;

  const Graph& graph_;
  Noise noise_;
  std::vector<u32> cell_;     // by value
  std::vector<Array> cells_;  // a tensor, or a symbolic number
};

// An op and its arguments. The last one is the result.
class Call {
 public:
  Call(Interpreter& in, const format::GraphCall& call) : in_(in), call_(call) {}

  const std::string& name() const { return call_.name; }
  bool is_null(u32 arg) const;  // also if it was left out
  const Array& tensor(u32 arg) const;
  i64 integer(u32 arg) const;
  i64 integer_or(u32 arg, i64 otherwise) const { return is_null(arg) ? otherwise : integer(arg); }
  f64 number(u32 arg) const;
  f64 number_or(u32 arg, f64 otherwise) const { return is_null(arg) ? otherwise : number(arg); }
  bool flag_or(u32 arg, bool otherwise) const { return is_null(arg) ? otherwise : number(arg) != 0; }
  std::string text_or(u32 arg, std::string otherwise) const;
  Dims ints(u32 arg) const;  // empty if it is null
  std::vector<f64> numbers(u32 arg) const { return std::get<std::vector<f64>>(at(arg)); }
  size_t items(u32 arg) const;
  bool item_is_null(u32 arg, u32 item) const;
  const Array& item(u32 arg, u32 item) const;
  i64 axis(u32 arg, i64 rank) const;

  // The result's dtype, or that of a part of it.
  DType dtype(std::optional<u32> item = {}) const;
  // The result's largest shape.
  Dims widest() const;
  // A tensor for the result, which `give` stores.
  Array make(Dims dims) const { return Array(dtype(), std::move(dims)); }
  void give(Array y) { store(call_.args.back(), std::move(y)); }
  size_t results() const { return items(u32(call_.args.size() - 1)); }
  void give(u32 item, Array y);
  void give_number(f64 v);
  // Writes an argument in place.
  void overwrite(u32 arg, Array y) { store(call_.args[arg], std::move(y)); }

  f64 noisy(f64 value, f64 scale, f64 steps = 4) { return in_.noise_(value, scale, steps); }
  f64 noisy(f64 value) { return noisy(value, std::abs(value)); }
  // Any number between two, where nothing says which: an integer of NaN.
  f64 anything(f64 low, f64 high) { return in_.noise_.between(low, high); }

 private:
  const format::GraphValue& at(u32 arg) const { return in_.graph_.file.values[call_.args.at(arg)]; }
  void store(u32 id, Array y);

  Interpreter& in_;
  const format::GraphCall& call_;
};

struct OpRule {
  std::string_view name;
  void (*run)(Call&);
};
using OpRules = std::span<const OpRule>;
extern const OpRules elementwise_rules, comparison_rules, movement_rules, indexing_rules, reduction_rules, norm_rules,
    matrix_rules, image_rules, resizing_rules, quantized_rules, attention_rules, symbol_rules, function_rules,
    line_rules, scattering_rules, statistics_rules, code_rules, coded_image_rules;

}  // namespace pteron::reference
