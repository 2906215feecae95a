// SPDX-License-Identifier: BSD-3-Clause
// A constant of the program: its bytes are made when they are asked for, once for their key and once for the file, so
// that a model never has to be in memory as a whole.
#pragma once

#include "format/program_writer.h"

#include <pteron/dtype.h>
#include <pteron/shape.h>

namespace pteron::convert {

struct Constant {
  DType dtype = DType::f32;
  Shape shape;
  std::function<Status(const format::Sink&)> write;

  u64 bytes() const { return shape.numel() * size_of(dtype); }
};

// Numbers that are in memory anyway.
Constant numbers(const Shape& shape, std::vector<f32> values);
Constant zeros(const Shape& shape);

}  // namespace pteron::convert
