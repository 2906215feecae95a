// SPDX-License-Identifier: BSD-3-Clause
// Builds programs by hand, for what no exporter emits (or what no exporter should).
#pragma once

#include "format/program_builder.h"

#include <pteron/program.h>

namespace pteron::test {

// Its `graph` may be corrupted on purpose.
using GraphBuilder = format::ProgramBuilder;

template <class T>
Tensor tensor_of(DType dtype, const Shape& shape, const std::vector<T>& values) {
  return Tensor::of(dtype, shape, std::span<const T>(values)).value();
}

}  // namespace pteron::test
