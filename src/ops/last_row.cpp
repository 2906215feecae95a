// SPDX-License-Identifier: BSD-3-Clause
// Epilogues of a generator: the best elements of the last row of an output, so that a step reads back bytes.
#include "ops/common.h"

namespace pteron::ops {
namespace {

struct Params {
  u32 first, width, k;
};

Params last_row(const TensorArg& x, u32 k) {
  const u32 width = x.dim(-1);
  return {u32(x.numel()) - width, width, k};
}

// Many workgroups find a candidate each, one picks from those.
Status arg_max_in_parts(Plan& op, const TensorArg& x, const TensorArg& y) {
  constexpr u32 part = 1024, threads = 256;
  struct JoinParams {
    u32 parts, rounds;
  };
  const Params row = last_row(x, 1);
  const u32 parts = ceil_div(row.width, part);
  const Operand found = op.scratch(u64(parts) * 8);
  TRY_DO(op.dispatch({kernels::arg_max_parts, Spec().input("x", x.dtype())}, {x, found},
                     Params{row.first, row.width, parts}, one_group_per(parts)));
  return op.dispatch({kernels::arg_max_join, Spec()}, {found, y}, JoinParams{parts, ceil_div(parts, threads)},
                     one_group_per(1));
}

// pteron.last_arg_max(x, out)
Status last_arg_max(Plan& op) {
  const TensorArg x = op.tensor(0), y = op.output(1);
  REQUIRE(op, x.rank() >= 1 && x.dim(-1) > 0, "the input has no elements");
  TRY_DO(op.resize(y, Shape{1}));
  if (op.device().adapter.type != gpu::AdapterType::cpu) return arg_max_in_parts(op, x, y);
  return op.dispatch({kernels::last_arg_max, Spec().input("x", x.dtype())}, {x, y}, last_row(x, 1), one_group_per(1));
}

// pteron.last_top_k(x, k, [values, indices])
Status last_top_k(Plan& op) {
  const TensorArg x = op.tensor(0), values = op.list_output(2, 0), indices = op.list_output(2, 1);
  const u32 k = u32(op.integer(1));
  REQUIRE(op, x.rank() >= 1 && x.dim(-1) >= k, "the input has fewer than ", k, " elements");
  TRY_DO(op.resize(values, Shape{k}));
  TRY_DO(op.resize(indices, Shape{k}));
  return op.dispatch({kernels::last_top_k, Spec().input("x", x.dtype())}, {x, values, indices}, last_row(x, k),
                     one_group_per(1));
}

}  // namespace

static constexpr OpEntry entries[] = {
    {"pteron.last_arg_max", last_arg_max, "x -> out"_sig, internal},
    {"pteron.last_top_k", last_top_k, "x, k: int -> [values, indices]"_sig, internal},
};
extern const OpList last_row_ops = entries;

}  // namespace pteron::ops
