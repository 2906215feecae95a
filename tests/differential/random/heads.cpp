// SPDX-License-Identifier: BSD-3-Clause
// Attention without caches, between permutations that it could do without, or nearly.
#include "differential/random/generator.h"

namespace pteron::differential {

// A tensor of [batch, head, position, dim], as one, or as a permutation of another.
u32 Generator::heads_of(const Sizes& sizes) {
  const Dim batch = sizes[0], heads = sizes[1], positions = sizes[2], dim = sizes[3];
  static constexpr i64 backwards[] = {0, -2, 1, -1};
  Sizes from = {batch, positions, heads, dim};
  std::vector<i64> axes{0, 2, 1, 3};
  switch (choices_.below(8)) {
    case 4: axes.assign(std::begin(backwards), std::end(backwards)); break;
    case 5: from = {positions, heads, batch, dim}, axes = {2, 1, 0, 3}; break;
    case 6: from = {dim, positions, heads, batch}, axes = {3, 2, 1, 0}; break;
    case 7: return some(sizes);
    default: break;
  }
  const u32 x = some(from), y = result(DType::f32, sizes, choices_.percent(20));
  op(choices_.percent(70) ? "aten.permute_copy.default" : "aten.permute.default", {x, b_.ints(axes), y});
  find(y)->read = true;
  if (choices_.percent(10)) op("aten.neg.default", {y, result(DType::f32, sizes)});
  if (choices_.percent(10) && find(x)->origin != Known::made && is_static(from)) elementwise_into(x, from);
  return y;
}

void Generator::heads() {
  const u32 kv_heads = 1 + choices_.below(2), heads = kv_heads * (1 + choices_.below(2));
  const Dim batch{1 + choices_.below(2)}, dim{choices_.percent(60) ? 4u : 3u},
      queries{is_live_ ? rows_ : 1 + choices_.below(4), is_live_},
      keys = choices_.percent(50) ? queries : Dim{1 + choices_.below(4)};
  const Sizes q_sizes{batch, {heads}, queries, dim},
      k_sizes{choices_.percent(80) ? batch : Dim{1}, {kv_heads}, keys, dim};
  const u32 q = heads_of(q_sizes), k = heads_of(k_sizes), v = choices_.percent(10) ? k : heads_of(k_sizes);
  const bool torchs = choices_.percent(70), causal = torchs && choices_.percent(25);
  u32 mask = null();
  if (!causal && choices_.percent(40)) {
    const Sizes sizes = narrower({queries, keys});
    mask = torchs && choices_.percent(50) ? input(DType::boolean, sizes, {Fill::truth}) : some(sizes);
  }
  const u32 y = result(DType::f32, q_sizes);
  if (torchs)
    op("aten.scaled_dot_product_attention.default",
       {q, k, v, mask, b_.number(0), b_.boolean(causal), null(), b_.boolean(heads != kv_heads), y});
  else
    op("et_vk.sdpa.default", {q, k, v, mask, choices_.percent(50) ? null() : b_.number(0.5), y});
  if (choices_.percent(15)) mutate();
  if (!choices_.percent(80)) return;
  find(y)->read = true;
  op("aten.permute_copy.default", {y, b_.ints({0, 2, 1, 3}), result(DType::f32, {batch, queries, {heads}, dim})});
  if (choices_.percent(15)) op("aten.neg.default", {y, result(DType::f32, q_sizes)});
}

}  // namespace pteron::differential
