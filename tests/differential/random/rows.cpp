// SPDX-License-Identifier: BSD-3-Clause
// Rows, matrices, images and tables.
#include "differential/random/generator.h"

namespace pteron::differential {

void Generator::rows() {
  static constexpr const char* names[] = {"aten.sum.dim_IntList", "aten.mean.dim", "aten.amax.default"};
  Sizes sizes = base();
  if (sizes.empty()) sizes = {{2}, {width_}};
  const u32 x = some(sizes), axis = axis_of(sizes);
  if (sizes[axis].size == 0) return;
  if (choices_.percent(40)) {
    op("aten._softmax.default", {x, integer(axis), b_.boolean(false), result(DType::f32, sizes)});
    return;
  }
  const bool keep = choices_.percent(50);
  Sizes out = sizes;
  if (keep)
    out[axis] = {1};
  else
    out.erase(out.begin() + axis);
  const char* name = choices_.of(names);
  std::vector<u32> args{x, b_.ints({i64(axis)}), b_.boolean(keep)};
  if (name != names[2]) args.push_back(null());
  args.push_back(result(DType::f32, out));
  op(name, std::move(args));
}

void Generator::norm() {
  const Sizes sizes{{rows_, is_live_}, {width_}};
  u32 x = some(sizes);
  if (choices_.percent(50)) {  // behind a residual
    const u32 other = some(sizes), sum = result(DType::f32, sizes);
    op("aten.add.Tensor", either(x, other, {integer(1), sum}));
    x = sum;
    find(x)->read = true;
  }
  const u32 gain = some({{width_}});
  if (choices_.percent(50)) {
    op("et_vk.rms_norm.default", {x, gain, b_.number(1e-5), result(DType::f32, sizes)});
    return;
  }
  const u32 shift = choices_.percent(70) ? some({{width_}}) : null(), y = result(DType::f32, sizes, false);
  const Sizes one{{rows_, is_live_}, {1}};
  const u32 mean = result(DType::f32, one, false), rstd = result(DType::f32, one, false);
  op("aten.native_layer_norm.default", {x, b_.ints({i64(width_)}), choices_.percent(80) ? gain : null(), shift,
                                        b_.number(1e-5), b_.list({y, mean, rstd})});
}

void Generator::matrices() {
  const Dim rows{rows_, is_live_};
  const u32 columns = choices_.percent(60) ? width_ : 1 + choices_.below(6), x = some({rows, {width_}});
  const Sizes out{rows, {columns}};
  switch (choices_.below(4)) {
    case 0:
    case 1: {
      const u32 w = some({{columns}, {width_}}), bias = choices_.percent(40) ? some({{columns}}) : null();
      op("aten.linear.default", {x, w, bias, result(DType::f32, out)});
      break;
    }
    case 2: op("aten.mm.default", {x, some({{width_}, {columns}}), result(DType::f32, out)}); break;
    default: {
      const u32 self = some({{columns}}), w = some({{width_}, {columns}});
      op("aten.addmm.default", {self, x, w, b_.number(0.5), integer(2), result(DType::f32, out)});
    }
  }
}

void Generator::images() {
  const u32 in = 1 + choices_.below(4), out = 1 + choices_.below(4), size = 3 + choices_.below(3);
  const Sizes image{{1}, {in}, {size}, {size}};
  const u32 x = some(image);
  switch (choices_.below(3)) {
    case 0: {
      const u32 taps = 1 + choices_.below(3), pad = taps / 2, end = size + 2 * pad - taps + 1;
      const u32 w = some({{out}, {in}, {taps}, {taps}}), bias = choices_.percent(50) ? some({{out}}) : null();
      op("aten.convolution.default",
         {x, w, bias, b_.ints({1, 1}), b_.ints({pad, pad}), b_.ints({1, 1}), b_.boolean(false), b_.ints({0, 0}),
          integer(1), result(DType::f32, {{1}, {out}, {end}, {end}})});
      break;
    }
    case 1: {
      const u32 line = some({{1}, {in}, {width_}}), w = some({{out}, {in}, {1}});
      op("aten.convolution.default", {line, w, null(), b_.ints({1}), b_.ints({0}), b_.ints({1}), b_.boolean(false),
                                      b_.ints({0}), integer(1), result(DType::f32, {{1}, {out}, {width_}})});
      break;
    }
    default: {
      const u32 end = (size - 2) / 2 + 1;
      op("aten.avg_pool2d.default", {x, b_.ints({2, 2}), b_.ints({2, 2}), b_.ints({0, 0}), b_.boolean(false),
                                     b_.boolean(true), null(), result(DType::f32, {{1}, {in}, {end}, {end}})});
    }
  }
}

void Generator::look_up() {
  const u32 vocabulary = 2 + choices_.below(5), table = some({{vocabulary}, {width_}});
  const Sizes sizes{{rows_, is_live_}};
  // What the host was given may not be what is looked up, nor even a token.
  const bool replaced = is_static(sizes) && choices_.percent(20);
  const u32 tokens = input(DType::i32, sizes, {Fill::indices, vocabulary + (replaced ? 3 : 0)});
  if (replaced)
    op("aten.copy.default", {tokens, input(DType::i32, sizes, {Fill::indices, vocabulary}), b_.boolean(false), tokens});
  op("aten.embedding.default", {table, tokens, integer(-1), b_.boolean(false), b_.boolean(false),
                                result(DType::f32, {{rows_, is_live_}, {width_}})});
}

}  // namespace pteron::differential
