// SPDX-License-Identifier: BSD-3-Clause
// What lives from step to step, or is written within one: constants and inputs updated in place, caches, optimisers.
#include "differential/random/generator.h"

namespace pteron::differential {

// Writes over a constant or an input, whatever it is used for.
void Generator::mutate() {
  std::vector<u32> targets;
  for (const Known& k : known_)
    if (k.origin != Known::made && is_static(k.sizes) && k.fill.kind <= Fill::scales) targets.push_back(k.id);
  const u32 target = targets.empty() ? some({{width_}}) : name_of(targets[choices_.below(u32(targets.size()))]);
  const Known k = *find(target);
  find(target)->written = true;
  if (k.dtype != DType::f32 || choices_.percent(40)) {
    const u32 from = k.fill.kind == Fill::values ? tensor(k.dtype, k.sizes) : input(k.dtype, k.sizes, k.fill);
    if (choices_.percent(50))
      op("aten.clone.default", {from, null(), target});
    else
      op("aten.copy.default", {target, from, b_.boolean(false), target});
    return;
  }
  elementwise_into(target, k.sizes);
}

// target = target ∘ something
void Generator::elementwise_into(u32 target, const Sizes& sizes) {
  const u32 other = some(narrower(sizes)), into = name_of(target);
  find(into)->written = true;
  if (choices_.percent(50))
    op("aten.add.Tensor", either(target, other, {integer(1), into}));
  else
    op("aten.mul.Tensor", either(target, other, {into}));
}

// New 4-bit weights, over those of a linear or beside them.
void Generator::requantise() {
  const u32 depth = width_ % 8 == 0 ? width_ : 8;
  const Weight w = weight(choices_.percent(60) ? width_ : 3, depth);
  const u32 latent = some({{w.columns}, {w.depth}}), scales = name_of(w.scales);
  const bool over = choices_.percent(70);
  u32 y = over ? name_of(w.bytes) : b_.tensor(DType::u8, {w.columns, (w.depth + 1) / 2});
  if (over) find(y)->written = true;
  op("et_vk.q4gsw_requant.default", {latent, scales, integer(w.group), y});
  if (!over || choices_.percent(60)) {
    const Sizes sizes{{rows_, is_live_}, {w.depth}}, out{{rows_, is_live_}, {w.columns}};
    const u32 x = some(sizes);
    op("et_vk.linear_q4gsw.default",
       {x, over ? name_of(w.bytes) : y, name_of(w.scales), integer(w.group), null(), result(DType::f32, out)});
  }
}

void Generator::cache() {
  const u32 heads = 1 + choices_.below(2), dim = choices_.percent(50) ? 4 : 2, most = 1 + choices_.below(2);
  const Sizes sizes{{1}, {most + 3}, {heads}, {dim}}, part{{1}, {most}, {heads}, {dim}};
  const std::vector<u32> there = like(DType::f32, sizes, true);
  const u32 cache =
      !there.empty() && choices_.percent(50) ? there[choices_.below(u32(there.size()))] : constant(DType::f32, sizes);
  const auto product = [&](u32 a) {
    const u32 b = some(choices_.percent(70) ? sizes : narrower(sizes)), y = result(DType::f32, sizes, false);
    op("aten.mul.Tensor", either(a, b, {y}));
    return y;
  };
  u32 before = cache;
  if (choices_.percent(60)) before = product(name_of(cache));
  const u32 value = some(part), start = position(most + 3, most), into = name_of(cache);
  op("update_cache.default", {value, into, start, b_.tensor(DType::f32, {1})});
  find(into)->written = true;
  find(before)->read = true;
  if (choices_.percent(60)) {
    const u32 y = result(DType::f32, sizes);
    op("aten.add.Tensor", either(before, name_of(cache), {integer(1), y}));
  } else if (before != cache && choices_.percent(70)) {
    product(before);
  }
}

void Generator::attention() {
  const u32 kv_heads = 1 + choices_.below(2), heads = kv_heads * (1 + choices_.below(2)),
            dim = 4 + 4 * choices_.below(2);
  const u32 most = is_live_ ? rows_ : 1 + choices_.below(2), capacity = most + 4;
  const Dim positions{most, is_live_};
  const Sizes q_sizes{{1}, positions, {heads}, {dim}}, k_sizes{{1}, positions, {kv_heads}, {dim}};
  u32 q = some(q_sizes), k = some(k_sizes);
  const u32 v = some(k_sizes), start = position(capacity, most);
  if (choices_.percent(75)) {
    const bool interleaved = choices_.percent(50);
    u32 cosines = name_of(constant(DType::f32, {{capacity}, {interleaved ? dim / 2 : dim}}));
    u32 sines = name_of(constant(DType::f32, {{capacity}, {interleaved ? dim / 2 : dim}}));
    const u32 q_out = result(DType::f32, q_sizes, false), k_out = result(DType::f32, k_sizes, false);
    if (interleaved) {
      const u32 rows = is_live_ ? length() : integer(most), end = b_.symint();
      op("add", {start, rows, end});
      for (u32* table : {&cosines, &sines}) {
        const u32 part = result(DType::f32, {positions, {dim / 2}}, false);
        op("aten.slice_copy.Tensor", {*table, integer(0), start, end, integer(1), part});
        find(part)->read = true;
        *table = part;
      }
      op("et_vk.apply_rotary_emb.default", {q, k, cosines, sines, b_.list({q_out, k_out})});
    } else {
      op("et_vk.apply_rotary_emb_hf.default", {q, k, cosines, sines, start, b_.list({q_out, k_out})});
    }
    q = q_out, k = k_out;
    find(q)->read = find(k)->read = true;
  }
  if (choices_.percent(15)) mutate();
  const Sizes caches{{1}, {capacity}, {kv_heads}, {dim}};
  const u32 k_cache = constant(DType::f32, caches), v_cache = constant(DType::f32, caches);
  if (choices_.percent(20)) op("aten.neg.default", {name_of(k_cache), result(DType::f32, caches)});
  const u32 y = result(DType::f32, q_sizes, false), first = name_of(k_cache), second = name_of(v_cache);
  op("sdpa_with_kv_cache.default",
     {q, k, v, first, second, start, integer(1), null(), b_.number(0), b_.boolean(true), null(), y});
  find(first)->written = find(second)->written = true;
}

// A step of AdamW. Often nobody looks at its results, because they are its arguments.
void Generator::optimiser() {
  const Sizes sizes = choices_.percent(50) ? Sizes{{width_}} : Sizes{{3}, {width_}};
  std::vector<u32> updated;
  for (u32 i = 0; i < 3; ++i) {
    const Fill fill{i == 2 ? Fill::scales : Fill::values};
    updated.push_back(choices_.percent(80) ? name_of(constant(DType::f32, sizes, fill))
                                           : input(DType::f32, sizes, fill));
    find(updated.back())->written = true;
  }
  const u32 grad = some(sizes);
  for (u32 id : updated)
    if (find(id)->memory == find(grad)->memory) return;  // refused
  std::vector<u32> results;
  results.reserve(3);
  for (u32 i = 0; i < 3; ++i)
    results.push_back(choices_.percent(70) ? b_.tensor(DType::f32, shape_of(sizes)) : result(DType::f32, sizes, false));
  std::vector<u32> args{updated[0], updated[1], updated[2], grad};
  for (f64 v : {0.125, 0.875, 0.75, 0.0009765625, 0.0625, 0.125, 0.25}) args.push_back(b_.number(v));
  args.push_back(b_.list(results));
  op("et_vk.adamw_step.default", std::move(args));
  if (!choices_.percent(60)) return;
  op("aten.neg.default", {updated[choices_.below(3)], result(DType::f32, sizes)});
}

// A number that the host takes from an input, which may have been copied or written before.
void Generator::number_from_input() {
  const u32 size = 4, x = some({{size}, {width_}}), n = b_.symint();
  u32 at = input(DType::i32, {{1}}, {Fill::indices, size});
  if (choices_.percent(30)) {
    const u32 copy = b_.tensor(DType::i32, {1});
    op("aten.clone.default", {at, null(), copy});
    at = copy;
  } else if (choices_.percent(15)) {  // the host does not know what is there then
    op("aten.minimum.default", {at, constant(DType::i32, {{1}}, {Fill::indices, size}), at});
    may_be_refused_ = true;
  }
  op("et_vk.select_as_symint.default", {at, integer(0), integer(0), n});
  u32 index = n;
  if (choices_.percent(50)) {
    const u32 twice = b_.symint(), less = b_.symint();
    index = b_.symint();
    op("mul", {n, integer(2), twice});
    op("sub", {twice, n, less});
    op("floordiv", {less, integer(1 + choices_.below(2)), index});
  }
  op("aten.select_copy.int", {x, integer(0), index, result(DType::f32, {{width_}})});
}

}  // namespace pteron::differential
