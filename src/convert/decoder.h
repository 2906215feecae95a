// SPDX-License-Identifier: BSD-3-Clause
// The graph of a Llama-like decoder: tokens [1, S] and the position of the first one in, logits out, with a KV cache.
#pragma once

#include "convert/graph_draft.h"
#include "convert/model.h"
#include "convert/weight.h"

namespace pteron::convert {

struct DecoderOptions {
  u32 context = 0;     // positions in the caches
  u32 max_tokens = 0;  // in one call
  Quantization quantization = Quantization::lossless;
  bool all_logits = false;  // of every position rather than of the last one
};

// Every tensor of the file must be one that the model uses, in the shape it should have.
Result<GraphDraft> build_decoder(const Gguf& file, const Model& model, const DecoderOptions& options);

}  // namespace pteron::convert
