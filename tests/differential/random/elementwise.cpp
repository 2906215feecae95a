// SPDX-License-Identifier: BSD-3-Clause
// Elementwise ops, alone and one behind another.
#include "differential/random/generator.h"

namespace pteron::differential {
namespace {

constexpr const char* unaries[] = {"aten.relu.default",    "aten.neg.default",   "aten.abs.default",
                                   "aten.sigmoid.default", "aten.tanh.default",  "aten.hardswish.default",
                                   "aten.sin.default",     "aten.exp.default",   "aten.sqrt.default",
                                   "aten.cos.default",     "aten.rsqrt.default", "aten.round.default"};
constexpr const char* binaries[] = {"aten.add.Tensor", "aten.mul.Tensor", "aten.sub.Tensor", "aten.minimum.default",
                                    "aten.div.Tensor"};
constexpr f64 scalars[] = {1, 0.5, -1, 2, 0, 0.25};

}  // namespace

u32 Generator::elementwise(u32 x, const Sizes& sizes, bool over) {
  const u32 kind = choices_.below(8);
  if (kind < 5) {
    const char* name = binaries[choices_.below(kind < 4 ? 4 : 5)];
    std::vector<u32> args{x, some(narrower(sizes))};
    if (choices_.percent(40)) std::swap(args[0], args[1]);
    const std::string_view n = name;
    if (n.starts_with("aten.add") || n.starts_with("aten.sub"))
      args.push_back(choices_.percent(60)   ? integer(1)
                     : choices_.percent(50) ? null()
                                            : b_.number(choices_.of(scalars)));
    args.push_back(result(DType::f32, sizes, over));
    const u32 y = args.back();
    op(name, std::move(args));
    return y;
  }
  if (kind < 7) {
    const char* name = unaries[choices_.below(choices_.percent(20) ? 12 : 7)];
    const u32 y = result(DType::f32, sizes, over);
    op(name, {x, y});
    return y;
  }
  const u32 low = choices_.percent(30) ? null() : b_.number(-choices_.of(scalars));
  const u32 high = choices_.percent(30) ? null() : integer(1 + choices_.below(3));
  const u32 y = result(DType::f32, sizes, over);
  op("aten.clamp.default", {x, low, high, y});
  return y;
}

void Generator::chain() {
  const Sizes sizes = base();
  u32 x = some(sizes);
  choices_.repeat(60, [&](u32 i) {
    if (i > 0) find(x)->read = true;
    x = elementwise(x, sizes, true);
    if (depth_++ == 0 && choices_.percent(8)) choices_.percent(50) ? mutate() : cache();
    --depth_;
    return i < 5;
  });
}

void Generator::compare_and_choose() {
  static constexpr const char* orders[] = {"aten.lt.Tensor", "aten.ge.Tensor", "aten.eq.Tensor"};
  const Sizes sizes = base(), other = narrower(sizes);
  const u32 a = some(sizes), b = some(other), c = result(DType::boolean, sizes);
  op(choices_.of(orders), {a, b, c});
  u32 truth = c;
  if (choices_.percent(30)) {
    truth = result(DType::boolean, sizes);
    op("aten.logical_not.default", {c, truth});
  }
  find(truth)->read = find(c)->read = true;
  const u32 y = choices_.percent(80) ? some(sizes) : a, z = some(narrower(sizes));
  op("aten.where.self", {truth, y, z, result(DType::f32, sizes)});
}

void Generator::integers() {
  static constexpr const char* names[] = {"aten.add.Tensor", "aten.mul.Tensor", "aten.minimum.default"};
  const Sizes sizes = base();
  u32 x = tensor(DType::i32, sizes);
  choices_.repeat(50, [&](u32 i) {
    const char* name = choices_.of(names);
    std::vector<u32> args{x, tensor(DType::i32, narrower(sizes))};
    if (name == names[0]) args.push_back(integer(1 + choices_.below(2)));
    args.push_back(result(DType::i32, sizes));
    x = args.back();
    op(name, std::move(args));
    return i < 3;
  });
  if (!choices_.percent(50)) return;
  find(x)->read = true;
  op("aten._to_copy.default",
     {x, null(), null(), null(), null(), b_.boolean(false), null(), result(DType::f32, sizes)});
}

void Generator::halves() {
  const Sizes sizes = base();
  const u32 x = some(sizes), h = result(DType::f16, sizes);
  op("aten._to_copy.default", {x, null(), null(), null(), null(), b_.boolean(false), null(), h});
  find(h)->read = true;
  const u32 other = tensor(DType::f16, narrower(sizes)), y = result(DType::f16, sizes);
  op("aten.mul.Tensor", {h, other, y});
  if (!choices_.percent(50)) return;
  find(y)->read = true;
  op("aten.sigmoid.default", {y, result(DType::f16, sizes)});
}

void Generator::fill() {
  const Sizes sizes = base();
  const u32 list = size_list(sizes), y = result(DType::f32, sizes);
  op("aten.full.default", {list, b_.number(choices_.of(scalars)), null(), null(), null(), null(), y});
}

}  // namespace pteron::differential
