// SPDX-License-Identifier: BSD-3-Clause
// Linears and embeddings over weights in groups, exact, with ops that every ExecuTorch exporter knows.
//
// A linear over 4-bit planes is, with scale·(16·h + l + shift) + minimum for a weight,
//     y = linear_q4gsw(x, l) [+ 16·linear_q4gsw(x, h)] [+ shift·mm(s, scales)] [+ linear(s, minima)],
// where s are the sums of x over each group, and all planes have the same scales. An embedding is
//     y = embedding_q4gsw(l) [+ 16·embedding_q4gsw(h)] [+ shift·embedding(scales)] [+ embedding(minima)],
// the last two repeated over each group. Factors are those of aten.add. The sums of an input are computed once for all
// linears that share it. Engines may run each of these as one kernel.
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
  u32 plane_linear(u32 x, const Weight& weight, u32 plane, u32 scales, const Weight* bias);
  u32 group_sums(u32 x, u32 group);
  u32 rows_of(u32 x);  // as a matrix

  GraphDraft& g_;
  std::map<std::pair<u32, u32>, u32> sums_;  // of (input, group)
};

}  // namespace pteron::convert
