// SPDX-License-Identifier: BSD-3-Clause
// Runs a program of one input tensor per input, filled with zeros, and prints the outputs' shapes.
#include <pteron/pteron.h>

#include <cstdio>

int main(int argc, char** argv) {
  if (argc != 2) return std::puts("usage: zeros MODEL.pte"), 2;
  auto program = pteron::Program::load(argv[1]);
  if (!program) return std::puts(program.error().to_string().c_str()), 1;
  auto method = program->method("forward");
  if (!method) return std::puts(method.error().to_string().c_str()), 1;
  std::vector<pteron::Tensor> inputs;
  for (const auto& input : method->info().inputs) inputs.emplace_back(input.dtype, input.shape);
  auto outputs = method->execute(std::vector<pteron::TensorView>(inputs.begin(), inputs.end()));
  if (!outputs) return std::puts(outputs.error().to_string().c_str()), 1;
  for (const auto& output : *outputs)
    std::printf("pteron %s: %s\n", pteron::version(), pteron::to_string(output.shape()).c_str());
}
