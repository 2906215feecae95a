// SPDX-License-Identifier: BSD-3-Clause
// What no exporter emits: bytes, extremes of integers, outputs in place, shapes that don't fit. The rest is in
// tests/data/ops.
#include "gpu/one_op.h"

#include <cmath>
#include <limits>

namespace pteron::test {
namespace {

constexpr i32 lowest = std::numeric_limits<i32>::min(), highest = std::numeric_limits<i32>::max();
const f32 nan = std::numeric_limits<f32>::quiet_NaN(), infinity = std::numeric_limits<f32>::infinity();

// y = op(inputs…, extra…)
GraphBuilder graph(const std::string& op, const std::vector<Tensor>& inputs, DType result, const Shape& shape,
                   const std::vector<format::GraphValue>& extra = {}) {
  GraphBuilder b;
  std::vector<u32> args;
  args.reserve(inputs.size());
  for (const Tensor& t : inputs) args.push_back(b.input(b.tensor(t.dtype(), t.shape())));
  for (const auto& value : extra) args.push_back(b.value(value));
  args.push_back(b.output(b.tensor(result, shape)));
  b.op(op, args);
  return b;
}

template <class T>
std::vector<T> apply(const std::string& op, const std::vector<Tensor>& inputs, DType result,
                     const std::vector<format::GraphValue>& extra = {}) {
  const auto outputs = run(graph(op, inputs, result, inputs[0].shape(), extra), inputs);
  return outputs.empty() ? std::vector<T>() : values<T>(outputs[0]);
}

// In a chain a compiler would see that both operands are one.
TEST(Elementwise, AnInfinityMinusItselfIsNoNumberAlsoInAChain) {
  for (const char* op : {"aten.sub.Tensor", "aten.div.Tensor", "aten.add.Tensor"}) {
    const bool divides = std::string_view(op) == "aten.div.Tensor", adds = std::string_view(op) == "aten.add.Tensor";
    GraphBuilder b;
    const u32 x = b.input(b.tensor(DType::f32, {2})), t = b.tensor(DType::f32, {2}), y = b.tensor(DType::f32, {2});
    b.op("aten.neg.default", {x, t});
    const u32 zero = b.tensor(DType::f32, {2});
    if (divides)
      b.op(op, {t, t, zero});
    else
      b.op(op, {t, t, b.integer(adds ? -1 : 1), zero});
    b.op("aten.relu.default", {zero, y});
    b.output(y);
    const auto outputs = run(b, {tensor_of<f32>(DType::f32, {2}, {infinity, 3})});
    ASSERT_EQ(outputs.size(), 1u);
    EXPECT_TRUE(std::isnan(outputs[0].as<f32>()[0])) << op;
    EXPECT_EQ(outputs[0].as<f32>()[1], divides ? 1 : 0) << op;
  }
}

TEST(Elementwise, Int32WrapsAround) {
  const Tensor a = tensor_of<i32>(DType::i32, {3}, {highest, lowest, 65536});
  const Tensor one = tensor_of<i32>(DType::i32, {3}, {1, 1, 1});
  EXPECT_EQ(apply<i32>("aten.add.Tensor", {a, one}, DType::i32, {i64(1)}),
            (std::vector<i32>{lowest, lowest + 1, 65537}));
  EXPECT_EQ(apply<i32>("aten.sub.Tensor", {a, one}, DType::i32, {i64(1)}),
            (std::vector<i32>{highest - 1, highest, 65535}));
  EXPECT_EQ(apply<i32>("aten.mul.Tensor", {a, a}, DType::i32), (std::vector<i32>{1, 0, 0}));
  EXPECT_EQ(apply<i32>("aten.neg.default", {a}, DType::i32), (std::vector<i32>{-highest, lowest, -65536}));
  EXPECT_EQ(apply<i32>("aten.abs.default", {a}, DType::i32), (std::vector<i32>{highest, lowest, 65536}));
  EXPECT_EQ(apply<i32>("aten.relu.default", {a}, DType::i32), (std::vector<i32>{highest, 0, 65536}));
}

TEST(Elementwise, PowersOfIntegers) {
  const Tensor a = tensor_of<i32>(DType::i32, {5}, {2, -1, 1, 3, 0});
  const Tensor b = tensor_of<i32>(DType::i32, {5}, {40, -3, -2, -1, 0});
  EXPECT_EQ(apply<i32>("aten.pow.Tensor_Tensor", {a, b}, DType::i32), (std::vector<i32>{0, -1, 1, 0, 1}));
  EXPECT_EQ(apply<i32>("aten.pow.Tensor_Scalar", {a}, DType::i32, {i64(3)}), (std::vector<i32>{8, -1, 1, 27, 0}));
}

TEST(Elementwise, BytesWrapAround) {
  const Tensor u = tensor_of<u8>(DType::u8, {5}, {0, 1, 127, 128, 255});
  EXPECT_EQ(apply<u8>("aten.add.Tensor", {u, u}, DType::u8, {i64(1)}), (std::vector<u8>{0, 2, 254, 0, 254}));
  EXPECT_EQ(apply<u8>("aten.neg.default", {u}, DType::u8), (std::vector<u8>{0, 255, 129, 128, 1}));
  EXPECT_EQ(apply<u8>("aten.bitwise_not.default", {u}, DType::u8), (std::vector<u8>{255, 254, 128, 127, 0}));
  EXPECT_EQ(apply<u8>("aten.clamp.default", {u}, DType::u8, {i64(2), i64(200)}),
            (std::vector<u8>{2, 2, 127, 128, 200}));
  const Tensor i = tensor_of<i8>(DType::i8, {5}, {0, 1, -1, 127, -128});
  EXPECT_EQ(apply<i8>("aten.add.Tensor", {i, i}, DType::i8, {i64(1)}), (std::vector<i8>{0, 2, -2, -2, 0}));
  EXPECT_EQ(apply<i8>("aten.neg.default", {i}, DType::i8), (std::vector<i8>{0, -1, 1, -127, -128}));
  EXPECT_EQ(apply<i8>("aten.abs.default", {i}, DType::i8), (std::vector<i8>{0, 1, 1, 127, -128}));
  EXPECT_EQ(apply<i8>("aten.bitwise_not.default", {i}, DType::i8), (std::vector<i8>{-1, -2, 0, -128, 127}));
}

TEST(Elementwise, BooleansAddAndMultiplyAsOrAndAnd) {
  const Tensor a = tensor_of<u8>(DType::boolean, {4}, {1, 1, 0, 0}),
               b = tensor_of<u8>(DType::boolean, {4}, {1, 0, 1, 0});
  EXPECT_EQ(apply<u8>("aten.add.Tensor", {a, b}, DType::boolean, {i64(1)}), (std::vector<u8>{1, 1, 1, 0}));
  EXPECT_EQ(apply<u8>("aten.mul.Tensor", {a, b}, DType::boolean), (std::vector<u8>{1, 0, 0, 0}));
  EXPECT_EQ(apply<u8>("aten.minimum.default", {a, b}, DType::boolean), (std::vector<u8>{1, 0, 0, 0}));
}

TEST(Elementwise, BitsOfIntegers) {
  const Tensor a = tensor_of<i32>(DType::i32, {4}, {lowest, highest, -1, 0x00ff00f0});
  const Tensor b = tensor_of<i32>(DType::i32, {4}, {-1, 1, 0, 0x0f0f0f0f});
  EXPECT_EQ(apply<i32>("aten.bitwise_and.Tensor", {a, b}, DType::i32), (std::vector<i32>{lowest, 1, 0, 0x000f0000}));
  EXPECT_EQ(apply<i32>("aten.bitwise_or.Tensor", {a, b}, DType::i32), (std::vector<i32>{-1, highest, -1, 0x0fff0fff}));
  EXPECT_EQ(apply<i32>("aten.bitwise_not.default", {a}, DType::i32),
            (std::vector<i32>{highest, lowest, 0, ~0x00ff00f0}));
}

TEST(Elementwise, NanStaysNan) {
  const Tensor a = tensor_of<f32>(DType::f32, {4}, {nan, -nan, nan, nan});
  const std::pair<const char*, std::vector<format::GraphValue>> ops[] = {
      {"aten.relu.default", {}},
      {"aten.clamp.default", {-1.0, 1.0}},
      {"aten.clamp.default", {std::monostate(), 1.0}},
      {"aten.hardtanh.default", {-1.0, 1.0}},
      {"aten.hardswish.default", {}},
      {"aten.hardshrink.default", {0.5}},
      {"aten.leaky_relu.default", {0.01}},
      {"aten.sigmoid.default", {}},
      {"aten.tanh.default", {}},
      {"aten.exp.default", {}},
      {"aten.log10.default", {}},
      {"aten.sqrt.default", {}},
      {"aten.rsqrt.default", {}},
      {"aten.sin.default", {}},
      {"aten.cos.default", {}},
      {"aten.abs.default", {}},
      {"aten.neg.default", {}},
      {"aten.round.default", {}},
      {"aten.pow.Tensor_Scalar", {2.0}},
      {"aten.pow.Tensor_Scalar", {0.5}},
      {"aten.gelu.default", {std::string("none")}},
      {"aten.gelu.default", {std::string("tanh")}},
  };
  for (const auto& [op, extra] : ops)
    for (const f32 y : apply<f32>(op, {a}, DType::f32, extra)) EXPECT_TRUE(std::isnan(y)) << op << " gives " << y;
  const Tensor b = tensor_of<f32>(DType::f32, {4}, {1, infinity, -infinity, nan});
  for (const auto& pair : {std::vector{a, b}, std::vector{b, a}}) {
    for (const char* op : {"aten.minimum.default", "aten.mul.Tensor", "aten.div.Tensor"})
      for (const f32 y : apply<f32>(op, pair, DType::f32)) EXPECT_TRUE(std::isnan(y)) << op << " gives " << y;
    for (const char* op : {"aten.eq.Tensor", "aten.lt.Tensor", "aten.le.Tensor", "aten.gt.Tensor", "aten.ge.Tensor"})
      EXPECT_EQ(apply<u8>(op, pair, DType::boolean), (std::vector<u8>{0, 0, 0, 0})) << op;
    EXPECT_EQ(apply<u8>("aten.ne.Tensor", pair, DType::boolean), (std::vector<u8>{1, 1, 1, 1}));
  }
}

// Angles of any size: the digits of π that count are far behind the point for large ones. The last but one is as close
// to a multiple of π/2 as a float gets.
TEST(Elementwise, AnglesMayBeHuge) {
  std::vector<f32> angles{99999.0f, 100000.0f, 8388608.0f,    -8388608.0f,
                          1.5e10f,  -3.3e25f,  5.3193926e37f, 3.4028235e38f};
  f32 angle = 90000;
  while (std::isfinite(angle)) {
    angles.push_back(angle);
    angle *= -1.37f;
  }
  const Shape shape{u32(angles.size())};
  const Tensor x = tensor_of<f32>(DType::f32, shape, angles);
  const auto sines = apply<f32>("aten.sin.default", {x}, DType::f32);
  const auto cosines = apply<f32>("aten.cos.default", {x}, DType::f32);
  const auto tangents = apply<f32>("aten.tan.default", {x}, DType::f32);
  for (u64 i = 0; i < angles.size(); ++i) {
    EXPECT_NEAR(sines.at(i), std::sin(f64(angles[i])), 4e-7) << angles[i];
    EXPECT_NEAR(cosines.at(i), std::cos(f64(angles[i])), 4e-7) << angles[i];
    const f64 tangent = std::tan(f64(angles[i]));
    EXPECT_NEAR(tangents.at(i) / tangent, 1, 2e-6) << angles[i];
  }
}

TEST(Elementwise, BroadcastsEightAxes) {
  const Shape left{2, 1, 3, 1, 2, 1, 2, 3}, right{1, 2, 3, 2, 1, 2, 1, 3}, all{2, 2, 3, 2, 2, 2, 2, 3};
  const Tensor a = counting<f32>(DType::f32, left), b = counting<f32>(DType::f32, right);
  const auto outputs = run(graph("aten.sub.Tensor", {a, b}, DType::f32, all, {i64(1)}), {a, b});
  ASSERT_EQ(outputs.size(), 1u);
  const auto index = [](const Shape& shape, std::span<const u32> at) {
    u32 flat = 0;
    for (u32 d = 0; d < 8; ++d) flat = flat * shape[d] + (shape[d] == 1 ? 0 : at[d]);
    return flat;
  };
  for (u32 i = 0; i < all.numel(); ++i) {
    std::array<u32, 8> at{};
    for (u32 d = 8, rest = i; d-- > 0; rest /= all[d]) at[d] = rest % all[d];
    ASSERT_EQ(outputs[0].as<f32>()[i], f32(index(left, at)) - f32(index(right, at))) << i;
  }
}

TEST(Elementwise, OutputMayBeAnInput) {
  GraphBuilder b;
  const u32 state = b.constant<f32>(DType::f32, {5}, {-2, -1, 0, 1, 2}), x = b.input(b.tensor(DType::f32, {5}));
  b.op("aten.relu.default", {state, state});
  b.op("aten.add.Tensor", {x, state, b.integer(1), state});
  b.op("aten.minimum.default", {state, state, state});
  b.output(state);
  const auto outputs = run(b, {tensor_of<f32>(DType::f32, {5}, {1, 2, 3, 4, 5})});
  ASSERT_EQ(outputs.size(), 1u);
  EXPECT_EQ(values<f32>(outputs[0]), (std::vector<f32>{1, 2, 3, 5, 7}));
}

TEST(Elementwise, NoElementsInPlaceIsNothingToDo) {
  GraphBuilder b;
  const u32 x = b.input(b.tensor(DType::f32, {3, 0})), y = b.tensor(DType::f32, {3, 0});
  b.op("aten.abs.default", {x, y});
  b.op("aten.abs.default", {y, y});
  b.output(y);
  const auto outputs = run(b, {Tensor(DType::f32, {3, 0})});
  ASSERT_EQ(outputs.size(), 1u);
  EXPECT_TRUE(outputs[0].shape() == (Shape{3, 0}));
}

TEST(Elementwise, RefusesShapesThatDontBroadcast) {
  const Tensor a(DType::f32, {3, 5}), b(DType::f32, {4});
  EXPECT_MENTIONS(error_of(graph("aten.mul.Tensor", {a, b}, DType::f32, {3, 5})),
                  "op 0 aten.mul.Tensor: shapes [3, 5] and [4] can't be broadcast together");
  EXPECT_MENTIONS(error_of(graph("aten.mul.Tensor", {a, a}, DType::f32, {5, 3})),
                  "the result has shape [3, 5], but the file says [5, 3]");
}

TEST(Elementwise, RefusesTypesThatDontFit) {
  const Tensor a(DType::f32, {3}), i(DType::i32, {3});
  EXPECT_MENTIONS(error_of(graph("aten.add.Tensor", {a, a}, DType::i32, {3}, {i64(1)})),
                  "the result is int32, but an input is float32");
  EXPECT_MENTIONS(error_of(graph("aten.exp.default", {i}, DType::i32, {3})),
                  "the result must be floating-point, not int32");
  EXPECT_MENTIONS(error_of(graph("aten.div.Tensor", {i, i}, DType::i32, {3})),
                  "the quotient must be floating-point, not int32");
  EXPECT_MENTIONS(error_of(graph("aten.lt.Tensor", {a, a}, DType::f32, {3})), "the result must be bool, not float32");
  EXPECT_MENTIONS(error_of(graph("aten.bitwise_and.Tensor", {a, a}, DType::f32, {3})),
                  "bits of float32 and float32 can't be combined");
  EXPECT_MENTIONS(error_of(graph("aten.bitwise_or.Tensor", {i, i}, DType::f32, {3})),
                  "bits of integers are integers, not float32");
  EXPECT_MENTIONS(error_of(graph("aten.__lshift__.Scalar", {i}, DType::f32, {3}, {i64(1)})),
                  "bits of integers are integers, not float32");
  EXPECT_MENTIONS(error_of(graph("aten.where.self", {i, a, i}, DType::i32, {3})),
                  "the choices are float32 and int32, but the result is int32");
  EXPECT_MENTIONS(error_of(graph("aten.sin.default", {i}, DType::i32, {3})),
                  "the result must be floating-point, not int32");
  EXPECT_MENTIONS(error_of(graph("aten.mul.Scalar", {i}, DType::i32, {3}, {i64(1) << 40})),
                  "the number 1099511627776 does not fit in 32 bits");
  EXPECT_MENTIONS(error_of(graph("aten.add.Tensor", {i, i}, DType::i32, {3}, {i64(1) << 40})),
                  "the number 1099511627776 does not fit in 32 bits");
  EXPECT_MENTIONS(error_of(graph("aten.sub.Scalar", {i}, DType::i32, {3}, {i64(2), i64(1) << 40})),
                  "the number 1099511627776 does not fit in 32 bits");
}

TEST(Elementwise, RefusesUnknownModes) {
  const Tensor a(DType::f32, {3});
  EXPECT_MENTIONS(error_of(graph("aten.gelu.default", {a}, DType::f32, {3}, {std::string("sigmoid")})),
                  "the approximation 'sigmoid' is not known; it is 'none' or 'tanh'");
  EXPECT_MENTIONS(error_of(graph("aten.div.Tensor_mode", {a, a}, DType::f32, {3}, {std::string("ceil")})),
                  "the rounding mode 'ceil' is not known; it is 'floor' or 'trunc'");
}

TEST(Elementwise, DivisionWithoutARoundingModeIsDivision) {
  const Tensor a = tensor_of<i32>(DType::i32, {2}, {7, -7}), b = tensor_of<i32>(DType::i32, {2}, {2, 2});
  EXPECT_EQ(apply<f32>("aten.div.Tensor_mode", {a, b}, DType::f32, {std::monostate()}), (std::vector<f32>{3.5, -3.5}));
}

TEST(Elementwise, ScalarsOutsideOfInt32CompareRightly) {
  const Tensor a = tensor_of<i32>(DType::i32, {3}, {lowest, 0, highest});
  const auto compare = [&](const char* op, i64 scalar) { return apply<u8>(op, {a}, DType::boolean, {scalar}); };
  const std::vector<u8> none{0, 0, 0}, all{1, 1, 1};
  EXPECT_EQ(compare("aten.eq.Scalar", i64(highest) + 1), none);
  EXPECT_EQ(compare("aten.ne.Scalar", i64(highest) + 1), all);
  EXPECT_EQ(compare("aten.lt.Scalar", i64(highest) + 1), all);
  EXPECT_EQ(compare("aten.ge.Scalar", i64(highest) + 1), none);
  EXPECT_EQ(compare("aten.gt.Scalar", i64(lowest) - 1), all);
  EXPECT_EQ(compare("aten.le.Scalar", i64(lowest) - 1), none);
  EXPECT_EQ(compare("aten.lt.Scalar", highest), (std::vector<u8>{1, 1, 0}));
}

TEST(Elementwise, ComparesBytes) {
  const Tensor a = tensor_of<i8>(DType::i8, {5}, {-128, -1, 0, 1, 127}),
               b = tensor_of<i8>(DType::i8, {5}, {127, -1, 1, 0, -128});
  EXPECT_EQ(apply<u8>("aten.lt.Tensor", {a, b}, DType::boolean), (std::vector<u8>{1, 0, 1, 0, 0}));
  EXPECT_EQ(apply<u8>("aten.ge.Scalar", {a}, DType::boolean, {i64(0)}), (std::vector<u8>{0, 0, 1, 1, 1}));
  const Tensor c = tensor_of<u8>(DType::boolean, {5}, {0, 1, 0, 1, 1});
  EXPECT_EQ(apply<u8>("aten.eq.Scalar", {c}, DType::boolean, {i64(1)}), (std::vector<u8>{0, 1, 0, 1, 1}));
  EXPECT_EQ(apply<i8>("aten.where.self", {c, a, b}, DType::i8), (std::vector<i8>{127, -1, 1, 1, 127}));
}

TEST(Elementwise, LogicOfNumbers) {
  const Tensor a = tensor_of<f32>(DType::f32, {4}, {0, nan, -0.0f, 1e-40f}),
               b = tensor_of<f32>(DType::f32, {4}, {1, 1, 1, 0});
  EXPECT_EQ(apply<u8>("aten.logical_not.default", {a}, DType::boolean), (std::vector<u8>{1, 0, 1, 0}));
  EXPECT_EQ(apply<u8>("aten.logical_and.default", {a, b}, DType::boolean), (std::vector<u8>{0, 1, 0, 0}));
  EXPECT_EQ(apply<u8>("aten.logical_or.default", {a, b}, DType::boolean), (std::vector<u8>{1, 1, 1, 1}));
}

TEST(Elementwise, AnAxisOfAnySizeMayBeRepeatedWithoutANewKernel) {
  GraphBuilder b;
  const u32 x = b.input(b.tensor(DType::f32, {4, 2}), true), y = b.input(b.tensor(DType::f32, {4, 2}), true);
  const u32 z = b.output(b.tensor(DType::f32, {4, 2}), true);
  b.op("aten.add.Tensor", {x, y, b.integer(1), z});
  auto program = load(b);
  auto method = program->method();
  ASSERT_TRUE(method.has_value()) << method.error().to_string();
  const Tensor row = tensor_of<f32>(DType::f32, {1, 2}, {10, 20}),
               rows = tensor_of<f32>(DType::f32, {3, 2}, {1, 2, 3, 4, 5, 6});
  for (const auto& [inputs, sum] :
       std::vector<std::pair<std::vector<Tensor>, std::vector<f32>>>{{{row, rows}, {11, 22, 13, 24, 15, 26}},
                                                                     {{rows, row}, {11, 22, 13, 24, 15, 26}},
                                                                     {{rows, rows}, {2, 4, 6, 8, 10, 12}},
                                                                     {{row, row}, {20, 40}}}) {
    auto outputs = method->execute({inputs[0], inputs[1]});
    ASSERT_TRUE(outputs.has_value()) << outputs.error().to_string();
    EXPECT_EQ(values<f32>((*outputs)[0]), sum);
  }
  EXPECT_EQ(method->stats().late_pipelines, 0u);
}

// torch makes 253 of -3 there.
TEST(Elementwise, RefusesDivisorsThatAByteCannotHold) {
  const Tensor u = tensor_of<u8>(DType::u8, {3}, {7, 100, 255}), s = tensor_of<i8>(DType::i8, {3}, {7, -100, 127});
  EXPECT_MENTIONS(error_of(graph("aten.fmod.Scalar", {u}, DType::u8, {3}, {i64(-3)}), {u}),
                  "the divisor -3 does not fit in uint8");
  EXPECT_MENTIONS(error_of(graph("aten.remainder.Scalar", {u}, DType::u8, {3}, {i64(256)}), {u}),
                  "does not fit in uint8");
  EXPECT_MENTIONS(
      error_of(graph("aten.div.Scalar_mode", {s}, DType::i8, {3}, {i64(2147483647), std::string("trunc")}), {s}),
      "the divisor 2147483647 does not fit in int8");
  EXPECT_EQ(values<u8>(run(graph("aten.fmod.Scalar", {u}, DType::u8, {3}, {i64(255)}), {u})[0]),
            (std::vector<u8>{7, 100, 0}));
  EXPECT_EQ(values<i8>(run(graph("aten.remainder.Scalar", {s}, DType::i8, {3}, {i64(-128)}), {s})[0]),
            (std::vector<i8>{-121, -100, -1}));
}

// torch compares with 254 for -2, and an integer in the file may have been a floating-point number.
TEST(Elementwise, RefusesNumbersThatAByteCannotHold) {
  const Tensor u = tensor_of<u8>(DType::u8, {3}, {0, 1, 254}), s = tensor_of<i8>(DType::i8, {3}, {7, -100, 127});
  const auto compared = [](const char* op, const Tensor& x, format::GraphValue number) {
    return error_of(graph(op, {x}, DType::boolean, {3}, {std::move(number)}), {x});
  };
  EXPECT_MENTIONS(compared("aten.eq.Scalar", u, i64(-2)), "the number -2 does not fit in uint8");
  EXPECT_MENTIONS(compared("aten.lt.Scalar", s, 200.0), "the number 200 does not fit in int8");
  EXPECT_MENTIONS(error_of(graph("aten.clamp.default", {u}, DType::u8, {3}, {i64(-1), std::monostate()}), {u}),
                  "the bound -1 does not fit in uint8");
  EXPECT_MENTIONS(error_of(graph("aten.hardtanh.default", {s}, DType::i8, {3}, {i64(0), i64(128)}), {s}),
                  "the bound 128 does not fit in int8");
  EXPECT_MENTIONS(error_of(graph("aten.pow.Tensor_Scalar", {u}, DType::u8, {3}, {i64(258)}), {u}),
                  "the exponent 258 does not fit in uint8");
  EXPECT_EQ(apply<u8>("aten.lt.Scalar", {u}, DType::boolean, {256.5}), (std::vector<u8>{1, 1, 1}));
  EXPECT_EQ(apply<u8>("aten.gt.Scalar", {u}, DType::boolean, {-f64(infinity)}), (std::vector<u8>{1, 1, 1}));
  EXPECT_EQ(apply<u8>("aten.clamp.default", {u}, DType::u8, {std::monostate(), i64(255)}),
            (std::vector<u8>{0, 1, 254}));
}

// torch gives another type then, or refuses it.
TEST(Elementwise, RefusesNumbersThatIntegersAreNot) {
  const Tensor i = tensor_of<i32>(DType::i32, {3}, {-5, 0, 7}), b = tensor_of<u8>(DType::boolean, {3}, {0, 1, 1});
  const auto error = [&](const char* op, const Tensor& x, const std::vector<format::GraphValue>& extra) {
    return error_of(graph(op, {x}, x.dtype(), {3}, extra), {x});
  };
  for (const char* op : {"aten.add.Scalar", "aten.mul.Scalar", "aten.remainder.Scalar", "aten.bitwise_or.Scalar"})
    EXPECT_MENTIONS(error(op, i, {2.5}), "the number 2.5 is not whole, but the result is int32");
  EXPECT_MENTIONS(error("aten.div.Scalar_mode", i, {2.5, std::string("floor")}), "the divisor 2.5 is not whole");
  EXPECT_MENTIONS(error("aten.clamp.default", i, {2.5}), "the bound 2.5 is not whole");
  EXPECT_MENTIONS(error("aten.pow.Tensor_Scalar", i, {0.5}), "the exponent 0.5 is not whole");
  EXPECT_MENTIONS(error("aten.pow.Tensor_Scalar", i, {i64(-1)}), "the exponent -1 is negative");
  EXPECT_MENTIONS(error_of(graph("aten.add.Tensor", {i, i}, DType::i32, {3}, {2.5}), {i, i}), "2.5 is not whole");
  EXPECT_MENTIONS(error("aten.mul.Scalar", b, {i64(3)}), "the number 3 does not fit in bool");
  EXPECT_EQ(apply<i32>("aten.mul.Scalar", {i}, DType::i32, {2.0}), (std::vector<i32>{-10, 0, 14}));
}

// torch multiplies it by 0.
TEST(Elementwise, HardswishOfMinusInfinityIsNoNumber) {
  const Tensor a = tensor_of<f32>(DType::f32, {5}, {-infinity, infinity, -3e38f, -4, 3});
  const auto y = apply<f32>("aten.hardswish.default", {a}, DType::f32);
  EXPECT_TRUE(std::isnan(y[0]));
  EXPECT_EQ((std::vector<f32>{y[1], y[2], y[3], y[4]}), (std::vector<f32>{infinity, 0, 0, 3}));
}

// 0.1 is 0.0999755859375 there.
TEST(Elementwise, HalvesAreComparedWithWhatANumberIsInHalfPrecision) {
  const Tensor a = tensor_of<u16>(DType::f16, {3}, {0x2e66, 0x2e67, 0x7c00});
  const auto compare = [&](const char* op, f64 number) { return apply<u8>(op, {a}, DType::boolean, {number}); };
  EXPECT_EQ(compare("aten.eq.Scalar", 0.1), (std::vector<u8>{1, 0, 0}));
  EXPECT_EQ(compare("aten.ge.Scalar", 0.1), (std::vector<u8>{1, 1, 1}));
  EXPECT_EQ(compare("aten.gt.Scalar", 0.1), (std::vector<u8>{0, 1, 1}));
  EXPECT_EQ(compare("aten.ne.Scalar", 1e30), (std::vector<u8>{1, 1, 0}));
}

}  // namespace
}  // namespace pteron::test
