// SPDX-License-Identifier: BSD-3-Clause
// The kernels of attention, told apart by strides and flags, and which of them is taken.
#pragma once

#include "ops/attention.h"

namespace pteron::ops {

// Strides of batch, head, position in elements.
struct Strides {
  u32 batch = 0, head = 0, position = 0, key = 0;
};

struct Attention {
  Query q;
  TensorArg k, v, y;
  std::optional<TensorArg> mask;
  u32 batch = 1, heads = 1, kv_heads = 1, queries = 0, keys = 0, max_keys = 0, max_queries = 0;
  u32 offset = 0;
  bool causal = false;
  bool quiet = false;  // as torch's own attention: masks may be boolean, and a query that sees no key gets zeros
  f32 scale = 1;
  const Turn* turn = nullptr;
  std::optional<TensorArg> splits;  // where the result may be handed on
  Strides q_at, k_at, v_at, y_at, mask_at;
};

// y has been resized.
Status attend(Plan& op, const Attention& attention);

}  // namespace pteron::ops
