// SPDX-License-Identifier: BSD-3-Clause
// The tensors of a variadic kernel: bound and declared in one go, also those that may be absent.
#pragma once

#include "ops/common.h"

namespace pteron::ops {

class Bindings {
 public:
  void input(std::string_view name, const TensorArg& t) {
    add(t);
    spec.bind_input(name, t.dtype());
  }
  // Absent, all its elements are `otherwise`.
  void optional_input(std::string_view name, const std::optional<TensorArg>& t, u32 otherwise) {
    if (t)
      input(name, *t);
    else
      spec.absent_input(name, otherwise);
  }
  void output(std::string_view name, const Operand& y, DType dtype) {
    add(y);
    spec.bind_output(name, dtype);
  }
  // Absent, it takes elements of type `otherwise` and keeps none.
  void optional_output(std::string_view name, const std::optional<TensorArg>& y, DType otherwise) {
    if (y)
      output(name, *y, y->dtype());
    else
      spec.absent_output(name, otherwise);
  }

  template <class Params>
  Status dispatch(Plan& op, const graph::KernelSource& kernel, const Params& params, Grid grid) const {
    static_assert(std::is_trivially_copyable_v<Params> && sizeof(Params) <= 256 && sizeof(Params) % 4 == 0);
    return op.dispatch({kernel, spec}, std::span(operands_).first(count_), std::as_bytes(std::span(&params, 1)), grid);
  }

  void add(const Operand& operand) { operands_[count_++] = operand; }  // declared by the caller
  Spec spec;

 private:
  std::array<Operand, 8> operands_;  // a WebGPU device binds at least eight buffers
  u32 count_ = 0;
};

}  // namespace pteron::ops
