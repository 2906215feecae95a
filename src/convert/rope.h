// SPDX-License-Identifier: BSD-3-Clause
// Tables for rotary position embeddings, with the ways GGUF files have to stretch a model's context: linear, YaRN, and
// a factor per frequency (which is how Llama 3's scaling is stored).
#pragma once

#include "convert/gguf.h"

namespace pteron::convert {

struct Rope {
  bool interleaved = true;  // pairs (2i, 2i + 1), else (i, i + dimensions / 2)
  u32 dimensions = 0;       // of a head that are rotated
  u32 head_width = 0;
  f64 base = 10000;
  f64 linear_scale = 1;       // positions are multiplied by this
  std::vector<f32> divisors;  // per pair; empty: 1
  struct Yarn {
    f64 original_context = 0, attention_factor = 1, extrapolation = 1, beta_fast = 32, beta_slow = 1;
  };
  std::optional<Yarn> yarn;
};

Result<Rope> read_rope(const Gguf& file, std::string_view architecture, bool interleaved, u32 head_width, u32 context);

// Cosines and sines of positions 0 … count − 1, as the rotary ops want them: [count, head_width / 2] interleaved, else
// [count, dimensions] with both halves filled.
struct RopeTables {
  Shape shape;
  std::vector<f32> cosines, sines;
};
RopeTables rope_tables(const Rope& rope, u32 count);

}  // namespace pteron::convert
