// SPDX-License-Identifier: BSD-3-Clause
// A 4-bit linear as passes see it: et_vk.linear_q4gsw, or pteron.linear_q4, which is one or more of them fused with
// what stands around.
#pragma once

#include "ops/passes/passes.h"

namespace pteron::ops {

struct Q4Node {
  ValueId x = no_value;
  ValueId norm = no_value;  // RMS norm of x before
  f64 eps = 0;
  // A weight is scale · (q + shift) + minimum.
  i64 group = 0, shift = 0;
  // Biases and minima: none, or one each. Planes have one scale, bias and minimum for both.
  std::vector<ValueId> weights, scales, biases, minima, outputs;
  ValueId residual = no_value;
  ValueId splits = no_value;   // x as attention hands it on
  i64 heads = 0;               // of it
  std::string kind = "plain";  // "swiglu": silu(first) · second; "planes": q = 16 · first + second

  static std::optional<Q4Node> from(const Rewriter& e, u32 op);
  Op to_op(Rewriter& e, const Op& place) const;

  // Takes the weights and what belongs to them from another one.
  void append_weights(const Q4Node& other);
  // Can the fused kernel run it? It wants float32 constants that nobody writes, whole words, and all weights in one
  // binding.
  bool fits(const Rewriter& e, const gpu::DeviceInfo& device) const;
  bool is_plain() const { return kind == "plain" && residual == no_value && splits == no_value; }
  // Could one kernel read x for both?
  bool is_like(const Q4Node& other) const;
};

// The linear whose only reader is (a chain of views that ends in) a value.
struct PrivateLinear {
  u32 op;
  Q4Node node;
  std::vector<u32> ops;  // it and the views
};
std::optional<PrivateLinear> private_linear(const Rewriter& e, ValueId value);

// a + times · b
struct ScaledAdd {
  ValueId a, b, y;
  f64 times;
};
std::optional<ScaledAdd> scaled_add(const Rewriter& e, u32 op);

// A sum of two tensors, neither scaled.
struct PlainAdd {
  ValueId sides[2], y;
};
std::optional<PlainAdd> plain_add(const Rewriter& e, u32 op);

// What the first of two planes counts.
constexpr f64 high_plane = 16;
// The shift that `times` more makes, or nothing if that is none that a kernel knows.
std::optional<i64> shifted(i64 shift, f64 times);

}  // namespace pteron::ops
