// SPDX-License-Identifier: BSD-3-Clause
// Attention over caches and plain tensors in forms that no exporter emits, against the formula in double precision.
#include "gpu/run_graph.h"

#include <cmath>

namespace pteron::test {
namespace {

// [batch, positions, heads, dim]
struct Sizes {
  u32 batch = 1, heads = 4, kv_heads = 2, dim = 6;
  Shape query(u32 positions) const { return {batch, positions, heads, dim}; }
  Shape key(u32 positions) const { return {batch, positions, kv_heads, dim}; }
};

struct Expectation {
  Sizes sizes;
  u32 queries = 1, keys = 1, start = 0;
  bool causal = true;
  f64 scale = 1;
  std::function<f64(u32 batch, u32 head, u32 query, u32 key)> mask;
};

// q [batch, queries, heads, dim]; k, v [batch, ≥ keys, kv_heads, dim] with `capacity` positions.
std::vector<f64> attention(const Expectation& e, const std::vector<f32>& q, const std::vector<f32>& k,
                           const std::vector<f32>& v, u32 capacity) {
  const auto [batch, heads, kv_heads, dim] = e.sizes;
  std::vector<f64> out(q.size());
  for (u32 b = 0; b < batch; ++b)
    for (u32 h = 0; h < heads; ++h)
      for (u32 s = 0; s < e.queries; ++s) {
        const u32 q_at = ((b * e.queries + s) * heads + h) * dim;
        const auto kv_at = [&](u32 c) { return ((b * capacity + c) * kv_heads + h / (heads / kv_heads)) * dim; };
        f64 sum = 0;
        for (u32 c = 0; c < e.keys; ++c) {
          if (e.causal && c > s + e.start) continue;
          f64 score = e.mask ? e.mask(b, h, s, c) : 0;
          for (u32 d = 0; d < dim; ++d) score += f64(q[q_at + d]) * k[kv_at(c) + d] * e.scale;
          sum += std::exp(score);
          for (u32 d = 0; d < dim; ++d) out[q_at + d] += std::exp(score) * v[kv_at(c) + d];
        }
        for (u32 d = 0; d < dim; ++d) out[q_at + d] /= sum;
      }
  return out;
}

// custom_sdpa over caches that are inputs; the mask, if any, is the last input.
GraphBuilder over_caches(const Sizes& sizes, u32 queries, u32 capacity, std::optional<Shape> mask, bool causal,
                         bool dynamic = false, DType dtype = DType::f32) {
  GraphBuilder b;
  const u32 q = b.input(b.tensor(dtype, sizes.query(queries)), dynamic, DType::f32),
            k = b.input(b.tensor(dtype, sizes.key(capacity)), false, DType::f32),
            v = b.input(b.tensor(dtype, sizes.key(capacity)), false, DType::f32),
            position = b.input(b.tensor(DType::i32, {1})), start = b.symint(),
            y = b.tensor(dtype, sizes.query(queries));
  const u32 masks = mask ? b.input(b.tensor(DType::f32, *mask), dynamic) : b.null();
  b.op("et_vk.select_as_symint.default", {position, b.integer(0), b.integer(0), start});
  b.op("custom_sdpa.default",
       {q, k, v, start, masks, b.integer(0), b.boolean(causal), mask ? b.integer(1) : b.null(), y});
  b.output(y, dynamic, DType::f32);
  return b;
}

Tensor at(i32 position) { return tensor_of<i32>(DType::i32, {1}, {position}); }

TEST(CustomSdpa, SeesAllKeysUpToTheLastQueryWithoutMask) {
  for (const Sizes sizes : {Sizes{}, Sizes{2, 3, 1, 5}, Sizes{1, 2, 2, 1}, Sizes{2, 6, 2, 130}}) {
    constexpr u32 capacity = 11;
    const auto k = noise(sizes.key(capacity).numel(), 2), v = noise(sizes.key(capacity).numel(), 3);
    for (bool causal : {true, false}) {
      GraphRun run(over_caches(sizes, 5, capacity, {}, causal, true));
      for (const auto& [queries, start] : {std::pair{5u, 0u}, {1u, 10u}, {3u, 4u}, {5u, 6u}}) {
        const auto q = noise(sizes.query(queries).numel(), queries);
        const auto actual = run.first({floats(sizes.query(queries), q), floats(sizes.key(capacity), k),
                                       floats(sizes.key(capacity), v), at(i32(start))});
        expect_close(actual,
                     attention({sizes, queries, start + queries, start, causal, 1 / std::sqrt(f64(sizes.dim)), {}}, q,
                               k, v, capacity),
                     1e-5);
      }
      EXPECT_EQ(run.method().stats().late_pipelines, 0u);
    }
  }
}

TEST(CustomSdpa, MasksBroadcastAndCoverTheCache) {
  const Sizes sizes{2, 4, 2, 6};
  constexpr u32 queries = 3, capacity = 7;
  const auto q = noise(sizes.query(queries).numel(), 1), k = noise(sizes.key(capacity).numel(), 2),
             v = noise(sizes.key(capacity).numel(), 3);
  for (const Shape& shape : {Shape{3, 7}, Shape{1, 7}, Shape{7}, Shape{4, 3, 7}, Shape{2, 1, 3, 7}, Shape{2, 4, 3, 7},
                             Shape{1, 4, 1, 7}, Shape{3, 1}, Shape{3, 5}}) {
    const auto mask = noise(shape.numel(), 4);
    const u32 keys = shape.dim(-1) == 1 ? capacity : shape.dim(-1);
    const auto value = [&](u32 b, u32 h, u32 s, u32 c) {
      const std::array<u32, 4> place{b, h, s, c};
      u32 at = 0;
      for (u32 axis = 0; axis < 4; ++axis) {
        const u32 size = shape.dim(i32(axis) - 4);
        at = at * size + (size == 1 ? 0 : place[axis]);
      }
      return f64(mask[at]);
    };
    for (bool causal : {false, true}) {
      GraphRun run(over_caches(sizes, queries, capacity, shape, causal));
      expect_close(run.first({floats(sizes.query(queries), q), floats(sizes.key(capacity), k),
                              floats(sizes.key(capacity), v), at(2), floats(shape, mask)}),
                   attention({sizes, queries, keys, 2, causal, 1, value}, q, k, v, capacity), 1e-5);
    }
  }
}

// llvmpipe ends the loops of a thread after 65,535 rounds, so long contexts are shared among threads there.
TEST(CustomSdpa, WalksLongContextsOnEveryRoute) {
  const Sizes sizes{1, 1, 1, 64};
  constexpr u32 capacity = 9000;
  const auto k = noise(sizes.key(capacity).numel(), 2), v = noise(sizes.key(capacity).numel(), 3);
  for (const auto type : {gpu::AdapterType::cpu, gpu::AdapterType::discrete})
    for (u32 queries : {2u, 6u}) {
      // A GPU has no such limit: give it what llvmpipe can still do.
      const u32 start = (type == gpu::AdapterType::cpu ? 8990 : 2000) - queries;
      const auto q = noise(sizes.query(queries).numel(), 1);
      GraphRun run(over_caches(sizes, 6, capacity, {}, true, true), device_of_type(type));
      expect_close(run.first({floats(sizes.query(queries), q), floats(sizes.key(capacity), k),
                              floats(sizes.key(capacity), v), at(i32(start))}),
                   attention({sizes, queries, start + queries, start, true, 0.125, {}}, q, k, v, capacity), 1e-5);
    }
}

TEST(CustomSdpa, ReadsHalfPrecisionCaches) {
  const Sizes sizes;
  std::vector<f32> q(sizes.query(2).numel()), k(sizes.key(9).numel()), v(k.size());
  for (auto* values : {&q, &k, &v})
    for (size_t i = 0; i < values->size(); ++i) (*values)[i] = f32(i % 13) / 8 - 0.5f;  // exact in f16
  GraphRun run(over_caches(sizes, 2, 9, {}, true, false, DType::f16));
  expect_close(run.first({floats(sizes.query(2), q), floats(sizes.key(9), k), floats(sizes.key(9), v), at(5)}),
               attention({sizes, 2, 7, 5, true, 1 / std::sqrt(6.0), {}}, q, k, v, 9), 1e-3);
}

TEST(CustomSdpa, RejectsWhatDoesNotFit) {
  EXPECT_NE(load_error(over_caches({1, 4, 3, 6}, 1, 8, {}, true)).find("4 heads can't share 3 key heads"),
            std::string::npos);
  EXPECT_NE(load_error(over_caches({1, 1, 1, 513}, 1, 2, {}, true)).find("heads of 513 elements are not supported"),
            std::string::npos);
  GraphRun run(over_caches({}, 2, 8, {}, true));
  const Sizes sizes;
  EXPECT_TRUE(
      run({floats(sizes.query(2), noise(48)), floats(sizes.key(8), noise(96)), floats(sizes.key(8), noise(96)), at(7)})
          .empty());
  EXPECT_NE(run.error().find("positions 7 to 9 don't fit caches of 8; the context is full"), std::string::npos);
  GraphRun masked(over_caches({}, 2, 8, Shape{3, 8}, false));
  EXPECT_TRUE(masked({floats(sizes.query(2), noise(48)), floats(sizes.key(8), noise(96)),
                      floats(sizes.key(8), noise(96)), at(0), floats({3, 8}, noise(24))})
                  .empty());
  EXPECT_NE(masked.error().find("a mask of [3, 8] does not fit scores [1, 4, 2, 8]"), std::string::npos)
      << masked.error();
}

// sdpa_with_kv_cache over caches of its own.
GraphBuilder with_cache(Shape q_shape, Shape kv_shape, Shape cache_shape, f64 dropout = 0, bool causal = true) {
  GraphBuilder b;
  const u32 q = b.input(b.tensor(DType::f32, q_shape), true), k = b.input(b.tensor(DType::f32, kv_shape), true),
            v = b.input(b.tensor(DType::f32, kv_shape), true), position = b.input(b.tensor(DType::i32, {1})),
            start = b.symint(), y = b.tensor(DType::f32, q_shape);
  const std::vector<f32> zeros(cache_shape.numel());
  const u32 k_cache = b.constant<f32>(DType::f32, cache_shape, zeros, "zeros"),
            v_cache = b.constant<f32>(DType::f32, cache_shape, zeros, "zeros");
  b.op("et_vk.select_as_symint.default", {position, b.integer(0), b.integer(0), start});
  b.op("sdpa_with_kv_cache.default",
       {q, k, v, k_cache, v_cache, start, b.integer(1), b.null(), b.number(dropout), b.boolean(causal), b.null(), y});
  b.output(y, true);
  return b;
}

TEST(SdpaWithKvCache, RunsWithoutBatch) {
  const Sizes sizes;
  GraphRun run(with_cache({3, 4, 6}, {3, 2, 6}, {8, 2, 6}, 0, false));
  std::vector<f32> k, v;
  for (const auto& [count, start] : {std::pair{3u, 0u}, {1u, 3u}, {2u, 4u}}) {
    const auto q = noise(u64(count) * 24, count), new_k = noise(u64(count) * 12, 10 + count),
               new_v = noise(u64(count) * 12, 20 + count);
    k.insert(k.end(), new_k.begin(), new_k.end());
    v.insert(v.end(), new_v.begin(), new_v.end());
    const auto actual = run.first(
        {floats({count, 4, 6}, q), floats({count, 2, 6}, new_k), floats({count, 2, 6}, new_v), at(i32(start))});
    expect_close(actual,
                 attention({sizes, count, start + count, start, false, 1 / std::sqrt(6.0), {}}, q, k, v, start + count),
                 1e-5);
  }
}

TEST(SdpaWithKvCache, RejectsDropout) {
  EXPECT_NE(load_error(with_cache({1, 1, 4, 6}, {1, 1, 2, 6}, {1, 8, 2, 6}, 0.5)).find("dropout is 0.5"),
            std::string::npos);
}

TEST(SdpaWithKvCache, RejectsShapesThatDoNotFit) {
  EXPECT_NE(load_error(with_cache({2, 1, 4, 6}, {1, 1, 2, 6}, {1, 8, 2, 6})).find("batch 2"), std::string::npos);
  EXPECT_NE(load_error(with_cache({1, 1, 4, 6}, {1, 1, 2, 5}, {1, 8, 2, 6})).find("differ in axis 3"),
            std::string::npos);
  EXPECT_NE(load_error(with_cache({1, 1, 4, 6}, {1, 1, 2, 5}, {1, 8, 2, 5})).find("6 elements, those of the caches 5"),
            std::string::npos);
}

TEST(SdpaWithKvCache, RejectsPositionsBeyondTheCacheAndGoesOnAfterwards) {
  GraphRun run(with_cache({1, 2, 4, 6}, {1, 2, 2, 6}, {1, 8, 2, 6}));
  const auto call = [&](i32 start) {
    return run(
        {floats({1, 2, 4, 6}, noise(48)), floats({1, 2, 2, 6}, noise(24)), floats({1, 2, 2, 6}, noise(24)), at(start)});
  };
  for (i32 start : {7, -1}) {
    EXPECT_TRUE(call(start).empty());
    EXPECT_NE(run.error().find("the context is full"), std::string::npos) << run.error();
  }
  EXPECT_FALSE(call(6).empty()) << run.error();
}

// et_vk.sdpa of [batch.., heads, positions, dim]
GraphBuilder plain(const Shape& q, const Shape& k, const Shape& v, const Shape& y, std::optional<Shape> mask = {}) {
  GraphBuilder b;
  const u32 query = b.input(b.tensor(DType::f32, q)), key = b.input(b.tensor(DType::f32, k)),
            value = b.input(b.tensor(DType::f32, v)), out = b.tensor(DType::f32, y);
  const u32 masks = mask ? b.input(b.tensor(DType::f32, *mask)) : b.null();
  b.op("et_vk.sdpa.default", {query, key, value, masks, b.integer(1), out});
  b.output(out);
  return b;
}

// Swaps positions and heads.
std::vector<f32> head_major(const std::vector<f32>& x, u32 positions, u32 heads, u32 dim) {
  std::vector<f32> out(x.size());
  for (u32 i = 0; i < x.size(); ++i) {
    const u32 d = i % dim, h = i / dim % heads, s = i / dim / heads % positions, b = i / dim / heads / positions;
    out[((b * heads + h) * positions + s) * dim + d] = x[i];
  }
  return out;
}

TEST(Sdpa, SharesKeysAmongHeadsAndBatches) {
  constexpr u32 queries = 3, keys = 70;
  const Sizes sizes{1, 6, 2, 5};
  const auto q = noise(sizes.query(queries).numel(), 1), k = noise(sizes.key(keys).numel(), 2),
             v = noise(sizes.key(keys).numel(), 3);
  const auto expected = attention({sizes, queries, keys, 0, false, 1, {}}, q, k, v, keys);
  const std::vector<f32> as_float(expected.begin(), expected.end());
  const auto wanted = head_major(as_float, queries, 6, 5), one = head_major(q, queries, 6, 5);
  std::vector<f32> two = one;
  two.insert(two.end(), one.begin(), one.end());
  GraphRun run(plain({2, 6, queries, 5}, {1, 2, keys, 5}, {1, 2, keys, 5}, {2, 6, queries, 5}));
  const auto actual = run.first({floats({2, 6, queries, 5}, two), floats({1, 2, keys, 5}, head_major(k, keys, 2, 5)),
                                 floats({1, 2, keys, 5}, head_major(v, keys, 2, 5))});
  ASSERT_EQ(actual.size(), 2 * wanted.size());
  for (size_t i = 0; i < actual.size(); ++i) ASSERT_NEAR(actual[i], wanted[i % wanted.size()], 1e-5) << i;
}

TEST(Sdpa, GivesZerosWithoutKeys) {
  EXPECT_EQ(GraphRun(plain({1, 2, 2}, {1, 0, 2}, {1, 0, 2}, {1, 2, 2}))
                .first({floats({1, 2, 2}, {1, 2, 3, 4}), floats({1, 0, 2}, {}), floats({1, 0, 2}, {})}),
            (std::vector<f32>(4, 0)));
}

TEST(Sdpa, PropagatesNan) {
  const f32 nan = std::numeric_limits<f32>::quiet_NaN();
  const auto y = GraphRun(plain({1, 2, 1}, {1, 2, 1}, {1, 2, 1}, {1, 2, 1}))
                     .first({floats({1, 2, 1}, {1, nan}), floats({1, 2, 1}, {1, 2}), floats({1, 2, 1}, {1, 1})});
  EXPECT_NEAR(y[0], 1, 1e-6);
  EXPECT_TRUE(std::isnan(y[1]));
}

TEST(Sdpa, RejectsShapesThatDoNotFit) {
  EXPECT_NE(load_error(plain({1, 2, 4}, {1, 3, 5}, {1, 3, 5}, {1, 2, 5})).find("4 elements, those of the key 5"),
            std::string::npos);
  EXPECT_NE(load_error(plain({1, 2, 4}, {1, 3, 4}, {1, 2, 4}, {1, 2, 4})).find("key [1, 3, 4] and value [1, 2, 4]"),
            std::string::npos);
  EXPECT_NE(load_error(plain({3, 1, 2, 4}, {2, 1, 3, 4}, {2, 1, 3, 4}, {3, 1, 2, 4})).find("different batches"),
            std::string::npos);
  EXPECT_NE(load_error(plain({3, 2, 4}, {2, 3, 4}, {2, 3, 4}, {3, 2, 4})).find("3 heads can't share 2 key heads"),
            std::string::npos);
  EXPECT_NE(load_error(plain({1, 2, 4}, {1, 3, 4}, {1, 3, 4}, {1, 2, 4}, Shape{2, 4})).find("does not fit scores"),
            std::string::npos);
  EXPECT_NE(load_error(plain({4}, {4}, {4}, {4})).find("attention needs [.., positions, dim]"), std::string::npos);
}

// update_cache with its position baked in or symbolic.
TEST(UpdateCache, RejectsPositionsBeyondTheCache) {
  GraphBuilder b;
  const u32 value = b.input(b.tensor(DType::f32, {1, 2, 1, 3})), dummy = b.tensor(DType::f32, {1});
  const u32 cache = b.constant<f32>(DType::f32, {1, 4, 1, 3}, std::vector<f32>(12));
  b.op("update_cache.default", {value, cache, b.integer(3), dummy});
  b.output(dummy);
  EXPECT_NE(load_error(b).find("positions 3 to 5 don't fit a cache of 4; the context is full"), std::string::npos);
}

TEST(UpdateCache, WritesEveryBatchOfACacheOfAnyRank) {
  GraphBuilder b;
  const Shape value_shape{2, 2, 1, 2, 3}, cache_shape{2, 2, 4, 2, 3};
  const u32 value = b.input(b.tensor(DType::f32, value_shape)), dummy = b.tensor(DType::f32, {1});
  const u32 cache = b.constant<f32>(DType::f32, cache_shape, std::vector<f32>(96)),
            y = b.tensor(DType::f32, cache_shape);
  b.op("update_cache.default", {value, cache, b.integer(2), dummy});
  b.op("aten.clone.default", {cache, b.null(), y});
  b.output(y);
  const auto x = noise(24);
  const auto actual = GraphRun(b).first({floats(value_shape, x)});
  ASSERT_EQ(actual.size(), 96u);
  for (u32 i = 0; i < 96; ++i) {
    const u32 position = i / 6 % 4, batch = i / 24;
    EXPECT_EQ(actual[i], position == 2 ? x[batch * 6 + i % 6] : 0) << i;
  }
}

}  // namespace
}  // namespace pteron::test
