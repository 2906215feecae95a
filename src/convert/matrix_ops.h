// SPDX-License-Identifier: BSD-3-Clause
// Linears and embeddings over weights in groups, exact, with ops that every ExecuTorch exporter knows.
//
// A linear over 4-bit planes with offsets c is
//     y = linear_q4gsw(x, plane 0) [+ linear_q4gsw(x, plane 1)] [+ linear(s, c)],   s = sums of x over each group,
// because Σ_k x_k (scale·q_k + c) = scale·Σ_k x_k q_k + c·Σ_k x_k within a group. An embedding is
//     y = embedding_q4gsw(plane 0) [+ embedding_q4gsw(plane 1)] [+ embedding(c), repeated over each group].
// The sums of an input are computed once for all linears that share it. Engines may run each of these as one kernel.
#pragma once

#include "convert/graph_draft.h"
#include "convert/weight.h"

namespace pteron::convert {

class MatrixOps {
 public:
  explicit MatrixOps(GraphDraft& graph) : g_(graph) {}

  // x · weightᵀ + bias, over the last axis of x.
  u32 linear(u32 x, const Weight& weight, const Weight* bias);
  // The rows of `table` that the integers in `tokens` [1, S] say: [1, S, columns].
  u32 embedding(u32 tokens, const Weight& table);

 private:
  u32 plane_linear(u32 x, const Weight& weight, u32 plane, const Weight* bias);
  u32 group_sums(u32 x, u32 group);
  u32 rows_of(u32 x);  // as a matrix

  GraphDraft& g_;
  std::map<std::pair<u32, u32>, u32> sums_;  // of (input, group)
};

}  // namespace pteron::convert
