// SPDX-License-Identifier: BSD-3-Clause
#include "ops/elementwise.h"

#include "ops/walk.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace pteron::ops {
namespace {

constexpr u32 max_inputs = 4;

struct Params {
  u32 count, rank;
  u32 s0, s1;  // f32 or i32 bits
  u32 s2, pad[3];
  Axes<max_inputs> axes;
};

constexpr std::string_view names[] = {"a", "b", "c", "d"};

// Maximal shapes decide as far as they can, so that the kernel stays the same while shapes change.
void add_loads(Plan& op, std::span<const TensorArg> inputs, const TensorArg& y, u32 row, Spec& spec) {
  const auto is_single = [](const TensorArg& x) { return x.max().numel() == 1; };
  // An axis that may have any size can be 1 in one of several inputs.
  const bool repeats =
      inputs.size() > 1 && op.branch(std::any_of(inputs.begin(), inputs.end(), [&](const TensorArg& x) {
        return x.max() == y.max() && x.shape() != y.shape();
      }));
  const auto is_flat = [&](const TensorArg& x) { return x.max() == y.max() && !repeats; };
  const bool walks =
      std::any_of(inputs.begin(), inputs.end(), [&](const TensorArg& x) { return !is_single(x) && !is_flat(x); });
  const Access walk = walks && op.branch(row % 4 == 0) ? Access::rows : Access::scattered;
  for (u32 i = 0; i < inputs.size(); ++i)
    spec.load(names[i], is_single(inputs[i]) ? Access::single : is_flat(inputs[i]) ? Access::flat : walk, i);
}

// Most kernels do without the longest snippet.
bool calls_special(std::string_view code) { return code.find("special_") != std::string_view::npos; }

// Runs the kernel for y, which has its shape.
Status run(Plan& op, std::span<const TensorArg> inputs, const TensorArg& y, std::string_view expression,
           Scalars scalars) {
  if (y.numel() == 0) return {};
  bool floating = scalars.real || is_float(y.dtype());
  for (const TensorArg& input : inputs) floating |= is_float(input.dtype());
  Params params{};
  params.count = u32(y.numel());
  params.s0 = scalar_bits(scalars.s0, floating);
  params.s1 = scalar_bits(scalars.s1, floating);
  params.s2 = scalar_bits(scalars.s2, floating);
  std::reverse_copy(y.shape().begin(), y.shape().end(), params.axes.dims);

  Spec spec;
  spec.type("V", floating ? DType::f32 : DType::i32);
  spec.use(floating ? "float_math" : "integer_math");
  if (calls_special(expression) || calls_special(scalars.functions)) spec.use("special_math");
  if (!scalars.functions.empty()) spec.code(scalars.functions);
  std::array<Operand, max_inputs + 1> operands;
  for (u32 i = 0; i < inputs.size(); ++i) {
    operands[i] = inputs[i];
    spec.bind_input_quads(names[i], inputs[i].dtype());
    set_strides(params.axes.strides[i], inputs[i].shape(), y.shape());
  }
  operands[inputs.size()] = y;
  spec.bind_output_quads("y", y.dtype());
  params.rank = params.axes.merge(y.rank());
  add_loads(op, inputs, y, params.axes.dims[0], spec);
  spec.expression(expression, u32(inputs.size()));
  return op.dispatch({kernels::elementwise, spec}, std::span(operands).first(inputs.size() + 1),
                     std::as_bytes(std::span(&params, 1)), one_thread_per(ceil_div(params.count, 4), 64));
}

}  // namespace

void set_strides(u32 (&strides)[8], const Shape& input, const Shape& output) {
  u32 stride = 1;
  for (u32 axis = 0; axis < output.rank(); ++axis) {
    const u32 size = axis < input.rank() ? input.dim(-1 - i32(axis)) : 1;
    strides[axis] = size == 1 ? 0 : stride;
    stride *= size;
  }
}

u32 scalar_bits(f64 value, bool floating) {
  if (floating) return std::bit_cast<u32>(f32(value));
  return std::isnan(value) ? 0 : u32(i32(std::clamp(value, -2147483648.0, 2147483647.0)));
}

Status check_fits(Plan& op, f64 value) {
  REQUIRE(op, value >= INT32_MIN && value <= INT32_MAX, "the number ", value,
          " does not fit in 32 bits; the GPU computes with int32");
  return {};
}

Status check_whole(Plan& op, f64 value, DType result, std::string_view what) {
  if (is_float(result)) return {};
  REQUIRE_LIVE(op, std::floor(value) == value, "the ", what, " ", value, " is not whole, but the result is ", result);
  REQUIRE_LIVE(op, result != DType::boolean || value == 0 || value == 1, "the ", what, " ", value,
               " does not fit in bool");
  return {};
}

Status check_byte(Plan& op, f64 value, DType type, std::string_view what) {
  if (type != DType::u8 && type != DType::i8) return {};
  const f64 least = type == DType::i8 ? -128 : 0;
  REQUIRE_LIVE(op, value >= least && value <= least + 255, "the ", what, " ", value, " does not fit in ", type);
  return {};
}

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
    auto joined = broadcast(shape, input.shape());
    if (!joined && op.settled()) return Failure(std::move(joined.error()));
    shape = joined ? *joined : y.max();
  }
  TRY_DO(op.resize(y, shape));
  return run(op, inputs, y, expression, scalars);
}

Status arithmetic(Plan& op, std::span<const TensorArg> inputs, const TensorArg& y, std::string_view expression,
                  Scalars scalars) {
  for (const TensorArg& input : inputs)
    REQUIRE(op, is_float(y.dtype()) || !is_float(input.dtype()), "the result is ", y.dtype(), ", but an input is ",
            input.dtype());
  return elementwise(op, inputs, y, expression, scalars);
}

Status generate(Plan& op, const TensorArg& y, std::string_view expression, Scalars scalars) {
  return run(op, {}, y, expression, scalars);
}

// pteron.elementwise(a, …, out), made by passes/elementwise_chains.cpp, which generates the function `fused`.
static Status fused(Plan& op) {
  static constexpr std::string_view calls[] = {"fused(a)", "fused(a, b)", "fused(a, b, c)", "fused(a, b, c, d)"};
  std::array<TensorArg, max_inputs> inputs{op.tensor(0)};
  u32 count = 1;
  while (count < max_inputs && !op.is_null(count)) inputs[count] = op.tensor(count), ++count;
  return arithmetic(op, std::span(inputs).first(count), op.last_output(), calls[count - 1], {.functions = op.code()});
}

static constexpr OpEntry entries[] = {
    {"pteron.elementwise", fused, "a, b?, c?, d? -> out"_sig, internal | lanewise},
};
extern const OpList elementwise_ops = entries;

}  // namespace pteron::ops
