// SPDX-License-Identifier: BSD-3-Clause
// A delegated graph in the making: ops that exporters emit, over activations whose axes may be live.
#pragma once

#include "convert/constant.h"
#include "format/graph_builder.h"

namespace pteron::convert {

// A size that is fixed, or one that a symbolic integer tells at run time.
struct Axis {
  u32 max = 1;
  std::optional<u32> symint;  // the id of the value

  Axis(u32 size) : max(size) {}
};
using Axes = std::vector<Axis>;

class GraphDraft : public format::GraphBuilder {
 public:
  // Everything here returns the id of the result.
  u32 constant(Constant constant);
  // A constant that an op takes where it would take an activation.
  u32 prepacked(Constant constant);
  u32 activation(Axes axes, DType dtype = DType::f32);
  const Axes& axes(u32 activation) const { return axes_.at(activation); }
  // From here on this axis of an input has a symbolic size.
  Axis make_live(u32 x, u32 axis);

  u32 host_element(u32 x, u32 index);    // a symbolic integer: of a graph input of one axis
  u32 sum(u32 a, u32 b);                 // of two symbolic integers
  u32 add(u32 a, u32 b, u32 times = 1);  // a + times · b; b may have axes of size 1 where a has more
  u32 multiply(u32 a, u32 b);
  u32 sigmoid(u32 x);
  u32 rms_norm(u32 x, u32 weight, f64 epsilon);
  u32 view(u32 x, Axes axes);
  u32 slice(u32 x, u32 first, u32 last, const Axis& length);  // of axis 0, between symbolic integers
  u32 first_columns(u32 x, u32 count);                        // of the last axis
  u32 last_of_axis(u32 x, u32 axis);
  u32 sum_of_last_axis(u32 x);

  // By index into graph.constants.
  std::vector<Constant> constants;

 private:
  std::map<u32, Axes> axes_;
};

}  // namespace pteron::convert
