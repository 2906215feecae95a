// SPDX-License-Identifier: BSD-3-Clause
// Attention, KV caches and rotary embedding.
#include "differential/reference/interpreter.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <stdexcept>

namespace pteron::reference {
namespace {

// value [.., S, H, D] into cache [.., C, H, D] from position `start` on.
Array written(const Array& value, Array cache, i64 start) {
  const size_t axis = size_t(value.rank() - 3);
  if (start < 0 || start + value.dims[axis] > cache.dims[axis]) throw std::runtime_error("the cache is full");
  const Dims strides = strides_of(cache.dims);
  each(value.dims, [&](const Dims& index, i64 i) {
    i64 offset = start * strides[axis];
    for (size_t a = 0; a < index.size(); ++a) offset += index[a] * strides[a];
    cache.data[size_t(offset)] = value.data[size_t(i)];
  });
  return cache;
}

// update_cache(value, cache, start, out): nobody may look at the result.
void update_cache(Call& op) { op.overwrite(1, written(op.tensor(0), op.tensor(1), op.integer(2))); }

// Where vectors are: q(batch, head, position) and the like give the first element's place.
using Place = std::function<i64(i64 batch, i64 head, i64 position)>;
struct Attention {
  const Array &q, &k, &v;
  Place q_at, k_at, v_at;
  i64 batches, heads, kv_heads, queries, keys;
  std::function<bool(i64 query, i64 key)> visible;
  const Array* mask;
  f64 scale;
  f64 unseeing = NAN;  // the answer to a query that sees no key
};

Array attend(Call& op, const Attention& a, const Dims& dims, const Place& y_at) {
  Array y = op.make(dims);
  const i64 dim = a.q.dim(-1), value_dim = a.v.dim(-1);
  each({a.batches, a.heads, a.queries}, [&](const Dims& index, i64) {
    const i64 batch = index[0], head = index[1], query = index[2], kv = head / (a.heads / a.kv_heads);
    std::vector<f64> scores(size_t(a.keys), -INFINITY);
    f64 most = -INFINITY, largest = 0;
    for (i64 key = 0; key < a.keys; ++key) {
      if (!a.visible(query, key)) continue;
      f64 dot = 0, terms = 0;
      for (i64 i = 0; i < dim; ++i) {
        const f64 term =
            a.q.data[size_t(a.q_at(batch, head, query) + i)] * a.k.data[size_t(a.k_at(batch, kv, key) + i)];
        dot += term, terms += std::abs(term);
      }
      f64& score = scores[size_t(key)];
      score = op.noisy(dot * a.scale, terms * std::abs(a.scale), f64(dim) + 4);
      if (a.mask) score += at(*a.mask, {batch, head, query, key});
      most = std::max(most, score), largest = std::max(largest, std::isfinite(score) ? std::abs(score) : 0);
    }
    f64 total = 0;
    for (f64& s : scores) total += s = s == -INFINITY ? 0 : std::exp(s - most);
    for (i64 i = 0; i < value_dim; ++i) {
      f64 sum = 0, terms = 0;
      for (i64 key = 0; key < a.keys; ++key) {
        const f64 term = scores[size_t(key)] * a.v.data[size_t(a.v_at(batch, kv, key) + i)];
        sum += term, terms += std::abs(term);
      }
      const f64 v = total == 0 ? a.unseeing : sum / total;
      y.data[size_t(y_at(batch, head, query) + i)] =
          op.noisy(v, total == 0 ? 0 : terms / total, f64(a.keys) + 32 + 8 * largest);
    }
  });
  return y;
}

// [batch, position, head, dim]
Place position_major(const Array& t) {
  return [&t](i64 b, i64 h, i64 s) { return ((b * t.dim(-3) + s) * t.dim(-2) + h) * t.dim(-1); };
}
// [.., head, position, dim]; one batch serves all.
Place head_major(const Array& t, i64 batches) {
  return [&t, batches](i64 b, i64 h, i64 s) {
    return (((batches > 1 ? b : 0) * t.dim(-3) + h) * t.dim(-2) + s) * t.dim(-1);
  };
}

i64 batches_of(const Array& t) { return t.size() / std::max<i64>(t.dim(-1) * t.dim(-2) * t.dim(-3), 1); }

// A mask's axes before the last three stand for the batch together.
Array as_mask(const Array& mask) {
  Array out = mask;
  out.dims = {batches_of(mask), mask.dim(-3), mask.dim(-2), mask.dim(-1)};
  return out;
}

void attend_cached(Call& op, const Array& k, const Array& v, i64 start, u32 first) {
  const Array& q = op.tensor(0);
  std::optional<Array> mask;
  if (!op.is_null(first)) mask = as_mask(op.tensor(first));
  const bool causal = op.flag_or(first + 2, !mask);
  Attention a{q, k, v, position_major(q), position_major(k), position_major(v)};
  a.batches = q.rank() == 4 ? q.dim(0) : 1;
  a.heads = q.dim(-2), a.kv_heads = k.dim(-2), a.queries = q.dim(-3);
  a.keys = !mask ? start + a.queries : mask->dim(-1) == 1 ? k.dim(-3) : mask->dim(-1);
  a.visible = [=](i64 query, i64 key) { return !causal || key <= query + start; };
  a.mask = mask ? &*mask : nullptr;
  a.scale = op.number_or(first + 3, 1 / std::sqrt(f64(q.dim(-1))));
  op.give(attend(op, a, q.dims, position_major(q)));
}

void sdpa_with_kv_cache(Call& op) {
  const i64 start = op.integer(5);
  op.overwrite(3, written(op.tensor(1), op.tensor(3), start));
  op.overwrite(4, written(op.tensor(2), op.tensor(4), start));
  attend_cached(op, op.tensor(3), op.tensor(4), start, 7);
}
void custom_sdpa(Call& op) { attend_cached(op, op.tensor(1), op.tensor(2), op.integer(3), 4); }

// Also as torch has it: with a mask that may be boolean, or causal.
void sdpa(Call& op) {
  const bool torchs = op.name().starts_with("aten.");
  const Array &q = op.tensor(0), &k = op.tensor(1), &v = op.tensor(2);
  std::optional<Array> mask;
  if (!op.is_null(3)) mask = as_mask(op.tensor(3));
  if (mask && torchs && op.tensor(3).dtype == DType::boolean)
    for (f64& v : mask->data) v = v != 0 ? 0 : -std::numeric_limits<f64>::infinity();
  const bool causal = torchs && op.flag_or(5, false);
  Attention a{q, k, v, head_major(q, batches_of(q)), head_major(k, batches_of(k)), head_major(v, batches_of(v))};
  a.batches = batches_of(q), a.heads = q.dim(-3), a.kv_heads = k.dim(-3), a.queries = q.dim(-2), a.keys = k.dim(-2);
  a.visible = [=](i64 query, i64 key) { return !causal || key <= query; };
  a.mask = mask ? &*mask : nullptr;
  a.scale = op.number_or(torchs ? 6 : 4, 1 / std::sqrt(f64(q.dim(-1))));
  Dims dims = q.dims;
  dims.back() = v.dim(-1);
  const Array y = op.make(dims);
  if (torchs) a.unseeing = 0;
  op.give(attend(op, a, dims, head_major(y, a.batches)));
}

f64 turned(Call& op, f64 x, f64 cosine, f64 other, f64 sine) {
  return op.noisy(x * cosine + other * sine, std::abs(x * cosine) + std::abs(other * sine));
}

// Turns pairs of elements of x [A, B, C, D] by the angles of `row_of(a, b, c)`. Elements beyond the tables stay.
template <class RowOf>
Array rotated(Call& op, const Array& x, const Array& cosines, const Array& sines, bool interleaved, RowOf row_of) {
  Array y = x;
  const i64 width = cosines.dim(-1), half = interleaved ? width : width / 2;
  for (i64 vector = 0; vector < x.size() / x.dim(-1); ++vector) {
    const i64 row = row_of(vector / (x.dim(1) * x.dim(2)), vector / x.dim(2) % x.dim(1), vector % x.dim(2));
    if (row < 0 || row >= cosines.size() / width) throw std::runtime_error("the tables are too short");
    for (i64 i = 0; i < half; ++i) {
      const size_t a = size_t(vector * x.dim(-1) + (interleaved ? 2 * i : i)), b = a + size_t(interleaved ? 1 : half);
      const size_t low = size_t(row * width + i), high = interleaved ? low : low + size_t(half);
      y.data[a] = turned(op, x.data[a], cosines.data[low], x.data[b], -sines.data[low]);
      y.data[b] = turned(op, x.data[b], cosines.data[high], x.data[a], sines.data[high]);
    }
  }
  return y;
}

// Tables of rank 2 have a row for each position, axis 1. Those of rank 3 are [positions, heads, angles] if pairs are
// neighbours, else [batch, positions, angles] with positions as axis 2.
void rotary(Call& op) {
  const bool interleaved = op.name() == "et_vk.apply_rotary_emb.default";
  const Array& cosines = op.tensor(2);
  const i64 first = interleaved ? 0 : op.integer(4), rows = cosines.dim(0), columns = cosines.dim(1);
  const auto row_of = [&](i64 a, i64 b, i64 c) -> i64 {
    if (cosines.rank() == 2) return rows == 1 ? 0 : first + b;
    return interleaved ? b * columns + (columns == 1 ? 0 : c) : (rows == 1 ? 0 : a) * columns + (columns == 1 ? 0 : c);
  };
  Array y[] = {rotated(op, op.tensor(0), cosines, op.tensor(3), interleaved, row_of),
               rotated(op, op.tensor(1), cosines, op.tensor(3), interleaved, row_of)};
  for (u32 i = 0; i < 2; ++i) op.give(i, std::move(y[i]));
}

// x [B, N, C] with one table of cosine, sine, cosine, …
void rotary_paired(Call& op) {
  const Array &x = op.tensor(0), &angles = op.tensor(1);
  Array y = x;
  for (size_t i = 0; i + 1 < x.data.size(); i += 2) {
    const size_t angle = i % angles.data.size();
    const f64 c = angles.data[angle], s = angles.data[angle + 1];
    y.data[i] = turned(op, x.data[i], c, x.data[i + 1], -s);
    y.data[i + 1] = turned(op, x.data[i + 1], c, x.data[i], s);
  }
  op.give(std::move(y));
}

constexpr OpRule rules[] = {
    {"update_cache.default", update_cache},
    {"sdpa_with_kv_cache.default", sdpa_with_kv_cache},
    {"custom_sdpa.default", custom_sdpa},
    {"et_vk.sdpa.default", sdpa},
    {"aten.scaled_dot_product_attention.default", sdpa},
    {"et_vk.apply_rotary_emb.default", rotary},
    {"et_vk.apply_rotary_emb_hf.default", rotary},
    {"et_vk.apply_rotary_emb_interleaved.default", rotary_paired},
};

}  // namespace

extern const OpRules attention_rules = rules;

}  // namespace pteron::reference
