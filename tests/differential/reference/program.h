// SPDX-License-Identifier: BSD-3-Clause
// Whole programs for the reference interpreter: a method of a .pte file, or a graph that was built by hand.
#pragma once

#include "differential/reference/interpreter.h"
#include "format/program_file.h"

#include <deque>

namespace pteron::reference {

// The graph of a VH00 blob whose constants are inline.
Graph read_graph(Bytes blob);

// A method with its state. Throws std::runtime_error.
class Method {
 public:
  Method(const std::string& path, const std::vector<std::string>& data_files);
  // A program in memory.
  explicit Method(std::vector<std::byte> program, Noise noise = Noise());

  std::vector<Tensor> execute(std::span<const Tensor> inputs);
  void reset();

 private:
  void open(const std::vector<std::vector<std::byte>>& files, Noise noise);
  void run(const format::DelegateCall& call);
  void run(const format::KernelCall& call);

  format::MethodSpec spec_;
  std::deque<Graph> graphs_;  // by delegate
  std::deque<Interpreter> interpreters_;
  std::vector<Array> values_, initial_;
};

}  // namespace pteron::reference
