// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "differential/random/choices.h"
#include "differential/random/sample.h"

namespace pteron::differential {

// Makes a graph nearly valid, in ways that a hostile file could: arguments of the wrong number and kind, results that
// are arguments, values that share memory, shapes and numbers at the edge, ops of the engine's own.
class Mutator {
 public:
  Mutator(Choices& choices, Sample& sample) : choices_(choices), sample_(sample), graph_(sample.graph.graph) {}

  void run();
  // What was done, one line each.
  const std::vector<std::string>& done() const { return done_; }

 private:
  using Mutation = void (Mutator::*)();

  void change_arity();
  void change_argument();
  void swap_arguments();
  void write_in_place();
  void share_results();
  void change_scalar();
  void change_list();
  void nest_list();
  void change_shape();
  void change_dtype();
  void change_name();
  void change_order();
  void repeat_call();
  void write_constant();
  void add_outputs();
  void change_output();
  void repeat_input();
  void change_inputs();
  void swap_results();
  void share_memory();
  void change_rank();
  void change_steps();
  void repeat_node();

  format::GraphCall* call();
  u32 any_value() { return choices_.below(u32(graph_.values.size())); }
  std::optional<u32> any_tensor();
  format::GraphValue extreme();
  // The method's ends and what is given to it, as the graph is now; else most changes would be refused for that alone.
  void fit_ends();
  void fit(Tensor& given, u32 id, bool dynamic);
  void note(std::string what) { done_.push_back(std::move(what)); }

  Choices& choices_;
  Sample& sample_;
  format::DelegateGraph& graph_;
  std::vector<std::string> done_;
};

}  // namespace pteron::differential
