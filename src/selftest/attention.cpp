// SPDX-License-Identifier: BSD-3-Clause
#include "base/text.h"
#include "selftest/trial.h"

#include <cmath>

namespace pteron::selftest {
namespace {

// Of one query over the keys 0 … count - 1.
void attend(std::span<const f64> q, u32 count, const auto& key, const auto& value, std::span<f64> out) {
  std::vector<f64> weights(count);
  f64 total = 0;
  for (u32 c = 0; c < count; ++c) {
    f64 score = 0;
    for (u32 d = 0; d < q.size(); ++d) score += q[d] * key(c, d);
    total += weights[c] = std::exp(score / std::sqrt(f64(q.size())));
  }
  for (u32 d = 0; d < out.size(); ++d)
    for (u32 c = 0; c < count; ++c) out[d] += weights[c] / total * value(c, d);
}

// Pairs (2i, 2i + 1) of [1, position, head, width] turn by the angle of their position.
Array turned(const Array& x, const Array& cosines, const Array& sines) {
  const u32 width = x.shape[3], row = width * x.shape[2];
  Array y(x.shape);
  for (u32 i = 0; i < x.size(); i += 2) {
    const u32 angle = i / row * (width / 2) + i % width / 2;
    y.v[i] = x.v[i] * cosines.v[angle] - x.v[i + 1] * sines.v[angle];
    y.v[i + 1] = x.v[i] * sines.v[angle] + x.v[i + 1] * cosines.v[angle];
  }
  return y;
}

struct Step {
  u32 tokens, before, capacity;
  bool rotates = false;
};

constexpr u32 heads = 2, width = 8;

// Two heads share the only head of the caches, which hold `before` positions already.
Array attention(const Step& step, const Array& q, const Array& k, const Array& v, const Array& cache) {
  const auto part = [&](const Array& fresh) {
    return
        [&](u32 c, u32 d) { return c < step.before ? cache.v[c * width + d] : fresh.v[(c - step.before) * width + d]; };
  };
  Array y(q.shape);
  for (u32 i = 0; i < step.tokens * heads; ++i) {
    const size_t at = size_t(i) * width;
    attend(std::span(q.v).subspan(at, width), step.before + i / heads + 1, part(k), part(v),
           std::span(y.v).subspan(at, width));
  }
  return y;
}

void cached(Trials& trials, std::string_view route, const Step& step) {
  Trial& t = trials.emplace_back(
      str("attention ", route, " of ", step.tokens, step.rotates ? " rotated" : "", " tokens after ", step.before));
  t.options.routes = {str("attention=", route)};
  const Array q = random({1, step.tokens, heads, width}), k = random({1, step.tokens, 1, width}, -1, 1);
  const Array v = random({1, step.tokens, 1, width}), cache = random({1, step.capacity, 1, width}, -1, 1);
  u32 queries = t.give(q), keys = t.give(k);
  Array y(q.shape);
  if (step.rotates) {
    const Array c = random({step.tokens, width / 2}, -1, 1), s = random({step.tokens, width / 2}, 0, 1);
    const u32 given[] = {queries, keys, t.give(c), t.give(s)};
    queries = t.tensor(DType::f32, q.shape);
    keys = t.tensor(DType::f32, k.shape);
    t.op("et_vk.apply_rotary_emb.default", {given[0], given[1], given[2], given[3], t.list({queries, keys})});
    y = attention(step, turned(q, c, s), turned(k, c, s), v, cache);
  } else {
    y = attention(step, q, k, v, cache);
  }
  const u32 values = t.give(v), k_cache = t.keep(cache), v_cache = t.keep(cache);
  t.op("sdpa_with_kv_cache.default", {queries, keys, values, k_cache, v_cache, t.integer(step.before), t.integer(1),
                                      t.null(), t.number(0), t.boolean(true), t.null(), t.expect(y)});
}

// A 4-bit linear behind a rotated step: on a GPU it puts the splits of attention together.
void with_linear(Trials& trials) {
  constexpr u32 before = 600, capacity = 640, columns = 12, depth = heads * width;
  Trial& t = trials.emplace_back("attention of 1 rotated token after 600 with a linear", 1e-3);
  const Array q = random({1, 1, heads, width}), k = random({1, 1, 1, width}, -1, 1), v = random({1, 1, 1, width}),
              cache = random({1, capacity, 1, width}, -1, 1), c = random({1, width / 2}, -1, 1),
              s = random({1, width / 2}, 0, 1), scales = random({depth / 8, columns}, 0.01, 0.1),
              bytes = integers({columns, depth / 2}, 0, 255);
  const Array x = attention({1, before, capacity}, turned(q, c, s), turned(k, c, s), v, cache);
  Array y({1, columns});
  for (u32 n = 0; n < columns; ++n)
    for (u32 i = 0; i < depth; ++i) {
      const u32 byte = u32(bytes.at({n, i / 2})), code = i % 2 == 0 ? byte & 15 : byte >> 4;
      y.at({0, n}) += x.v[i] * (f64(code) - 8) * scales.at({i / 8, n});
    }
  const u32 given[] = {t.give(q), t.give(k), t.give(c), t.give(s)}, values = t.give(v),
            position = t.give(Array({1}, std::vector<f64>{before}), DType::i32), start = t.symint(),
            queries = t.tensor(DType::f32, q.shape), keys = t.tensor(DType::f32, k.shape),
            result = t.tensor(DType::f32, q.shape), flat = t.tensor(DType::f32, {1, depth});
  const u32 k_cache = t.keep(cache), v_cache = t.keep(cache);
  t.op("et_vk.select_as_symint.default", {position, t.integer(0), t.integer(0), start});
  t.op("et_vk.apply_rotary_emb.default", {given[0], given[1], given[2], given[3], t.list({queries, keys})});
  t.op("sdpa_with_kv_cache.default", {queries, keys, values, k_cache, v_cache, start, t.integer(1), t.null(),
                                      t.number(0), t.boolean(true), t.null(), result});
  t.op("aten.view_copy.default", {result, t.ints({1, i64(depth)}), flat});
  t.op("et_vk.linear_q4gsw.default",
       {flat, t.keep(bytes, DType::u8), t.keep(scales), t.integer(8), t.null(), t.expect(y)});
}

void plain(Trials& trials) {
  Trial& t = trials.emplace_back("sdpa");
  const Array q = random({1, 2, 5, 6}), k = random({1, 2, 9, 6}, -1, 1), v = random({1, 2, 9, 6});
  Array y(q.shape);
  for (u32 i = 0; i < 10; ++i) {
    const auto of = [head = i / 5](const Array& a) {
      return [&a, head](u32 c, u32 d) { return a.at({0, head, c, d}); };
    };
    const size_t at = size_t(i) * 6;
    attend(std::span(q.v).subspan(at, 6), 9, of(k), of(v), std::span(y.v).subspan(at, 6));
  }
  t.op("et_vk.sdpa.default", {t.give(q), t.give(k), t.give(v), t.null(), t.null(), t.expect(y)});
}

void masked(Trials& trials) {
  Trial& t = trials.emplace_back("sdpa with a boolean mask");
  const Array q = random({1, 1, 2, 6}), k = random({1, 1, 3, 6}, -1, 1), v = random({1, 1, 3, 6});
  Array mask({2, 3}), y(q.shape);
  for (u32 i = 0; i < 2; ++i) mask.at({i, i}) = 1;  // each query sees one key
  for (u32 i = 0; i < 12; ++i) y.v[i] = v.v[i];
  const u32 queries = t.give(q), keys = t.give(k), values = t.give(v), seen = t.give(mask, DType::boolean);
  t.op("aten.scaled_dot_product_attention.default",
       {queries, keys, values, seen, t.number(0), t.boolean(false), t.null(), t.boolean(false), t.expect(y)});
}

void rotary(Trials& trials) {
  Trial& t = trials.emplace_back("apply_rotary_emb");
  const Array q = random({1, 3, 2, 6}), k = random({1, 3, 1, 6}), c = random({3, 3}, -1, 1), s = random({3, 3}, 0, 1);
  const u32 queries = t.give(q), keys = t.give(k), cosines = t.give(c), sines = t.give(s);
  t.op("et_vk.apply_rotary_emb.default",
       {queries, keys, cosines, sines, t.list({t.expect(turned(q, c, s)), t.expect(turned(k, c, s))})});
}

}  // namespace

void add_attention(Trials& trials, bool subgroups) {
  for (std::string_view route : routes_of("attention", subgroups)) {
    cached(trials, route, {5, 0, 16});
    cached(trials, route, {1, 9, 16});
    cached(trials, route, {1, 600, 640});
    cached(trials, route, {3, 200, 256});
    cached(trials, route, {3, 4, 16, true});
  }
  with_linear(trials);
  plain(trials);
  masked(trials);
  rotary(trials);
}

}  // namespace pteron::selftest
