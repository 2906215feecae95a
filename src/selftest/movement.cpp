// SPDX-License-Identifier: BSD-3-Clause
#include "base/text.h"
#include "selftest/trial.h"

namespace pteron::selftest {
namespace {

void permute(Trials& trials, const Shape& shape, DType dtype) {
  Trial& t = trials.emplace_back(str("permute ", dtype, " ", shape), 0);
  const Array x = integers(shape, -99, 99);
  Array y({shape[2], shape[0], shape[1]});
  for (u32 i = 0; i < shape[0]; ++i)
    for (u32 j = 0; j < shape[1]; ++j)
      for (u32 k = 0; k < shape[2]; ++k) y.at({k, i, j}) = x.at({i, j, k});
  t.run("aten.permute_copy.default", {Operand(x, dtype), {2, 0, 1}}, {{y, dtype}});
}

void slice(Trials& trials) {
  Trial& t = trials.emplace_back("slice", 0);
  const Array x = random({9, 5});
  Array y({3, 5});
  for (u32 i = 0; i < 3; ++i)
    for (u32 j = 0; j < 5; ++j) y.at({i, j}) = x.at({1 + 3 * i, j});
  t.run("aten.slice_copy.Tensor", {x, 0, 1, 9, 3}, {y});
}

void clone(Trials& trials) {
  Trial& t = trials.emplace_back("clone", 0);
  const Array x = random({3, 7});
  t.run("aten.clone.default", {x}, {x});
}

void cat(Trials& trials, const Shape& a_shape, const Shape& b_shape, DType dtype) {
  Trial& t = trials.emplace_back(str("cat ", dtype, " ", a_shape), 0);
  const Array a = integers(a_shape, -99, 99), b = integers(b_shape, -99, 99);
  Array y({a_shape[0], a_shape[1] + b_shape[1]});
  for (u32 i = 0; i < y.shape[0]; ++i)
    for (u32 j = 0; j < y.shape[1]; ++j) y.at({i, j}) = j < a_shape[1] ? a.at({i, j}) : b.at({i, j - a_shape[1]});
  t.run("aten.cat.default", {std::vector<Operand>{{a, dtype}, {b, dtype}}, 1}, {{y, dtype}});
}

void pad(Trials& trials) {
  Trial& t = trials.emplace_back("pad", 0);
  const Array x = random({3, 5});
  Array y = map(Array({4, 8}), [](f64) { return 7.0; });
  for (u32 i = 0; i < 3; ++i)
    for (u32 j = 0; j < 5; ++j) y.at({i + 1, j + 2}) = x.at({i, j});
  t.run("aten.constant_pad_nd.default", {x, {2, 1, 1, 0}, 7}, {y});
}

void bags(Trials& trials) {
  Trial& t = trials.emplace_back("embedding_bag");
  const Array table = random({7, 3}), index = integers({5}, 0, 6);
  Array offsets({2}), y({2, 3});
  offsets.v[1] = 2;
  for (u32 i = 0; i < 5; ++i)
    for (u32 j = 0; j < 3; ++j) y.at({i < 2 ? 0u : 1u, j}) += table.at({u32(index.v[i]), j});
  const u32 rows = t.give(table), tokens = t.give(index, DType::i32), starts = t.give(offsets, DType::i32);
  const u32 no = t.boolean(false), out = t.expect(y);
  t.op("aten._embedding_bag.default",
       {rows, tokens, starts, no, t.integer(0), no, t.null(), no, t.integer(-1), t.list({out})});
}

void take(Trials& trials) {
  Trial& t = trials.emplace_back("embedding", 0);
  const Array table = random({11, 6}), index = integers({5}, 0, 10);
  Array y({5, 6});
  for (u32 i = 0; i < 5; ++i)
    for (u32 j = 0; j < 6; ++j) y.at({i, j}) = table.at({u32(index.v[i]), j});
  t.run("aten.embedding.default", {kept(table), Operand(index, DType::i32)}, {y});
}

void gather(Trials& trials) {
  Trial& t = trials.emplace_back("gather", 0);
  const Array x = random({4, 9}), index = integers({4, 3}, 0, 8);
  Array y({4, 3});
  for (u32 i = 0; i < 4; ++i)
    for (u32 j = 0; j < 3; ++j) y.at({i, j}) = x.at({i, u32(index.at({i, j}))});
  t.run("aten.gather.default", {x, 1, Operand(index, DType::i32)}, {y});
}

}  // namespace

void add_movement(Trials& trials) {
  permute(trials, {3, 5, 7}, DType::f32);
  permute(trials, {4, 3, 8}, DType::f32);
  permute(trials, {3, 5, 7}, DType::i8);
  slice(trials);
  clone(trials);
  cat(trials, {3, 5}, {3, 2}, DType::f32);
  cat(trials, {4, 8}, {4, 4}, DType::f32);
  cat(trials, {3, 5}, {3, 2}, DType::i8);
  pad(trials);
  bags(trials);
  take(trials);
  gather(trials);
}

}  // namespace pteron::selftest
