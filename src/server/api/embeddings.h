// SPDX-License-Identifier: BSD-3-Clause
// Requests for vectors of texts.
#pragma once

#include "server/api/json.h"
#include "server/api/sampling.h"

namespace pteron::server {

struct EmbeddingsRequest {
  std::vector<std::vector<u32>> inputs;  // tokens of each text
  u32 dimensions = 0;                    // of each vector
  bool base64 = false;
};

EmbeddingsRequest read_embeddings(const Fields& request, const Encoder& encoder, const RequestLimits& limits);
// `vectors` in the order of the inputs.
Json embeddings_object(const EmbeddingsRequest& request, const std::vector<std::vector<f32>>& vectors,
                       const std::string& model);

}  // namespace pteron::server
