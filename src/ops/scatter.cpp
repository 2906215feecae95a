// SPDX-License-Identifier: BSD-3-Clause
// Elements go where indices say. Threads meet in slots of scratch memory, one for each element of the result: there the
// last one is found, or they are joined by compare-and-exchange. Then the result is written whole.
#include "ops/scatter.h"

#include "ops/elementwise.h"
#include "ops/walk.h"

#include <bit>
#include <limits>

namespace pteron::ops {
namespace {

struct ClearParams {
  u32 words, even, odd;
};
struct Params {
  u32 count, rank, size, stride, fault, number, source_count, pad;
  Axes<3> axes;
};

u32 nothing_of(Scatter::How how, bool floating) {
  constexpr f32 infinity = std::numeric_limits<f32>::infinity();
  switch (how) {
    case Scatter::product: return floating ? std::bit_cast<u32>(1.0f) : 1;
    case Scatter::largest: return floating ? std::bit_cast<u32>(-infinity) : u32(INT32_MIN);
    case Scatter::smallest: return floating ? std::bit_cast<u32>(infinity) : u32(INT32_MAX);
    default: return 0;
  }
}

Params params_of(Plan& op, const TensorArg& y, const Scatter& s, bool floating) {
  Params params{};
  params.source_count = u32(s.layout.shape().numel());
  params.count = u32(y.numel());
  params.size = s.size;
  params.stride = s.stride;
  params.fault = op.fault_slot(s.rules.what, s.size);
  params.number = scalar_bits(s.number, floating);
  for (u32 i = 0; i < s.layout.rank; ++i) {
    const u32 from = s.layout.rank - 1 - i;
    params.axes.dims[i] = s.layout.sizes[from];
    params.axes.strides[0][i] = s.layout.x_strides[from];
    params.axes.strides[1][i] = s.layout.index_strides[from];
    params.axes.strides[2][i] = s.layout.source_strides[from];
  }
  params.rank = params.axes.merge(s.layout.rank);
  return params;
}

// Adds the source, or the number that stands for it.
Spec spec_of(const Scatter& s, bool floating) {
  Spec spec;
  spec.type("V", floating ? DType::f32 : DType::i32)
      .num("HOW", s.how)
      .flag("WITH_OLD", s.with_old)
      .flag("REAL", floating);
  return spec;
}
void bind_source(Spec& spec, const Scatter& s) {
  if (s.source)
    spec.bind_input("source", s.source->dtype()).use("scatter_source");
  else
    spec.use("scatter_number");
}

}  // namespace

Status run_scatter(Plan& op, const TensorArg& x, const TensorArg& y, const Scatter& s) {
  const bool floating = is_float(y.dtype());
  REQUIRE(op, x.dtype() == y.dtype(), "the result is ", y.dtype(), ", but the input is ", x.dtype());
  REQUIRE(op, !s.source || is_float(s.source->dtype()) == floating, "the result is ", y.dtype(), ", but the source is ",
          s.source->dtype());
  const bool joins = s.how != Scatter::overwrite;
  const u32 words = u32(y.numel()) * (joins ? 2 : 1);
  const Operand slots = op.scratch(y.max().numel() * (joins ? 2 : 1) * sizeof(u32));
  TRY_DO(op.dispatch(kernels::scatter_clear, {slots},
                     ClearParams{words, nothing_of(s.how, floating), joins ? 0 : nothing_of(s.how, floating)},
                     one_thread_per(words, 64)));
  const Params params = params_of(op, y, s, floating);
  // The source is read by who joins, or by who writes.
  Spec join = spec_of(s, floating), finish = join;
  join.bind_array("index", "i32").bind_array("slots", "atomic<u32>", gpu::BindingKind::read_write);
  join.bind_array("faults", "u32", gpu::BindingKind::read_write).flag("NEGATIVE", s.rules.negative);
  finish.bind_input_quads("x", x.dtype()).bind_array("slots", "u32").bind_output_quads("y", y.dtype());
  std::array<Operand, 4> joined{s.offsets, slots, op.fault()}, finished{x, slots, y};
  u32 joined_count = 3, finished_count = 3;
  bind_source(joins ? join : finish, s);
  if (s.source && joins) joined[joined_count++] = *s.source;
  if (s.source && !joins) finished[finished_count++] = *s.source;
  (joins ? finish : join).use("scatter_no_source");
  const auto bytes = std::as_bytes(std::span(&params, 1));
  TRY_DO(op.dispatch({kernels::scatter_join, join}, std::span(joined).first(joined_count), bytes,
                     one_thread_per(params.source_count, 64)));
  return op.dispatch({kernels::scatter_finish, finish}, std::span(finished).first(finished_count), bytes,
                     one_thread_per(ceil_div(params.count, 4), 64));
}

namespace {

// op(x, axis, index, source, …, out)
Status scatter_along(Plan& op, Scatter s) {
  const TensorArg x = op.tensor(0), index = op.tensor(2), y = op.last_output();
  const u32 axis = op.axis(1, x.rank());
  REQUIRE(op, index.dtype() == DType::i32, "indices must be int32 or int64, not ", index.dtype());
  REQUIRE(op, index.rank() == x.rank() && (!s.source || s.source->rank() == x.rank()), "indices ", index.shape(),
          " can't be used for ", x.shape());
  const auto x_strides = strides_of(x.shape()), index_strides = strides_of(index.shape());
  const auto source_strides = s.source ? strides_of(s.source->shape()) : std::array<u32, Shape::max_rank>{};
  for (u32 i = 0; i < x.rank(); ++i) {
    REQUIRE_LIVE(op, i == axis || index.shape()[i] <= x.shape()[i], "indices ", index.shape(), " exceed ", x.shape(),
                 " in axis ", i);
    REQUIRE_LIVE(op, !s.source || index.shape()[i] <= s.source->shape()[i], "indices ", index.shape(),
                 " exceed the source ", s.source->shape(), " in axis ", i);
    s.layout.add_axis(index.shape()[i], i == axis ? 0 : x_strides[i], index_strides[i], source_strides[i]);
  }
  s.offsets = index;
  s.size = x.shape().dim(i32(axis));
  s.stride = x.rank() == 0 ? 1 : x_strides[axis];
  op.check_indices(index, s.size, s.rules.what, false);
  TRY_DO(op.resize(y, x.shape()));
  if (y.numel() == 0 || index.numel() == 0) return copy(op, x, y);
  return run_scatter(op, x, y, s);
}

Status scatter_source(Plan& op) { return scatter_along(op, {.source = op.tensor(3)}); }
Status scatter_value(Plan& op) {
  const f64 number = op.number(3);
  if (!is_float(op.last_output().dtype())) TRY_DO(check_fits(op, number));
  return scatter_along(op, {.number = number});
}
Status scatter_add(Plan& op) { return scatter_along(op, {.how = Scatter::sum, .source = op.tensor(3)}); }

// scatter_reduce(x, axis, index, source, how, with what was there, out)
Status scatter_reduce(Plan& op) {
  static constexpr std::string_view names[] = {"sum", "prod", "amax", "amin", "mean"};
  const std::string_view name = op.text(4);
  const auto found = std::ranges::find(names, name);
  REQUIRE(op, found != std::end(names), "the reduction '", name,
          "' is not known; it is 'sum', 'prod', 'mean', 'amax' or 'amin'");
  const auto how = Scatter::How(Scatter::sum + (found - std::begin(names)));
  return scatter_along(op, {.how = how, .with_old = op.flag(5), .source = op.tensor(3)});
}

}  // namespace

static constexpr OpEntry entries[] = {
    {"aten.scatter.src", scatter_source, "x, axis: int, indices, source -> out"_sig},
    {"aten.scatter.value", scatter_value, "x, axis: int, indices, value: number -> out"_sig},
    {"aten.scatter_add.default", scatter_add, "x, axis: int, indices, source -> out"_sig},
    {"aten.scatter_reduce.two", scatter_reduce,
     "x, axis: int, indices, source, how: text, include_self: flag = true -> out"_sig},
};
extern const OpList scatter_ops = entries;

}  // namespace pteron::ops
