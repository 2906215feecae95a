// SPDX-License-Identifier: BSD-3-Clause
// Tensors made of numbers. The file does not say their type: it is the result's.
#include "ops/elementwise.h"

#include <cmath>

namespace pteron::ops {
namespace {

Result<Shape> shape_of(Plan& op, const IntList& sizes) {
  REQUIRE(op, sizes.size() <= Shape::max_rank, "a tensor of rank ", sizes.size(), " is asked for; at most ",
          Shape::max_rank, " is supported");
  Shape shape;
  for (u32 i = 0; i < sizes.size(); ++i) {
    REQUIRE_LIVE(op, sizes[i] >= 0 && sizes[i] <= i64(UINT32_MAX), "the size of axis ", i, " is ", sizes[i]);
    shape.push_back(u32(sizes[i]));
  }
  return shape;
}

// Gives y, which is of `shape`, a number everywhere.
Status fill(Plan& op, const TensorArg& y, const Shape& shape, f64 value) {
  TRY_DO(op.resize(y, shape));
  if (y.dtype() == DType::boolean) value = value != 0;
  REQUIRE_LIVE(op, is_float(y.dtype()) || (value >= INT32_MIN && value <= INT32_MAX), "the value ", value,
               " does not fit in 32 bits; the GPU computes with int32");
  return generate(op, y, "s0", {value});
}

// full(sizes, value, …, out)
Status full(Plan& op) {
  const TensorArg y = op.last_output();
  TRY(const Shape shape, shape_of(op, op.ints(0)));
  return fill(op, y, shape, op.number(1));
}

// full_like(x, value, …, out)
Status full_like(Plan& op) {
  const TensorArg x = op.tensor(0), y = op.last_output();
  return fill(op, y, x.shape(), op.number(1));
}

// zeros(sizes, …, out), ones
template <int value>
Status all(Plan& op) {
  const TensorArg y = op.last_output();
  TRY(const Shape shape, shape_of(op, op.ints(0)));
  return fill(op, y, shape, value);
}

// zeros_like(x, …, out), ones_like
template <int value>
Status all_like(Plan& op) {
  const TensorArg x = op.tensor(0), y = op.last_output();
  return fill(op, y, x.shape(), value);
}

// scalar_tensor(value, …, out)
Status scalar_tensor(Plan& op) { return fill(op, op.last_output(), Shape(), op.number(0)); }

// native_dropout(x, p, train?, [out, mask]): without training x itself, and nothing is dropped.
Status dropout(Plan& op) {
  const TensorArg x = op.tensor(0), y = op.list_output(3, 0), mask = op.list_output(3, 1);
  REQUIRE_SUPPORTED(op, !op.flag(2) || op.number(1) == 0,
                    "dropout while training needs random numbers, which are not supported; export in eval mode");
  TRY_DO(op.resize(y, x.shape()));
  TRY_DO(copy(op, x, y));
  return fill(op, mask, x.shape(), 1);
}

// arange(start, end, step, …, out)
Status arange(Plan& op) {
  const TensorArg y = op.last_output();
  const f64 start = op.number(0), end = op.number(1), step = op.number(2);
  REQUIRE_LIVE(op, step != 0, "the step is 0");
  const f64 count = step == 0 ? 0 : std::ceil((end - start) / step);
  REQUIRE_LIVE(op, count >= 0 && count <= INT32_MAX, "from ", start, " to ", end, " in steps of ", step, " there are ",
               count, " numbers");
  const f64 last = start + (count - 1) * step;
  REQUIRE_LIVE(op, is_float(y.dtype()) || std::max(std::abs(start), std::abs(last)) <= INT32_MAX, "numbers from ",
               start, " to ", last, " don't fit in 32 bits; the GPU computes with int32");
  TRY_DO(op.resize(y, Shape{count >= 0 && count <= INT32_MAX ? u32(count) : 0}));
  return generate(op, y, "s0 + V(i) * s1", {start, step});
}

}  // namespace

static constexpr OpEntry entries[] = {
    {"aten.full.default", full, "sizes: ints, value: number, ... -> out"_sig},
    {"aten.full_like.default", full_like, "shape x, value: number, ... -> out"_sig, lanewise},
    {"aten.zeros.default", all<0>, "sizes: ints, ... -> out"_sig},
    {"aten.zeros_like.default", all_like<0>, "shape x, ... -> out"_sig, lanewise},
    {"aten.ones.default", all<1>, "sizes: ints, ... -> out"_sig},
    {"aten.ones_like.default", all_like<1>, "shape x, ... -> out"_sig, lanewise},
    {"aten.fill.Scalar", full_like, "shape x, value: number -> out"_sig, lanewise},
    // Memory that may hold anything holds zeros.
    {"aten.empty.memory_format", all<0>, "sizes: ints, ... -> out"_sig},
    {"aten.empty_strided.default", all<0>, "sizes: ints, strides: ints, ... -> out"_sig},
    {"dim_order_ops._empty_dim_order.default", all<0>, "sizes: ints, ... -> out"_sig},
    {"aten.scalar_tensor.default", scalar_tensor, "value: number, ... -> out"_sig},
    {"aten.native_dropout.default", dropout, "x, p: number, train: flag = true -> [out, mask]"_sig, lanewise},
    {"aten.arange.start_step", arange, "start: number = 0, end: number, step: number = 1, ... -> out"_sig},
};
extern const OpList fill_ops = entries;

}  // namespace pteron::ops
