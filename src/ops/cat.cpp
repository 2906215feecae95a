// SPDX-License-Identifier: BSD-3-Clause
#include "ops/common.h"
#include "ops/walk.h"

namespace pteron::ops {
namespace {

constexpr u32 max_inputs = 7;  // and the result: a WebGPU device binds at least eight buffers

struct Params {
  u32 count, block, inverse, pad;
  u32 begins[8], ends[8];
};

constexpr std::string_view names[max_inputs] = {"x0", "x1", "x2", "x3", "x4", "x5", "x6"};
// Like torch, ignores inputs of shape [0].
bool is_skipped(const TensorArg& x) { return x.max().rank() == 1 && x.max()[0] == 0; }

// The result's shape.
Result<Shape> joined_shape(Plan& op, const TensorArg& y, u32 axis) {
  std::optional<Shape> shape;
  for (u32 i = 0; i < op.list_size(0); ++i) {
    const TensorArg x = op.list_tensor(0, i);
    REQUIRE(op, x.dtype() == y.dtype(), "input ", i, " is ", x.dtype(), ", but the result is ", y.dtype());
    if (is_skipped(x)) continue;
    if (!shape) {
      REQUIRE(op, axis < x.rank(), "axis ", axis, " is out of range for ", x.shape());
      shape = x.shape();
      continue;
    }
    REQUIRE(op, x.rank() == shape->rank(), "input ", i, " ", x.shape(), " has another rank than ", *shape);
    for (u32 d = 0; d < x.rank(); ++d)
      REQUIRE_LIVE(op, d == axis || x.shape()[d] == (*shape)[d], "input ", i, " ", x.shape(), " differs from ", *shape,
                   " in axis ", d);
    (*shape)[axis] += x.shape()[axis];
  }
  return shape.value_or(Shape{0});
}

// Whether each input begins and ends with a quad. One decision for all: of many dispatches each with its own, all
// combinations would be visited at load.
bool in_quads(Plan& op, const TensorArg& y, u32 axis) {
  const u32 inner = u32(y.shape().product(axis + 1, y.rank()));
  bool out = true;
  for (u32 i = 0; i < op.list_size(0); ++i) {
    const TensorArg x = op.list_tensor(0, i);
    if (x.max().numel() > 0) out &= x.shape()[axis] * inner % 4 == 0;
  }
  return op.branch(out);
}

// Puts `inputs` into y, the first of them at `begin` of every block. Returns where the last one ends.
Result<u32> put(Plan& op, std::span<const TensorArg> inputs, const TensorArg& y, u32 axis, u32 begin, bool all,
                bool in_quads) {
  const u32 inner = u32(y.shape().product(axis + 1, y.rank()));
  Params params{u32(y.numel()), y.shape()[axis] * inner, inverse_of(y.shape()[axis] * inner), 0, {}, {}};
  std::array<Operand, max_inputs + 1> operands;
  Spec spec;
  for (u32 i = 0; i < inputs.size(); ++i) {
    operands[i] = inputs[i];
    spec.bind_input_quads(names[i], inputs[i].dtype());
    params.begins[i] = begin;
    begin += inputs[i].shape()[axis] * inner;
    params.ends[i] = begin;
  }
  operands[inputs.size()] = y;
  spec.bind_output_quads("y", y.dtype()).flag("ROWS", in_quads).flag("PARTS", !all).num("COUNT", u32(inputs.size()));
  for (u32 i = u32(inputs.size()); i < max_inputs; ++i) spec.absent_input_quads(names[i], y.dtype());
  TRY_DO(op.dispatch({kernels::cat, spec}, std::span(operands).first(inputs.size() + 1),
                     std::as_bytes(std::span(&params, 1)), one_thread_per(ceil_div(params.count, 4), 64)));
  return begin;
}

// cat([x…], axis, out)
Status cat(Plan& op) {
  const TensorArg y = op.last_output();
  const u32 count = op.list_size(0);
  REQUIRE(op, count > 0, "there is nothing to concatenate");
  const u32 axis = op.axis(1, y.max().rank());
  TRY(const Shape shape, joined_shape(op, y, axis));
  TRY_DO(op.resize(y, shape));
  if (y.numel() == 0) return {};
  const bool quads = in_quads(op, y, axis);
  std::array<TensorArg, max_inputs> inputs;
  u32 gathered = 0, begin = 0;
  bool first = true;
  for (u32 i = 0; i < count; ++i) {
    const TensorArg x = op.list_tensor(0, i);
    if (x.max().numel() > 0) inputs[gathered++] = x;
    if (gathered == 0 || (gathered < max_inputs && i + 1 < count)) continue;
    TRY(begin, put(op, std::span(inputs).first(gathered), y, axis, begin, first && i + 1 == count, quads));
    gathered = 0;
    first = false;
  }
  return {};
}

}  // namespace

static constexpr OpEntry entries[] = {
    {"aten.cat.default", cat, "xs: tensors, axis: int = 0 -> out"_sig},
};
extern const OpList cat_ops = entries;

}  // namespace pteron::ops
