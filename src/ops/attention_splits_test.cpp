// SPDX-License-Identifier: BSD-3-Clause
// Attention that decodes with a 4-bit linear behind it, as GPUs run them: at few keys and in splits, which attention,
// the linear or a dispatch between them puts together. Against the formulas in double precision.
#include "base/half.h"
#include "gpu/run_graph.h"

#include <cmath>

namespace pteron::test {
namespace {

constexpr u32 capacity = 400, columns = 64, group = 32;

struct Case {
  u32 heads = 6, kv_heads = 2, dim = 16;
  bool interleaved = false, f16_caches = false, has_second_reader = false, has_residual = true;
  std::vector<std::string> routes, disabled_passes;
  size_t dispatches = 2;  // of a step with many keys

  u32 depth() const { return heads * dim; }
  Shape query() const { return {1, 1, heads, dim}; }
  Shape key() const { return {1, 1, kv_heads, dim}; }
  Shape cache() const { return {1, capacity, kv_heads, dim}; }
};

// Constants of the graph, and what loops need of them.
struct Constants {
  std::vector<f32> keys, values, cosines, sines, scales, residual;
  std::vector<u8> weights;

  explicit Constants(const Case& c)
      : keys(noise(c.cache().numel(), 1)),
        values(noise(c.cache().numel(), 2)),
        cosines(noise(u64(capacity) * width(c), 3)),
        sines(noise(u64(capacity) * width(c), 4)),
        scales(noise(u64(c.depth()) / group * columns, 5)),
        residual(c.has_residual ? noise(columns, 6) : std::vector<f32>(columns)) {
    for (auto* cache : {&keys, &values})
      for (f32& v : *cache) v = half_to_float(float_to_half(v));
    for (f32 v : noise(columns * c.depth() / 2, 7)) weights.push_back(u8(i32(v * 127) + 128));
  }
  static u32 width(const Case& c) { return c.interleaved ? c.dim / 2 : c.dim; }
};

GraphBuilder decoder(const Case& c, const Constants& constants) {
  GraphBuilder b;
  const auto made = [&](const Shape& shape) { return b.tensor(DType::f32, shape); };
  const auto cache = [&](const std::vector<f32>& values) {
    if (!c.f16_caches) return b.constant<f32>(DType::f32, c.cache(), values);
    std::vector<u16> halves;
    halves.reserve(values.size());
    for (f32 v : values) halves.push_back(float_to_half(v));
    return b.constant<u16>(DType::f16, c.cache(), halves);
  };
  const u32 q = b.input(made(c.query())), k = b.input(made(c.key())), v = b.input(made(c.key())),
            position = b.input(b.tensor(DType::i32, {1})), start = b.symint(), q2 = made(c.query()), k2 = made(c.key()),
            y = made(c.query()), x = made({1, c.depth()}), product = made({1, columns}), sum = made({1, columns});
  const Shape tables{capacity, Constants::width(c)}, row{1, tables[1]};
  b.op("et_vk.select_as_symint.default", {position, b.integer(0), b.integer(0), start});
  if (c.interleaved) {
    const u32 cosines = b.input(made(row)), sines = b.input(made(row));
    b.op("et_vk.apply_rotary_emb.default", {q, k, cosines, sines, b.list({q2, k2})});
  } else {
    const u32 cosines = b.constant<f32>(DType::f32, tables, constants.cosines),
              sines = b.constant<f32>(DType::f32, tables, constants.sines);
    b.op("et_vk.apply_rotary_emb_hf.default", {q, k, cosines, sines, start, b.list({q2, k2})});
  }
  b.op("sdpa_with_kv_cache.default", {q2, k2, v, cache(constants.keys), cache(constants.values), start, b.integer(1),
                                      b.null(), b.number(0), b.boolean(true), b.null(), y});
  b.op("aten.view_copy.default", {y, b.ints({1, i64(c.depth())}), x});
  b.op("et_vk.linear_q4gsw.default", {x, b.constant<u8>(DType::u8, {columns, c.depth() / 2}, constants.weights),
                                      b.constant<f32>(DType::f32, {c.depth() / group, columns}, constants.scales),
                                      b.integer(group), b.null(), product});
  if (c.has_residual)
    b.op("aten.add.Tensor",
         {b.constant<f32>(DType::f32, {1, columns}, constants.residual), product, b.integer(1), sum});
  b.output(c.has_residual ? sum : product);
  if (c.has_second_reader) b.output(x);
  return b;
}

// Turns the heads of x at a position.
std::vector<f64> turned(const Case& c, const Constants& constants, const std::vector<f32>& x, u32 position) {
  std::vector<f64> y(x.size());
  const u32 half = c.dim / 2;
  for (u32 i = 0; i < x.size(); ++i) {
    const u32 at = i % c.dim, base = i - at;
    const bool first = c.interleaved ? at % 2 == 0 : at < half;
    const u32 other = base + (c.interleaved ? at ^ 1 : (at + half) % c.dim);
    const u32 angle = position * Constants::width(c) + (c.interleaved ? at / 2 : at);
    y[i] = f64(x[i]) * constants.cosines[angle] + (first ? -1.0 : 1.0) * x[other] * constants.sines[angle];
  }
  return y;
}

// A step, which also fills the caches that it is given.
std::vector<f64> expected(const Case& c, Constants& constants, const std::vector<f32>& q, const std::vector<f32>& k,
                          const std::vector<f32>& v, u32 position) {
  const auto query = turned(c, constants, q, position), key = turned(c, constants, k, position);
  const u32 row = c.kv_heads * c.dim;
  for (u32 i = 0; i < row; ++i) {
    constants.keys[position * row + i] = f32(key[i]);
    constants.values[position * row + i] = v[i];
  }
  std::vector<f64> x(c.depth()), y(constants.residual.begin(), constants.residual.end());
  for (u32 h = 0; h < c.heads; ++h) {
    f64 total = 0;
    for (u32 p = 0; p <= position; ++p) {
      const u32 at = p * row + h / (c.heads / c.kv_heads) * c.dim;
      f64 score = 0;
      for (u32 d = 0; d < c.dim; ++d) score += query[h * c.dim + d] * constants.keys[at + d];
      const f64 weight = std::exp(score / std::sqrt(f64(c.dim)));
      total += weight;
      for (u32 d = 0; d < c.dim; ++d) x[h * c.dim + d] += weight * constants.values[at + d];
    }
    for (u32 d = 0; d < c.dim; ++d) x[h * c.dim + d] /= total;
  }
  // What the step itself made is exact; later ones read it from the caches.
  for (auto* cache : {&constants.keys, &constants.values})
    for (u32 i = 0; c.f16_caches && device().adapter().f16 && i < row; ++i)
      (*cache)[position * row + i] = half_to_float(float_to_half((*cache)[position * row + i]));
  for (u32 n = 0; n < columns; ++n)
    for (u32 i = 0; i < c.depth(); ++i) {
      const u32 byte = constants.weights[n * c.depth() / 2 + i / 2], code = i % 2 == 0 ? byte & 15 : byte >> 4;
      y[n] += x[i] * (f64(code) - 8) * constants.scales[i / group * columns + n];
    }
  return y;
}

// One conversation of a program.
struct Talk {
  const Case& c;
  Constants constants;
  Method method;
  std::vector<f32> q, k, v;
  std::vector<Tensor> inputs;
  std::vector<TensorView> views;

  Talk(const Case& of, Method m) : c(of), constants(of), method(std::move(m)) {}

  std::span<const TensorView> inputs_at(u32 position) {
    q = noise(c.depth(), 11 + position), k = noise(c.key().numel(), 12 + position),
    v = noise(c.key().numel(), 13 + position);
    inputs = {floats(c.query(), q), floats(c.key(), k), floats(c.key(), v),
              tensor_of<i32>(DType::i32, {1}, {i32(position)})};
    const u32 width = Constants::width(c);
    for (const auto* table : {&constants.cosines, &constants.sines})
      if (c.interleaved) {
        const auto row = table->begin() + std::ptrdiff_t(position) * width;
        inputs.push_back(floats({1, width}, {row, row + width}));
      }
    views.assign(inputs.begin(), inputs.end());
    return views;
  }
  void expect_result(u32 position) {
    SCOPED_TRACE(position);
    expect_close(method.outputs()[0].as<f32>(), expected(c, constants, q, k, v, position), 1e-4);
  }
};

Program load(const Case& c) {
  LoadOptions options;
  options.device = device_of_type(gpu::AdapterType::discrete);
  options.routes = c.routes;
  options.disabled_passes = c.disabled_passes;
  return *Program::load(decoder(c, Constants(c)).program(), options);
}

void expect_steps(const Case& c) {
  Program program = load(c);
  auto method = program.method();
  ASSERT_TRUE(method.has_value()) << method.error().to_string();
  Talk talk(c, *std::move(method));
  // One split, the first two positions with several, an empty last split, all keys.
  for (const u32 position : {0u, 5u, 127u, 128u, 129u, 200u, capacity - 1}) {
    const auto outputs = talk.method.execute(talk.inputs_at(position));
    ASSERT_TRUE(outputs.has_value()) << outputs.error().to_string();
    talk.expect_result(position);
  }
  EXPECT_EQ(talk.method.stats().dispatches, c.dispatches);
  EXPECT_EQ(talk.method.stats().late_pipelines, 0u);
}

TEST(AttentionSplits, AreJoinedByTheLinearBehind) { expect_steps({}); }
TEST(AttentionSplits, AreJoinedWhereFourHeadsShareAKeyAndPairsRotate) {
  expect_steps({.heads = 8, .kv_heads = 2, .dim = 8, .interleaved = true});
}
// Deep rows, more splits of heads than a workgroup has threads, and a depth that takes many rounds.
TEST(AttentionSplits, AreJoinedInManySizes) {
  expect_steps({.heads = 9, .kv_heads = 3, .dim = 64});
  expect_steps({.heads = 24, .kv_heads = 8, .dim = 16});
  expect_steps({.heads = 13, .kv_heads = 13, .dim = 32});
}
// What splits count for would not fit a workgroup's memory.
TEST(AttentionSplits, OfVeryManyHeadsAreJoinedByAttention) {
  expect_steps({.heads = 72, .kv_heads = 24, .dim = 8, .dispatches = 3});
}
TEST(AttentionSplits, AreJoinedForCachesInHalfPrecision) { expect_steps({.f16_caches = true}); }
TEST(AttentionSplits, AreJoinedBeforeALinearOnAnotherRoute) {
  expect_steps({.routes = {"linear_q4=registers"}, .dispatches = 3});
}
TEST(AttentionSplits, AreJoinedByAttentionForSeveralReaders) {
  expect_steps({.has_second_reader = true, .dispatches = 3});
}
TEST(AttentionSplits, AreJoinedByAttentionWithoutThePass) {
  expect_steps({.disabled_passes = {"attention-splits"}, .dispatches = 3});
}
TEST(AttentionSplits, AreNotHandedOnByOtherRoutes) { expect_steps({.routes = {"attention=threads"}, .dispatches = 4}); }
TEST(AttentionSplits, AreJoinedByThreadsWhereLanesWalkTheKeys) {
  if (!device().adapter().subgroups) return;
  expect_steps({.routes = {"attention=lanes"}, .dispatches = 3});
  expect_steps(
      {.heads = 8, .kv_heads = 2, .dim = 8, .interleaved = true, .routes = {"attention=lanes"}, .dispatches = 3});
  expect_steps({.dim = 80, .f16_caches = true, .routes = {"attention=lanes"}, .dispatches = 3});
}

// The linear reads its weights once for all conversations, so attention puts its splits together for it.
TEST(AttentionSplits, AreJoinedByAttentionInABatch) {
  const Case c{.heads = 8, .has_residual = false};
  Program program = load(c);
  std::vector<Talk> talks;
  talks.reserve(2);
  for (u32 i = 0; i < 2; ++i) talks.emplace_back(c, *program.method());
  Batch batch = *program.batch();
  for (const std::array<u32, 2> positions : {std::array{0u, 1u}, {5u, 300u}}) {
    std::vector<Batch::Lane> lanes;
    lanes.reserve(2);
    for (u32 i = 0; i < 2; ++i)
      lanes.push_back({.method = &talks[i].method, .inputs = talks[i].inputs_at(positions[i])});
    ASSERT_TRUE(batch.begin(lanes).has_value());
    ASSERT_TRUE(batch.finish().has_value());
    for (u32 i = 0; i < 2; ++i) {
      ASSERT_TRUE(lanes[i].status.has_value()) << lanes[i].status.error().to_string();
      talks[i].expect_result(positions[i]);
    }
  }
  EXPECT_EQ(batch.stats().dispatches, 4u);  // attention of each, a merge, the linear
  EXPECT_EQ(batch.stats().late_pipelines, 0u);
}

}  // namespace
}  // namespace pteron::test
