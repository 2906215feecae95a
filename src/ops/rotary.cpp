// SPDX-License-Identifier: BSD-3-Clause
// Rotary position embeddings.
#include "ops/common.h"

namespace pteron::ops {
namespace {

struct Params {
  u32 pairs, rotated, heads, positions, dim, first, table_width, count;
};

Status rotate(Plan& op, const TensorArg& x, const TensorArg& cosines, const TensorArg& sines, const TensorArg& y,
              u32 first, bool interleaved) {
  TRY_DO(op.resize(y, x.shape()));
  if (y.numel() == 0) return {};
  const u32 width = cosines.dim(-1), dim = x.dim(-1);
  const u32 rotated = interleaved ? width : width / 2;
  const u32 pairs = dim - rotated;
  const u32 count = u32(x.numel() / dim * pairs);
  const Spec spec = Spec()
                        .flag("INTERLEAVED", interleaved)
                        .input("x", x.dtype())
                        .input("cosines", cosines.dtype())
                        .output("y", y.dtype());
  return op.dispatch({kernels::rotary, spec}, {x, cosines, sines, y},
                     Params{pairs, rotated, x.dim(-2), x.dim(-3), dim, first, width, count}, one_thread_per(count, 64));
}

Status check(Plan& op, const TensorArg& x, const TensorArg& cosines, const TensorArg& sines, const TensorArg& y,
             bool interleaved) {
  REQUIRE(op, x.rank() >= 3, "rotary embedding needs [.., positions, heads, dim], not ", x.shape());
  REQUIRE(op, is_float(x.dtype()) && is_float(cosines.dtype()), "rotary embedding needs floating-point tensors, not ",
          x.dtype());
  REQUIRE(op, x.dtype() == y.dtype(), "the result is ", y.dtype(), ", but the input is ", x.dtype());
  REQUIRE(op, cosines.dtype() == sines.dtype() && cosines.shape() == sines.shape(), "cosines ", cosines.shape(),
          " and sines ", sines.shape(), " differ");
  REQUIRE(op, cosines.rank() >= 2 && cosines.dim(-1) > 0, "the tables must be [positions, angles], not ",
          cosines.shape());
  const u32 rotated = interleaved ? 2 * cosines.dim(-1) : cosines.dim(-1);
  REQUIRE(op, rotated % 2 == 0 && rotated <= x.dim(-1), "tables of width ", cosines.dim(-1), " don't fit heads of ",
          x.dim(-1), " elements");
  return {};
}

// et_vk.apply_rotary_emb(xq, xk, cos, sin, [xq_out, xk_out]): row s of the tables belongs to position s.
Status apply_rotary(Plan& op) {
  const TensorArg cosines = op.tensor(2), sines = op.tensor(3);
  for (u32 i = 0; i < 2; ++i) {
    const TensorArg x = op.tensor(i), y = op.list_output(4, i);
    TRY_DO(check(op, x, cosines, sines, y, true));
    REQUIRE_LIVE(op, cosines.numel() / cosines.dim(-1) >= x.dim(-3), "the tables have ",
                 cosines.numel() / cosines.dim(-1), " rows, but the input has ", x.dim(-3), " positions");
    TRY_DO(rotate(op, x, cosines, sines, y, 0, true));
  }
  return {};
}

// et_vk.apply_rotary_emb_hf(xq, xk, cos, sin, start, [xq_out, xk_out]): row start + s belongs to position s. Tables
// narrower than a head rotate only its first elements.
Status apply_rotary_hf(Plan& op) {
  const TensorArg cosines = op.tensor(2), sines = op.tensor(3);
  const i64 start = op.integer(4), rows = i64(cosines.numel() / std::max(cosines.dim(-1), 1u));
  for (u32 i = 0; i < 2; ++i) {
    const TensorArg x = op.tensor(i), y = op.list_output(5, i);
    TRY_DO(check(op, x, cosines, sines, y, false));
    REQUIRE_LIVE(op, start >= 0 && start + i64(x.dim(-3)) <= rows, "positions ", start, " to ", start + i64(x.dim(-3)),
                 " exceed the ", rows, " rows of the tables");
    TRY_DO(rotate(op, x, cosines, sines, y, u32(std::max<i64>(start, 0)), false));
  }
  return {};
}

}  // namespace

static constexpr OpEntry entries[] = {
    {"et_vk.apply_rotary_emb.default", apply_rotary},
    {"et_vk.apply_rotary_emb_hf.default", apply_rotary_hf},
};
extern const OpList rotary_ops = entries;

}  // namespace pteron::ops
