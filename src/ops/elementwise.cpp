// SPDX-License-Identifier: BSD-3-Clause
#include "ops/elementwise.h"

#include <algorithm>
#include <bit>
#include <limits>

namespace pteron::ops {
namespace {

constexpr u32 max_inputs = 4;

struct Params {
  u32 count, rank;
  u32 s0, s1;  // f32 or i32 bits
  u32 dims[8];
  u32 strides[6][8];
};

// How an input is indexed: like the output, always its one element, or through strides.
enum Mode : u32 { flat, single, strided };

constexpr std::string_view names[] = {"a", "b", "c", "d"};
constexpr std::string_view loads[max_inputs][3] = {
    {"fn a_at(i: u32) -> V { return V(a_get(i)); }", "fn a_at(i: u32) -> V { return V(a_get(0u)); }",
     "fn a_at(i: u32) -> V { return V(a_get(strided(0u, i))); }"},
    {"fn b_at(i: u32) -> V { return V(b_get(i)); }", "fn b_at(i: u32) -> V { return V(b_get(0u)); }",
     "fn b_at(i: u32) -> V { return V(b_get(strided(1u, i))); }"},
    {"fn c_at(i: u32) -> V { return V(c_get(i)); }", "fn c_at(i: u32) -> V { return V(c_get(0u)); }",
     "fn c_at(i: u32) -> V { return V(c_get(strided(2u, i))); }"},
    {"fn d_at(i: u32) -> V { return V(d_get(i)); }", "fn d_at(i: u32) -> V { return V(d_get(0u)); }",
     "fn d_at(i: u32) -> V { return V(d_get(strided(3u, i))); }"},
};
constexpr std::string_view elements[] = {
    "",
    "fn element(i: u32) -> y_val { return apply(a_at(i)); }",
    "fn element(i: u32) -> y_val { return apply(a_at(i), b_at(i)); }",
    "fn element(i: u32) -> y_val { return apply(a_at(i), b_at(i), c_at(i)); }",
    "fn element(i: u32) -> y_val { return apply(a_at(i), b_at(i), c_at(i), d_at(i)); }",
};

u32 bits_of(f64 value, bool floating) {
  if (floating) return std::bit_cast<u32>(f32(value));
  return u32(i32(std::clamp(value, -2147483648.0, 2147483647.0)));
}

// Merges neighbouring axes that every input walks through in the same way.
void merge_axes(Params& params, u32 inputs) {
  u32 kept = 0;
  for (u32 axis = 0; axis < params.rank; ++axis) {
    if (params.dims[axis] == 1) continue;
    bool merged = kept > 0;
    for (u32 i = 0; i < inputs && merged; ++i)
      merged = params.strides[i][kept - 1] == params.strides[i][axis] * params.dims[axis];
    if (merged) {
      params.dims[kept - 1] *= params.dims[axis];
      for (u32 i = 0; i < inputs; ++i) params.strides[i][kept - 1] = params.strides[i][axis];
    } else {
      params.dims[kept] = params.dims[axis];
      for (u32 i = 0; i < inputs; ++i) params.strides[i][kept] = params.strides[i][axis];
      ++kept;
    }
  }
  params.rank = kept;
}

void set_strides(u32 (&strides)[8], const Shape& input, const Shape& output) {
  u32 stride = 1;
  for (u32 i = 0; i < output.rank(); ++i) {
    const u32 axis = output.rank() - 1 - i;
    const u32 size = i < input.rank() ? input.dim(-1 - i32(i)) : 1;
    strides[axis] = size == 1 ? 0 : stride;
    stride *= size;
  }
}

}  // namespace

Result<Shape> broadcast(const Shape& a, const Shape& b) {
  const u32 rank = std::max(a.rank(), b.rank());
  Shape out;
  for (u32 i = 0; i < rank; ++i) {
    const u32 x = a.dim(i32(i) - i32(rank)), y = b.dim(i32(i) - i32(rank));  // 1 where an axis is missing
    if (x != y && x != 1 && y != 1) return invalid("shapes ", a, " and ", b, " can't be broadcast together");
    out.push_back(x == 1 ? y : x);
  }
  return out;
}

Status elementwise(Plan& op, std::span<const TensorArg> inputs, const TensorArg& y, std::string_view expression,
                   Scalars scalars) {
  Shape shape = inputs[0].shape();
  for (const TensorArg& input : inputs.subspan(1)) {
    TRY(shape, broadcast(shape, input.shape()));
  }
  TRY_DO(op.resize(y, shape));
  if (y.numel() == 0) return {};

  const bool floating = is_float(y.dtype()) || std::any_of(inputs.begin(), inputs.end(),
                                                           [](const TensorArg& t) { return is_float(t.dtype()); });
  Params params{};
  params.count = u32(y.numel());
  params.s0 = bits_of(scalars.s0, floating);
  params.s1 = bits_of(scalars.s1, floating);
  params.rank = shape.rank();
  std::copy(shape.begin(), shape.end(), params.dims);

  Spec spec;
  spec.type("V", floating ? DType::f32 : DType::i32);
  std::array<Operand, max_inputs + 1> operands;
  std::array<Mode, max_inputs> modes{};
  for (u32 i = 0; i < inputs.size(); ++i) {
    operands[i] = inputs[i];
    spec.bind_input(names[i], inputs[i].dtype());
    // Maximal shapes decide as far as they can, so that the kernel stays the same while shapes change.
    if (inputs[i].max().numel() == 1)
      modes[i] = single;
    else
      modes[i] = inputs[i].max() == y.max() && inputs[i].shape() == shape ? flat : strided;
    set_strides(params.strides[i], inputs[i].shape(), shape);
  }
  merge_axes(params, u32(inputs.size()));
  operands[inputs.size()] = y;
  spec.bind_output("y", y.dtype());
  for (u32 i = 0; i < inputs.size(); ++i) spec.code(loads[i][modes[i]]);
  spec.code(elements[inputs.size()]).expression(expression, u32(inputs.size()));
  return op.dispatch({kernels::elementwise, spec}, std::span(operands).first(inputs.size() + 1),
                     std::as_bytes(std::span(&params, 1)), one_thread_per_unit(y, 64));
}

namespace {

// op(a, out)
Status unary(Plan& op) {
  const TensorArg a = op.tensor(0), y = op.last_output();
  return elementwise(op, std::array{a}, y, op.entry().detail);
}

// op(a, b, out)
Status binary(Plan& op) {
  const TensorArg a = op.tensor(0), b = op.tensor(1), y = op.last_output();
  return elementwise(op, std::array{a, b}, y, op.entry().detail);
}

// op(a, b, alpha, out): s0 is alpha.
Status binary_alpha(Plan& op) {
  const TensorArg a = op.tensor(0), b = op.tensor(1), y = op.last_output();
  return elementwise(op, std::array{a, b}, y, op.entry().detail, {op.number_or(2, 1)});
}

}  // namespace

static constexpr OpEntry entries[] = {
    {"aten.add.Tensor", binary_alpha, "a + s0 * b"},
    {"aten.sub.Tensor", binary_alpha, "a - s0 * b"},
    {"aten.mul.Tensor", binary, "a * b"},
    {"aten.div.Tensor", binary, "a / b"},
    {"aten.sigmoid.default", unary, "1.0 / (1.0 + exp(-a))"},
};
extern const OpList elementwise_ops = entries;

}  // namespace pteron::ops
