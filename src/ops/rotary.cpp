// SPDX-License-Identifier: BSD-3-Clause
// Rotary position embeddings.
#include "ops/rotary.h"

namespace pteron::ops {
namespace {

struct Params {
  u32 pairs, rotated, heads, positions, dim, first, table_width, count;
};

enum class Layout {
  halves,       // pairs (i, i + R/2), tables [rows, R]
  interleaved,  // pairs (2i, 2i + 1), tables [rows, R/2]
  paired,       // the same pairs, one table [rows, R] of cosine, sine, cosine, …
};

struct Rotation {
  Layout layout;
  u32 heads, positions;
  u32 first = 0;  // row of position 0
  u32 table_width = 0;
};

Status rotate(Plan& op, const TensorArg& x, const TensorArg& cosines, const TensorArg& sines, const TensorArg& y,
              const Rotation& r) {
  REQUIRE(op, x.dtype() == y.dtype(), "the result is ", y.dtype(), ", but the input is ", x.dtype());
  TRY_DO(op.resize(y, x.shape()));
  if (y.numel() == 0) return {};
  const u32 dim = x.dim(-1);
  const u32 rotated = r.layout == Layout::interleaved ? r.table_width : r.table_width / 2;
  const u32 pairs = dim - rotated;
  const u32 count = u32(x.numel() / dim * pairs);
  const Spec spec = Spec()
                        .flag("INTERLEAVED", r.layout != Layout::halves)
                        .flag("PAIRED", r.layout == Layout::paired)
                        .input("x", x.dtype())
                        .input("cosines", cosines.dtype())
                        .input("sines", sines.dtype())
                        .output("y", y.dtype());
  return op.dispatch({kernels::rotary, spec}, {x, cosines, sines, y},
                     Params{pairs, rotated, r.heads, r.positions, dim, r.first, r.table_width, count},
                     one_thread_per(count, 64));
}

// et_vk.apply_rotary_emb(xq, xk, cos, sin, [xq_out, xk_out]): row s of the tables belongs to position s.
Status apply_rotary(Plan& op) {
  const TensorArg cosines = op.tensor(2), sines = op.tensor(3);
  for (u32 i = 0; i < 2; ++i) {
    const TensorArg x = op.tensor(i), y = op.list_output(4, i);
    TRY_DO(check_rotary(op, x, cosines, sines, true));
    REQUIRE_LIVE(op, cosines.numel() / cosines.dim(-1) >= x.dim(-3), "the tables have ",
                 cosines.numel() / cosines.dim(-1), " rows, but the input has ", x.dim(-3),
                 " positions: the context is full");
    TRY_DO(rotate(op, x, cosines, sines, y, {Layout::interleaved, x.dim(-2), x.dim(-3), 0, cosines.dim(-1)}));
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
    TRY_DO(check_rotary(op, x, cosines, sines, false));
    REQUIRE_LIVE(op, start >= 0 && saturating_add(start, x.dim(-3)) <= rows, "positions ", start, " to ",
                 saturating_add(start, x.dim(-3)), " exceed the ", rows, " rows of the tables");
    const u32 first = u32(std::max<i64>(start, 0));
    TRY_DO(rotate(op, x, cosines, sines, y, {Layout::halves, x.dim(-2), x.dim(-3), first, cosines.dim(-1)}));
  }
  return {};
}

// et_vk.apply_rotary_emb_interleaved(x[B, N, C], angles, out): N·C angles in any shape, cosine and sine in turns.
Status apply_rotary_interleaved(Plan& op) {
  const TensorArg x = op.tensor(0), angles = op.tensor(1), y = op.output(2);
  REQUIRE(op, x.rank() >= 2 && x.dim(-1) % 2 == 0, "rotary embedding needs [.., positions, an even number], not ",
          x.shape());
  REQUIRE(op, is_float(x.dtype()) && is_float(angles.dtype()) && x.dtype() == y.dtype(),
          "rotary embedding needs floating-point tensors, not ", x.dtype(), " and ", angles.dtype());
  REQUIRE_LIVE(op, angles.numel() == u64(x.dim(-2)) * x.dim(-1), "angles ", angles.shape(), " should have ", x.dim(-1),
               " elements for each of ", x.dim(-2), " positions");
  return rotate(op, x, angles, angles, y, {Layout::paired, 1, x.dim(-2), 0, x.dim(-1)});
}

}  // namespace

Status check_rotary(Plan& op, const TensorArg& x, const TensorArg& cosines, const TensorArg& sines, bool interleaved) {
  REQUIRE(op, x.rank() >= 3, "rotary embedding needs [.., positions, heads, dim], not ", x.shape());
  REQUIRE(op, is_float(x.dtype()) && is_float(cosines.dtype()), "rotary embedding needs floating-point tensors, not ",
          x.dtype());
  REQUIRE(op, cosines.dtype() == sines.dtype() && cosines.shape() == sines.shape(), "cosines ", cosines.shape(),
          " and sines ", sines.shape(), " differ");
  REQUIRE(op, cosines.rank() >= 2 && cosines.dim(-1) > 0, "the tables must be [positions, angles], not ",
          cosines.shape());
  const u32 rotated = interleaved ? 2 * cosines.dim(-1) : cosines.dim(-1);
  REQUIRE(op, rotated % 2 == 0 && rotated <= x.dim(-1), "tables of width ", cosines.dim(-1), " don't fit heads of ",
          x.dim(-1), " elements");
  return {};
}

static constexpr OpEntry entries[] = {
    {"et_vk.apply_rotary_emb.default", apply_rotary, "xq, xk, cosines, sines -> [yq, yk]"_sig},
    {"et_vk.apply_rotary_emb_hf.default", apply_rotary_hf, "xq, xk, cosines, sines, start: int -> [yq, yk]"_sig},
    {"et_vk.apply_rotary_emb_interleaved.default", apply_rotary_interleaved, "x, angles -> out"_sig},
};
extern const OpList rotary_ops = entries;

}  // namespace pteron::ops
