// SPDX-License-Identifier: BSD-3-Clause
// Ops that write what others read: in place, in caches, in constants. Expected values are worked out by hand.
#include "gpu/one_op.h"

namespace pteron::test {
namespace {

// A run of a hand-built program, call after call.
class Calls {
 public:
  explicit Calls(const GraphBuilder& graph, std::vector<std::string> disabled_passes = {}) {
    LoadOptions options;
    options.device = device();
    options.disabled_passes = std::move(disabled_passes);
    auto program = Program::load(graph.program(), options);
    auto method = program ? program->method() : Result<Method>(Failure(program.error()));
    if (method)
      method_.emplace(*std::move(method));
    else
      error_ = method.error().to_string();
  }

  const std::string& error() const { return error_; }
  Method& method() { return *method_; }

  std::vector<std::vector<f32>> operator()(const std::vector<Tensor>& inputs) {
    std::vector<std::vector<f32>> out;
    if (!method_) return ADD_FAILURE() << error_, out;
    const std::vector<TensorView> views(inputs.begin(), inputs.end());
    auto outputs = method_->execute(views);
    if (!outputs) return error_ = outputs.error().to_string(), out;
    for (const Tensor& t : *outputs) out.push_back(values<f32>(t));
    return out;
  }

 private:
  std::string error_;
  std::optional<Method> method_;
};

using Floats = std::vector<f32>;
using Results = std::vector<Floats>;

Tensor floats(const Shape& shape, const Floats& v) { return tensor_of<f32>(DType::f32, shape, v); }
Tensor ones(const Shape& shape) { return floats(shape, Floats(shape.numel(), 1)); }

constexpr u32 depth = 8, columns = 4;

// Weights [columns, depth] that are `weight` everywhere.
u32 q4_weights(GraphBuilder& b, i32 weight) {
  return b.constant<u8>(DType::u8, {columns, depth / 2}, std::vector<u8>(columns * depth / 2, u8((weight + 8) * 0x11)));
}
u32 q4_scales(GraphBuilder& b) { return b.constant<f32>(DType::f32, {1, columns}, Floats(columns, 1)); }

void linear(GraphBuilder& b, u32 x, u32 weights, u32 scales, u32 y) {
  b.op("et_vk.linear_q4gsw.default", {x, weights, scales, b.integer(depth), b.null(), y});
}

TEST(Effects, ALinearIsNotMovedBeforeAReaderOfWhatItOverwrites) {
  GraphBuilder b;
  const u32 x = b.input(b.tensor(DType::f32, {1, depth})), a = b.tensor(DType::f32, {1, columns});
  const u32 state = b.constant<f32>(DType::f32, {1, columns}, Floats(columns, 100)),
            sum = b.tensor(DType::f32, {1, columns}), scales = q4_scales(b);
  linear(b, x, q4_weights(b, 1), scales, a);
  b.op("aten.add.Tensor", {state, a, b.integer(1), sum});
  linear(b, x, q4_weights(b, 2), scales, state);
  b.output(sum);
  Calls run(b);
  EXPECT_EQ(run({ones({1, depth})}), (Results{Floats(columns, 108)}));
  EXPECT_EQ(run({ones({1, depth})}), (Results{Floats(columns, 24)}));
}

TEST(Effects, AChainDoesNotReadACacheAfterItsUpdate) {
  GraphBuilder b;
  const Shape shape{1, 2, 1, 2};
  const u32 value = b.input(b.tensor(DType::f32, {1, 1, 1, 2})), p = b.tensor(DType::f32, shape),
            y = b.tensor(DType::f32, shape);
  const u32 cache = b.constant<f32>(DType::f32, shape, {1, 2, 3, 4}), two = b.constant<f32>(DType::f32, {}, {2}),
            three = b.constant<f32>(DType::f32, {}, {3});
  b.op("aten.mul.Tensor", {cache, two, p});
  b.op("update_cache.default", {value, cache, b.integer(0), b.tensor(DType::f32, {1})});
  b.op("aten.mul.Tensor", {p, three, y});
  b.output(y);
  Calls run(b);
  const Tensor tens = floats({1, 1, 1, 2}, {10, 10});
  EXPECT_EQ(run({tens}), (Results{{6, 12, 18, 24}}));
  EXPECT_EQ(run({tens}), (Results{{60, 60, 18, 24}}));
}

// A cache [1, 1, 1, depth], its update with the input, and what the caller puts in between.
struct CacheUpdate {
  GraphBuilder b;
  u32 value, cache;

  CacheUpdate() {
    value = b.input(b.tensor(DType::f32, {1, 1, 1, depth}));
    cache = b.constant<f32>(DType::f32, {1, 1, 1, depth}, Floats(depth, 1));
  }
  void update() { b.op("update_cache.default", {value, cache, b.integer(0), b.tensor(DType::f32, {1})}); }
};

TEST(Effects, ALinearThatAddsAResidualDoesNotReadItsInputAfterAnUpdate) {
  CacheUpdate g;
  GraphBuilder& b = g.b;
  const u32 a = b.tensor(DType::f32, {1, 1, 1, columns}), y = b.tensor(DType::f32, {1, 1, 1, columns});
  const u32 other = b.constant<f32>(DType::f32, {1, 1, 1, columns}, Floats(columns, 0.5f));
  linear(b, g.cache, q4_weights(b, 1), q4_scales(b), a);
  g.update();
  b.op("aten.add.Tensor", {a, other, b.integer(1), y});
  b.output(y);
  Calls run(b);
  const Tensor value = floats({1, 1, 1, depth}, Floats(depth, 5));
  EXPECT_EQ(run({value}), (Results{Floats(columns, 8.5f)}));
  EXPECT_EQ(run({value}), (Results{Floats(columns, 40.5f)}));
}

TEST(Effects, AResidualIsNotReadBeforeItsUpdate) {
  CacheUpdate g;
  GraphBuilder& b = g.b;
  // Eight columns, so that the cache can be the residual.
  const u32 weights = b.constant<u8>(DType::u8, {depth, depth / 2}, std::vector<u8>(depth * depth / 2, 0x99));
  const u32 scales = b.constant<f32>(DType::f32, {1, depth}, Floats(depth, 1));
  const u32 a = b.tensor(DType::f32, {1, 1, 1, depth}), y = b.tensor(DType::f32, {1, 1, 1, depth});
  linear(b, g.value, weights, scales, a);
  g.update();
  b.op("aten.add.Tensor", {a, g.cache, b.integer(1), y});
  b.output(y);
  Calls run(b);
  EXPECT_EQ(run({floats({1, 1, 1, depth}, Floats(depth, 5))}), (Results{Floats(depth, 45)}));
}

TEST(Effects, ANormIsNotMovedBehindAnUpdateOfItsInput) {
  CacheUpdate g;
  GraphBuilder& b = g.b;
  const u32 normed = b.tensor(DType::f32, {1, 1, 1, depth}), y = b.tensor(DType::f32, {1, 1, 1, columns});
  const u32 gain = b.constant<f32>(DType::f32, {depth}, {1, 0, 0, 0, 0, 0, 0, 0});
  b.op("et_vk.rms_norm.default", {g.cache, gain, b.number(0), normed});
  g.update();
  linear(b, normed, q4_weights(b, 1), q4_scales(b), y);
  b.output(y);
  Calls run(b);
  const Tensor value = floats({1, 1, 1, depth}, {2, 0, 0, 0, 0, 0, 0, 0});
  EXPECT_EQ(run({value}), (Results{Floats(columns, 1)}));
  const auto second = run({value});  // 2 · rsqrt(4 / 8)
  ASSERT_EQ(second.size(), 1u);
  EXPECT_NEAR(second[0][0], 2.8284271f, 1e-5);
}

TEST(Effects, SiblingsAreNotJoinedOverAnUpdateOfTheirInput) {
  CacheUpdate g;
  GraphBuilder& b = g.b;
  const u32 before = b.tensor(DType::f32, {1, 1, 1, columns}), after = b.tensor(DType::f32, {1, 1, 1, columns}),
            scales = q4_scales(b);
  linear(b, g.cache, q4_weights(b, 1), scales, before);
  g.update();
  linear(b, g.cache, q4_weights(b, 1), scales, after);
  b.output(before);
  b.output(after);
  Calls run(b);
  EXPECT_EQ(run({floats({1, 1, 1, depth}, Floats(depth, 5))}), (Results{Floats(columns, 8), Floats(columns, 40)}));
}

// New weights [columns, depth] for a constant, from an input.
void requantize(GraphBuilder& b, u32 latent, u32 scales, u32 weights) {
  b.op("et_vk.q4gsw_requant.default", {latent, scales, b.integer(depth), weights});
}
Tensor latent(f32 weight) { return floats({columns, depth}, Floats(size_t(columns) * depth, weight)); }

TEST(Effects, ALinearSeesWeightsThatAreWrittenInPlace) {
  GraphBuilder b;
  const u32 x = b.input(b.tensor(DType::f32, {1, depth})), w = b.input(b.tensor(DType::f32, {columns, depth})),
            y = b.tensor(DType::f32, {1, columns});
  const u32 weights = q4_weights(b, 1), scales = q4_scales(b);
  requantize(b, w, scales, weights);
  linear(b, x, weights, scales, y);
  b.output(y);
  Calls run(b);
  EXPECT_EQ(run({ones({1, depth}), latent(3)}), (Results{Floats(columns, 24)}));
  EXPECT_EQ(run({ones({1, depth}), latent(-2)}), (Results{Floats(columns, -16)}));
}

TEST(Effects, ALinearSeesWeightsThatTheCallBeforeWrote) {
  GraphBuilder b;
  const u32 x = b.input(b.tensor(DType::f32, {1, depth})), w = b.input(b.tensor(DType::f32, {columns, depth})),
            y = b.tensor(DType::f32, {1, columns});
  const u32 weights = q4_weights(b, 1), scales = q4_scales(b);
  linear(b, x, weights, scales, y);
  requantize(b, w, scales, weights);
  b.output(y);
  Calls run(b);
  EXPECT_EQ(run({ones({1, depth}), latent(3)}), (Results{Floats(columns, 8)}));
  EXPECT_EQ(run({ones({1, depth}), latent(-2)}), (Results{Floats(columns, 24)}));
  ASSERT_TRUE(run.method().reset().has_value());
  EXPECT_EQ(run({ones({1, depth}), latent(-2)}), (Results{Floats(columns, 8)}));
}

TEST(Effects, ALinearSeesScalesAndABiasThatAreWrittenInPlace) {
  GraphBuilder b;
  const u32 x = b.input(b.tensor(DType::f32, {1, depth})), new_scales = b.input(b.tensor(DType::f32, {1, columns})),
            y = b.tensor(DType::f32, {1, columns});
  const u32 scales = q4_scales(b), bias = b.constant<f32>(DType::f32, {1, columns}, Floats(columns, 0));
  for (u32 target : {scales, bias}) b.op("aten.copy.default", {target, new_scales, b.boolean(false), target});
  b.op("et_vk.linear_q4gsw.default", {x, q4_weights(b, 1), scales, b.integer(depth), bias, y});
  b.output(y);
  EXPECT_EQ(Calls(b)({ones({1, depth}), floats({1, columns}, {1, 2, 3, 4})}), (Results{{9, 18, 27, 36}}));
}

TEST(Effects, AConvolutionSeesAFilterThatIsWrittenInPlace) {
  GraphBuilder b;
  const Shape filter{1, 2, 2, 2};
  const u32 x = b.input(b.tensor(DType::f32, {1, 2, 2, 2})), w = b.input(b.tensor(DType::f32, filter)),
            y = b.tensor(DType::f32, {1, 1, 1, 1});
  const u32 weights = b.constant<f32>(DType::f32, filter, Floats(8, 1));
  b.op("aten.copy.default", {weights, w, b.boolean(false), weights});
  b.op("aten.convolution.default", {x, weights, b.null(), b.ints({1, 1}), b.ints({0, 0}), b.ints({1, 1}),
                                    b.boolean(false), b.ints({0, 0}), b.integer(1), y});
  b.output(y);
  Calls run(b);
  EXPECT_EQ(run({ones({1, 2, 2, 2}), floats(filter, Floats(8, 2))}), (Results{{16}}));
  EXPECT_EQ(run({ones({1, 2, 2, 2}), floats(filter, Floats(8, 3))}), (Results{{24}}));
}

TEST(Effects, AnEmbeddingSeesATableThatIsWrittenInPlace) {
  GraphBuilder b;
  const u32 index = b.input(b.tensor(DType::i32, {1})), w = b.input(b.tensor(DType::f32, {columns, depth})),
            y = b.tensor(DType::f32, {1, depth});
  const u32 table = q4_weights(b, 1), row_scales = b.constant<f32>(DType::f32, {columns, 1}, Floats(columns, 1));
  requantize(b, w, q4_scales(b), table);
  b.op("et_vk.embedding_q4gsw.default", {table, row_scales, b.integer(depth), index, b.boolean(true), y});
  b.output(y);
  Calls run(b);
  const Tensor token = tensor_of<i32>(DType::i32, {1}, {2});
  EXPECT_EQ(run({token, latent(3)}), (Results{Floats(depth, 3)}));
  EXPECT_EQ(run({token, latent(-4)}), (Results{Floats(depth, -4)}));
}

// An optimiser's step with rate 1 that adds nothing but −sign(gradient).
void adamw(GraphBuilder& b, std::vector<u32> param_m_v, u32 grad, std::vector<u32> results) {
  std::vector<u32> args = std::move(param_m_v);
  args.push_back(grad);
  for (f64 value : {1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0}) args.push_back(b.number(value));
  args.push_back(b.list(std::move(results)));
  b.op("et_vk.adamw_step.default", args);
}

TEST(Effects, AnOptimisersStepRunsAlsoIfNobodyReadsItsResults) {
  for (const std::vector<std::string>& disabled : {std::vector<std::string>(), {"dead-code"}}) {
    GraphBuilder b;
    const u32 grad = b.input(b.tensor(DType::f32, {4})), y = b.tensor(DType::f32, {4});
    std::vector<u32> state, results;
    for (u32 i = 0; i < 3; ++i) state.push_back(b.constant<f32>(DType::f32, {4}, Floats(4, i == 0 ? 10.0f : 0.0f)));
    for (u32 i = 0; i < 3; ++i) results.push_back(b.tensor(DType::f32, {4}));
    b.op("aten.relu.default", {state[0], y});
    adamw(b, state, grad, results);
    b.output(y);
    Calls run(b, disabled);
    EXPECT_EQ(run({ones({4})}), (Results{Floats(4, 10)}));
    EXPECT_EQ(run({ones({4})}), (Results{Floats(4, 9)}));
    EXPECT_EQ(run({ones({4})}), (Results{Floats(4, 8)}));
  }
}

TEST(Effects, ALinearSeesWeightsThatAnOptimiserUpdates) {
  GraphBuilder b;
  const u32 grad = b.input(b.tensor(DType::f32, {1, 4})), x = b.input(b.tensor(DType::f32, {1, 4})),
            y = b.tensor(DType::f32, {1, 1});
  std::vector<u32> state, results;
  for (u32 i = 0; i < 3; ++i) state.push_back(b.constant<f32>(DType::f32, {1, 4}, Floats(4, i == 0 ? 10.0f : 0.0f)));
  for (u32 i = 0; i < 3; ++i) results.push_back(b.tensor(DType::f32, {1, 4}));
  adamw(b, state, grad, results);
  b.op("aten.linear.default", {x, state[0], b.null(), y});
  b.output(y);
  Calls run(b);
  EXPECT_EQ(run({ones({1, 4}), ones({1, 4})}), (Results{{36}}));
  EXPECT_EQ(run({ones({1, 4}), ones({1, 4})}), (Results{{32}}));
}

TEST(Effects, ABufferThatIsWrittenThroughItsPrepackedFormIsNewAlsoWhereItIsReadRaw) {
  GraphBuilder b;
  const u32 x = b.input(b.tensor(DType::f32, {1, depth})), w = b.input(b.tensor(DType::f32, {columns, depth})),
            y = b.tensor(DType::f32, {1, columns});
  const u32 weights = q4_weights(b, 1), scales = q4_scales(b), buffer = b.tensor(DType::u8, {columns, depth / 2});
  b.op("et_vk.prepack.default", {weights, buffer});
  linear(b, x, weights, scales, y);
  requantize(b, w, scales, buffer);
  b.output(y);
  Calls run(b);
  EXPECT_EQ(run({ones({1, depth}), latent(3)}), (Results{Floats(columns, 8)}));
  EXPECT_EQ(run({ones({1, depth}), latent(-2)}), (Results{Floats(columns, 24)}));
  ASSERT_TRUE(run.method().reset().has_value());
  EXPECT_EQ(run({ones({1, depth}), latent(3)}), (Results{Floats(columns, 8)}));
}

TEST(Effects, TwoPrepackedFormsOfABufferAreOneBuffer) {
  GraphBuilder b;
  const u32 x = b.input(b.tensor(DType::f32, {2})), y = b.tensor(DType::f32, {2});
  const u32 c = b.constant<f32>(DType::f32, {2}, {1, 2}), written = b.tensor(DType::f32, {2}),
            read = b.tensor(DType::f32, {2});
  b.op("et_vk.prepack.default", {c, written});
  b.op("et_vk.prepack.default", {c, read});
  b.op("aten.add.Tensor", {written, x, b.integer(1), written});
  b.op("aten.mul.Tensor", {read, x, y});
  b.output(y);
  Calls run(b);
  EXPECT_EQ(run({floats({2}, {10, 10})}), (Results{{110, 120}}));
  EXPECT_EQ(run({floats({2}, {10, 10})}), (Results{{210, 220}}));
}

// The input plus one, in its place.
void increment(GraphBuilder& b, u32 id) {
  b.op("aten.add.Tensor", {id, b.constant<i32>(DType::i32, {}, {1}), b.integer(1), id});
}

TEST(Effects, AnInputThatIsUpdatedInPlaceCannotBeReadOnTheHost) {
  GraphBuilder b;
  const u32 position = b.input(b.tensor(DType::i32, {1})), start = b.symint(), y = b.tensor(DType::f32, {4});
  increment(b, position);
  b.op("et_vk.select_as_symint.default", {position, b.integer(0), b.integer(0), start});
  b.op("aten.slice_copy.Tensor",
       {b.constant<f32>(DType::f32, {4}, {1, 2, 3, 4}), b.integer(0), start, b.null(), b.integer(1), y});
  b.output(y, true);
  EXPECT_MENTIONS(Calls(b).error(), "is read on the host, but");
}

TEST(Effects, AnInputMayBeReadOnTheHostBeforeItIsUpdatedAndInACopy) {
  GraphBuilder b;
  const u32 position = b.input(b.tensor(DType::i32, {1})), start = b.symint(), last = b.symint(), end = b.symint(),
            copy = b.tensor(DType::i32, {1}), y = b.tensor(DType::f32, {4});
  b.op("aten.clone.default", {position, b.null(), copy});
  b.op("et_vk.select_as_symint.default", {position, b.integer(0), b.integer(0), start});
  increment(b, position);
  b.op("et_vk.select_as_symint.default", {copy, b.integer(0), b.integer(0), last});
  b.op("add", {last, b.integer(2), end});
  b.op("aten.slice_copy.Tensor",
       {b.constant<f32>(DType::f32, {4}, {1, 2, 3, 4}), b.integer(0), start, end, b.integer(1), y});
  b.output(y, true);
  EXPECT_EQ(Calls(b)({tensor_of<i32>(DType::i32, {1}, {1})}), (Results{{2, 3}}));
}

TEST(Effects, IndicesThatAreUpdatedInPlaceAreCheckedAsTheyAreThen) {
  GraphBuilder b;
  const u32 index = b.input(b.tensor(DType::i32, {1})), y = b.tensor(DType::f32, {1, 2});
  const u32 table = b.constant<f32>(DType::f32, {3, 2}, {1, 2, 3, 4, 5, 6});
  increment(b, index);
  b.op("aten.embedding.default", {table, index, b.integer(-1), b.boolean(false), b.boolean(false), y});
  b.output(y);
  Calls run(b);
  EXPECT_EQ(run({tensor_of<i32>(DType::i32, {1}, {-1})}), (Results{{1, 2}}));
  EXPECT_EQ(run({tensor_of<i32>(DType::i32, {1}, {1})}), (Results{{5, 6}}));
  EXPECT_TRUE(run({tensor_of<i32>(DType::i32, {1}, {2})}).empty());
  EXPECT_MENTIONS(run.error(), "token 3 is out of range; there are 3");
}

}  // namespace
}  // namespace pteron::test
