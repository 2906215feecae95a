// SPDX-License-Identifier: BSD-3-Clause
// A .pte from its first byte to its first step, on a device without a GPU that has little memory.
#include "fuzz.h"
#include "runtime/device_inside.h"
#include "support/stamping_device.h"

#include <pteron/program.h>

namespace pteron::fuzz {

constexpr u64 device_bytes = 64u << 20;

void run(Method& method) {
  std::vector<Tensor> tensors;
  u64 bytes = 0;
  for (const ValueInfo& info : method.info().inputs) {
    bytes += info.shape.numel() * size_of(info.dtype);
    if (bytes > device_bytes) return;
    tensors.emplace_back(info.dtype, info.shape);
  }
  (void)method.execute(std::vector<TensorView>(tensors.begin(), tensors.end()));
}

void target(Bytes input) {
  LoadOptions options;
  options.device = make_device(std::make_shared<graph::Context>(std::make_shared<test::StampingDevice>(device_bytes)));
  auto program = Program::load(std::vector(input.begin(), input.end()), options);
  if (!program) return;
  for (const MethodInfo& info : program->methods()) {
    (void)program->constant(info.name);
    if (auto method = program->method(info.name)) run(*method);
  }
}

}  // namespace pteron::fuzz
