// SPDX-License-Identifier: BSD-3-Clause
// Rotary position embeddings.
#include "ops/rotary.h"

namespace pteron::ops {
namespace {

struct Params {
  u32 pairs, rotated, dim, count;
  u32 middle, inner;                               // sizes of x's second and third axis
  u32 first, outer_step, middle_step, inner_step;  // in the tables, in elements
};

enum class Layout {
  halves,       // pairs (i, i + R/2), tables [rows, R]
  interleaved,  // pairs (2i, 2i + 1), tables [rows, R/2]
  paired,       // the same pairs, one table [rows, R] of cosine, sine, cosine, …
};

// Where the angles of x[o, m, i] lie: at first + o · steps[0] + m · steps[1] + i · steps[2], `width` of them.
struct Angles {
  u32 width = 0, first = 0;
  std::array<u32, 3> steps{};
};

// x is [outer, middle, inner, dim]; one of rank 3 has no inner axis.
Status rotate(Plan& op, const TensorArg& x, const TensorArg& cosines, const TensorArg& sines, const TensorArg& y,
              Layout layout, const Angles& angles) {
  REQUIRE(op, x.dtype() == y.dtype(), "the result is ", y.dtype(), ", but the input is ", x.dtype());
  TRY_DO(op.resize(y, x.shape()));
  if (x.numel() == 0 || y.numel() == 0) return {};
  const u32 dim = x.dim(-1), inner = x.rank() == 4 ? x.dim(2) : 1;
  const u32 rotated = layout == Layout::interleaved ? angles.width : angles.width / 2;
  const u32 pairs = dim - rotated;
  const u32 count = u32(x.rows() * pairs);
  const Spec spec = Spec()
                        .flag("INTERLEAVED", layout != Layout::halves)
                        .flag("PAIRED", layout == Layout::paired)
                        .input("x", x.dtype())
                        .input("cosines", cosines.dtype())
                        .input("sines", sines.dtype())
                        .output("y", y.dtype());
  const Params params{.pairs = pairs,
                      .rotated = rotated,
                      .dim = dim,
                      .count = count,
                      .middle = x.dim(1),
                      .inner = inner,
                      .first = angles.first,
                      .outer_step = angles.steps[0],
                      .middle_step = angles.steps[1],
                      .inner_step = angles.steps[2]};
  return op.dispatch({kernels::rotary, spec}, {x, cosines, sines, y}, params, one_thread_per(count, 64));
}

// et_vk.apply_rotary_emb(xq, xk, cos, sin, [xq_out, xk_out]) of [batch, positions, heads, dim]. Tables of rank 2 have a
// row for each position, those of rank 3, [positions, heads, angles], one for each of its heads.
Status apply_rotary(Plan& op) {
  const TensorArg cosines = op.tensor(2), sines = op.tensor(3);
  for (u32 i = 0; i < 2; ++i) {
    const TensorArg x = op.tensor(i), y = op.list_output(4, i);
    TRY_DO(check_rotary(op, x, cosines, sines, true));
    REQUIRE_LIVE(op, cosines.dim(0) >= x.dim(1), "the tables have ", cosines.dim(0), " rows, but the input has ",
                 x.dim(1), " positions: the context is full");
    const u32 width = cosines.dim(-1), heads = cosines.rank() == 3 ? cosines.dim(1) : 1;
    REQUIRE_LIVE(op, heads == 1 || heads == x.dim(2), "tables ", cosines.shape(), " don't fit ", x.dim(2), " heads");
    TRY_DO(
        rotate(op, x, cosines, sines, y, Layout::interleaved, {width, 0, {0, heads * width, heads == 1 ? 0 : width}}));
  }
  return {};
}

// Tables [positions, angles] for x[batch, positions, heads, dim]: position s has row start + s.
Result<Angles> rows_of_positions(Plan& op, const TensorArg& x, const TensorArg& tables, i64 start) {
  const i64 rows = tables.dim(0), end = saturating_add(start, x.dim(1));
  const bool shared = rows == 1 && start == 0;  // one row serves all
  REQUIRE_LIVE(op, shared || (start >= 0 && end <= rows), "positions ", start, " to ", end, " exceed the ", rows,
               " rows of the tables");
  const u32 width = tables.dim(-1);
  return Angles{width, u32(std::clamp<i64>(start, 0, rows)) * width, {0, shared ? 0 : width, 0}};
}

// Tables [batch, positions, angles] for x[batch, heads, positions, dim]. The op's definition takes batches from `start`
// on, as many as xq has heads: what that would leave out is no rotation that a model could mean.
Result<Angles> rows_of_batches(Plan& op, const TensorArg& x, u32 q_heads, const TensorArg& tables, i64 start) {
  const u32 batches = tables.dim(0), positions = tables.dim(1), width = tables.dim(2);
  REQUIRE_LIVE(op, start == 0, "tables ", tables.shape(), " of rank 3 must be taken from 0 on, not from ", start);
  REQUIRE_LIVE(op, batches <= std::max(q_heads, 1u), "of tables ", tables.shape(), " only ", q_heads,
               " batches would be taken, as many as there are heads");
  REQUIRE_LIVE(op, (batches == 1 || batches == x.dim(0)) && (positions == 1 || positions == x.dim(2)), "tables ",
               tables.shape(), " don't fit the input [batch, heads, positions, dim] = ", x.shape());
  return Angles{width, 0, {batches == 1 ? 0 : positions * width, 0, positions == 1 ? 0 : width}};
}

// et_vk.apply_rotary_emb_hf(xq, xk, cos, sin, start, [xq_out, xk_out]). The tables' rank says which axis of x has the
// positions. Tables narrower than a head rotate only its first elements.
Status apply_rotary_hf(Plan& op) {
  const TensorArg xq = op.tensor(0), cosines = op.tensor(2), sines = op.tensor(3);
  const i64 start = op.integer(4);
  for (u32 i = 0; i < 2; ++i) {
    const TensorArg x = op.tensor(i), y = op.list_output(5, i);
    TRY_DO(check_rotary(op, x, cosines, sines, false));
    TRY(const Angles angles, cosines.rank() == 2 ? rows_of_positions(op, x, cosines, start)
                                                 : rows_of_batches(op, x, xq.dim(1), cosines, start));
    TRY_DO(rotate(op, x, cosines, sines, y, Layout::halves, angles));
  }
  return {};
}

// et_vk.apply_rotary_emb_interleaved(x[B, N, C], angles, out): N·C angles in any shape, cosine and sine in turns.
Status apply_rotary_interleaved(Plan& op) {
  const TensorArg x = op.tensor(0), angles = op.tensor(1), y = op.output(2);
  REQUIRE(op, x.rank() == 3 && x.dim(-1) % 2 == 0, "rotary embedding needs [batch, positions, an even number], not ",
          x.shape());
  REQUIRE(op, is_float(x.dtype()) && is_float(angles.dtype()) && x.dtype() == y.dtype(),
          "rotary embedding needs floating-point tensors, not ", x.dtype(), " and ", angles.dtype());
  REQUIRE_LIVE(op, angles.numel() == u64(x.dim(-2)) * x.dim(-1), "angles ", angles.shape(), " should have ", x.dim(-1),
               " elements for each of ", x.dim(-2), " positions");
  return rotate(op, x, angles, angles, y, Layout::paired, {x.dim(-1), 0, {0, x.dim(-1), 0}});
}

}  // namespace

Status check_rotary(Plan& op, const TensorArg& x, const TensorArg& cosines, const TensorArg& sines, bool interleaved) {
  REQUIRE(op, x.rank() == 4, "rotary embedding needs a tensor of rank 4, not ", x.shape());
  REQUIRE(op, is_float(x.dtype()) && is_float(cosines.dtype()), "rotary embedding needs floating-point tensors, not ",
          x.dtype());
  REQUIRE(op, cosines.dtype() == sines.dtype() && cosines.shape() == sines.shape(), "cosines ", cosines.shape(),
          " and sines ", sines.shape(), " differ");
  REQUIRE(op, (cosines.rank() == 2 || cosines.rank() == 3) && cosines.dim(-1) > 0,
          "the tables must have two or three axes, not the shape ", cosines.shape());
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
