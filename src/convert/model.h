// SPDX-License-Identifier: BSD-3-Clause
// What a GGUF file says about its model: a Llama-like decoder.
#pragma once

#include "convert/rope.h"

namespace pteron::convert {

// What tells the members of the family apart.
struct Architecture {
  std::string_view name;
  bool interleaved_rope;
  bool qkv_bias;        // always there; where it is false, biases are used if the file has them
  bool query_key_norm;  // of each head, before it is rotated
};

struct Model {
  const Architecture* architecture = nullptr;
  std::string name, license;
  u32 layers = 0, width = 0, hidden = 0, heads = 0, kv_heads = 0, head_width = 0, vocabulary = 0, context = 0;
  f64 epsilon = 0;
  std::optional<f64> attention_scale;
  Rope rope;
  std::optional<i64> bos;
  std::vector<i64> eos;  // whatever ends a text or a turn
};

Result<Model> read_model(const Gguf& file);

}  // namespace pteron::convert
