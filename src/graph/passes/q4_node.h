// SPDX-License-Identifier: BSD-3-Clause
// A 4-bit linear as passes see it: et_vk.linear_q4gsw, or pteron.linear_q4, which is one or more of them fused with
// what stands around. The order of the latter's arguments is known here and in src/ops/linear_q4.cpp.
#pragma once

#include "gpu/device.h"
#include "graph/passes/editor.h"

namespace pteron::graph {

struct Q4Node {
  ValueId x = no_value;
  ValueId norm = no_value;  // RMS norm of x before
  f64 eps = 0;
  i64 group = 0;
  // Biases and corrections: none, or one each; of planes only the first has one.
  std::vector<ValueId> weights, scales, biases, corrections, outputs;
  ValueId residual = no_value;
  std::string kind = "plain";  // "swiglu": silu(first) · second; "planes": first + second

  static std::optional<Q4Node> from(const Editor& editor, const Op& op);
  Op to_op(Editor& editor, const Op& place) const;

  // Can the fused kernel run it? It wants float32 constants, whole words, and all weights in one binding.
  bool fits(const Editor& editor, const gpu::DeviceInfo& device) const;
  bool is_plain() const { return kind == "plain" && residual == no_value; }
};

// The linear whose only reader is (a chain of views that ends in) `value`.
struct PrivateLinear {
  u32 op;
  Q4Node node;
};
std::optional<PrivateLinear> private_linear(const Editor& e, ValueId value);
// The op if it is a sum of two tensors, neither scaled.
std::optional<Op> plain_add(const Editor& e, u32 op);

}  // namespace pteron::graph
