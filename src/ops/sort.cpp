// SPDX-License-Identifier: BSD-3-Clause
// Rows in order: sort, and the first of them, topk. Small blocks are ordered by counting, then merged pass by pass, two
// runs into one; a thread finds by bisection where its element goes. No thread waits for another, whatever the length.
#include "ops/common.h"

namespace pteron::ops {
namespace {

struct Params {
  u32 count, length, stride, run;
};
struct TakeParams {
  u32 count, length, stride, kept;
};

constexpr u32 block = 32;

// Rows along an axis: `outer` · `stride` of them, whose elements lie `stride` apart.
struct Lines {
  u64 outer;
  u32 length, stride;
  Lines(const Shape& shape, u32 axis)
      : outer(shape.product(0, axis)),
        length(shape.dim(i32(axis))),
        stride(u32(shape.product(axis + 1, shape.rank()))) {}
};

// Writes the first `kept` elements of every row in order, and where they were.
Status sort(Plan& op, u32 axis, u32 kept, bool descending, const TensorArg& values, const TensorArg& places) {
  const TensorArg x = op.tensor(0);
  REQUIRE(op, values.dtype() == x.dtype(), "the result is ", values.dtype(), ", but the input is ", x.dtype());
  REQUIRE(op, places.dtype() == DType::i32, "indices are integers, but the result is ", places.dtype());
  Shape shape = x.shape();
  if (x.rank() > 0) shape[axis] = kept;
  TRY_DO(op.resize(values, shape));
  TRY_DO(op.resize(places, shape));
  if (x.numel() == 0 || values.numel() == 0) return {};
  const Lines lines(x.shape(), axis);
  const u64 bytes = x.max().numel() * 2 * sizeof(u32);
  Operand from = op.scratch(bytes), to = op.scratch(bytes);
  const u32 count = u32(x.numel());
  const Spec spec = Spec().flag("DESCENDING", descending).flag("REAL", is_float(x.dtype())).input("x", x.dtype());
  TRY_DO(op.dispatch({kernels::sort_blocks, spec}, {x, from}, Params{count, lines.length, lines.stride, block},
                     one_thread_per(count, 64)));
  // As many passes as the longest rows need: shorter ones are copied by the last of them.
  for (u64 run = block; run < Lines(x.max(), axis).length; run *= 2) {
    TRY_DO(op.dispatch(kernels::sort_merge, {from, to}, Params{count, lines.length, lines.stride, u32(run)},
                       one_thread_per(count, 64)));
    std::swap(from, to);
  }
  const u32 written = u32(values.numel());
  return op.dispatch({kernels::sort_take, Spec().input("x", x.dtype()).output_quads("y", values.dtype())},
                     {x, from, values, places}, TakeParams{written, lines.length, lines.stride, kept},
                     one_thread_per(ceil_div(written, 4), 64));
}

// sort(x, axis, descending, [values, indices])
Status sort_all(Plan& op) {
  const TensorArg x = op.tensor(0);
  const u32 axis = op.axis(1, x.rank());
  return sort(op, axis, x.shape().dim(i32(axis)), op.flag(2), op.list_output(3, 0), op.list_output(3, 1));
}

// sort(x, stable, axis, descending, [values, indices]): it always is
Status sort_stable(Plan& op) {
  const TensorArg x = op.tensor(0);
  const u32 axis = op.axis(2, x.rank());
  return sort(op, axis, x.shape().dim(i32(axis)), op.flag(3), op.list_output(4, 0), op.list_output(4, 1));
}

// topk(x, k, axis, largest, sorted, [values, indices])
Status top_k(Plan& op) {
  const TensorArg x = op.tensor(0);
  const u32 axis = op.axis(2, x.rank());
  const i64 k = op.integer(1), length = x.shape().dim(i32(axis));
  REQUIRE_LIVE(op, k >= 0 && k <= length, "the best ", k, " are asked for, but rows of ", x.shape(), " have ", length);
  return sort(op, axis, u32(std::clamp<i64>(k, 0, length)), op.flag(3), op.list_output(5, 0), op.list_output(5, 1));
}

}  // namespace

static constexpr OpEntry entries[] = {
    {"aten.sort.default", sort_all, "x, axis: int = -1, descending: flag = false -> [values, indices]"_sig},
    {"aten.sort.stable", sort_stable,
     "x, stable: flag?, axis: int = -1, descending: flag = false -> [values, indices]"_sig},
    {"aten.topk.default", top_k,
     "x, k: int, axis: int = -1, largest: flag = true, sorted: flag = true -> [values, indices]"_sig},
};
extern const OpList sort_ops = entries;

}  // namespace pteron::ops
