// SPDX-License-Identifier: BSD-3-Clause
// Epilogues of a generator: what it wants to know of the last row of an output, or of every row, so that a step reads
// back bytes.
#include "ops/common.h"
#include "ops/routes.h"

namespace pteron::ops {
namespace {

struct Params {
  u32 first, width, rows, k;
};

Result<Params> rows_of(Plan& op, const TensorArg& x, bool all, u32 k) {
  REQUIRE(op, x.rank() >= 1 && x.dim(-1) >= k, "the input has fewer than ", k, " elements in a row");
  const u32 width = x.dim(-1), rows = u32(x.numel() / width);
  return Params{all ? 0 : u32(x.numel()) - width, width, all ? rows : 1, k};
}

Shape shape_of(const Params& p, bool all, bool several) {
  Shape out;
  if (all) out.push_back(p.rows);
  if (several || !all) out.push_back(p.k);
  return out;
}

// Each row is one number.
Status row_number(Plan& op, const graph::KernelSource& kernel) {
  const TensorArg x = op.tensor(0), y = op.output(2);
  const bool all = op.flag(1);
  TRY(const Params p, rows_of(op, x, all, 1));
  TRY_DO(op.resize(y, shape_of(p, all, false)));
  return op.dispatch({kernel, Spec().input("x", x.dtype())}, {x, y}, p, one_group_per(p.rows));
}

// Many workgroups find a candidate each, one picks from those.
Status arg_max_in_parts(Plan& op, const TensorArg& x, const TensorArg& y) {
  constexpr u32 part = 1024, threads = 256;
  struct PartParams {
    u32 first, width, parts;
  };
  struct JoinParams {
    u32 parts, rounds;
  };
  TRY(const Params row, rows_of(op, x, false, 1));
  TRY_DO(op.resize(y, Shape{1}));
  const u32 parts = ceil_div(row.width, part);
  const Operand found = op.scratch(u64(parts) * 8);
  TRY_DO(op.dispatch({kernels::arg_max_parts, Spec().input("x", x.dtype())}, {x, found},
                     PartParams{row.first, row.width, parts}, one_group_per(parts)));
  return op.dispatch({kernels::arg_max_join, Spec()}, {found, y}, JoinParams{parts, ceil_div(parts, threads)},
                     one_group_per(1));
}

// pteron.row_arg_max(x, all, out)
Status row_arg_max(Plan& op) {
  const TensorArg x = op.tensor(0);
  if (op.flag(1) || x.rank() == 0) return row_number(op, kernels::row_arg_max);  // several rows keep a GPU busy
  TRY(const std::string_view route, choose_route(op, "arg_max", {.rows = 1, .depth = 1, .columns = x.dim(-1)}));
  return route == "parts" ? arg_max_in_parts(op, x, op.output(2)) : row_number(op, kernels::row_arg_max);
}

// pteron.row_log_sum_exp(x, all, out)
Status row_log_sum_exp(Plan& op) { return row_number(op, kernels::row_log_sum_exp); }

// pteron.row_top_k(x, all, k, [values, indices])
Status row_top_k(Plan& op) {
  const TensorArg x = op.tensor(0), values = op.list_output(3, 0), indices = op.list_output(3, 1);
  const bool all = op.flag(1);
  TRY(const Params p, rows_of(op, x, all, u32(op.integer(2))));
  const u64 rounds = u64(p.k) * ceil_div(p.width, 256);
  REQUIRE_SUPPORTED(op, rounds <= max_rounds(op.device()), "the ", p.k, " best of ", p.width, " elements take ", rounds,
                    " rounds; this adapter does at most ", max_rounds(op.device()), ", so ask for fewer");
  TRY_DO(op.resize(values, shape_of(p, all, true)));
  TRY_DO(op.resize(indices, shape_of(p, all, true)));
  return op.dispatch({kernels::row_top_k, Spec().input("x", x.dtype())}, {x, values, indices}, p,
                     one_group_per(p.rows));
}

}  // namespace

static constexpr OpEntry entries[] = {
    {"pteron.row_arg_max", row_arg_max, "x, all: flag -> out"_sig, internal},
    {"pteron.row_log_sum_exp", row_log_sum_exp, "x, all: flag -> out"_sig, internal},
    {"pteron.row_top_k", row_top_k, "x, all: flag, k: int -> [values, indices]"_sig, internal},
};
extern const OpList row_best_ops = entries;

}  // namespace pteron::ops
