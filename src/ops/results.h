// SPDX-License-Identifier: BSD-3-Clause
// Where a kernel that writes single elements puts those of a tensor: bytes, which share words, pass through scratch
// memory.
#pragma once

#include "ops/common.h"

namespace pteron::ops {

class Results {
 public:
  Results(Plan& op, const TensorArg& y)
      : y_(y), narrows_(size_of(y.dtype()) == 1), dtype_(narrows_ ? DType::i32 : y.dtype()), operand_(y) {
    if (narrows_) operand_ = op.scratch((y.max().numel() + 3) / 4 * 4 * sizeof(i32));
  }

  DType dtype() const { return dtype_; }
  const Operand& operand() const { return operand_; }
  // After the kernel.
  Status finish(Plan& op) const { return narrows_ ? narrow(op, operand_, y_) : Status(); }

 private:
  TensorArg y_;
  bool narrows_;
  DType dtype_;
  Operand operand_;
};

}  // namespace pteron::ops
