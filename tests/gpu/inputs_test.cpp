// SPDX-License-Identifier: BSD-3-Clause
// What the host may give, and that a refused call changes nothing.
#include "gpu/environment.h"
#include "support/builder.h"

#include <cmath>
#include <limits>

namespace pteron::test {
namespace {

Program load(const GraphBuilder& b) {
  LoadOptions options;
  options.device = device();
  return *Program::load(b.program(), options);
}

std::vector<f32> floats(const Tensor& t) { return {t.as<f32>().begin(), t.as<f32>().end()}; }

// y = x + x with x [S ≤ 6, 2].
GraphBuilder doubler() {
  GraphBuilder b;
  const u32 x = b.input(b.tensor(DType::f32, {6, 2}), true), y = b.tensor(DType::f32, {6, 2});
  b.op("aten.add.Tensor", {x, x, b.integer(1), y});
  b.output(y, true);
  return b;
}

struct Refused {
  const char* name;
  std::vector<TensorView> inputs;
  std::string message;
};

TEST(Inputs, ABadCallIsRefusedAndTheNextGoodOneIsRight) {
  Program program = load(doubler());
  auto method = program.method();
  ASSERT_TRUE(method.has_value()) << method.error().to_string();
  const std::vector<f32> data(20, 1.5f);
  const auto view = [&](DType t, const Shape& shape) {
    return TensorView{t, shape, std::as_bytes(std::span(data)).first(shape.numel() * size_of(t))};
  };
  const TensorView null{DType::f32, {2, 2}, Bytes(static_cast<const std::byte*>(nullptr), 16)};
  const TensorView short_data{DType::f32, {2, 2}, std::as_bytes(std::span(data)).first(12)};
  const Refused cases[] = {
      {"no input", {}, "takes 1 inputs, but 0"},
      {"two inputs", {view(DType::f32, {2, 2}), view(DType::f32, {2, 2})}, "takes 1 inputs, but 2"},
      {"dtype", {view(DType::i32, {2, 2})}, "should be float32, but int32"},
      {"rank", {view(DType::f32, {4})}, "rank 2"},
      {"over the maximum", {view(DType::f32, {7, 2})}, "has 7 in axis 0, but the program allows at most 6"},
      {"zero", {view(DType::f32, {0, 2})}, "has 0 in axis 0"},
      {"null", {null}, "needs 16 bytes"},
      {"too short", {short_data}, "needs 16 bytes, but 12"},
  };
  for (const Refused& c : cases) {
    const auto outputs = method->execute(c.inputs);
    ASSERT_FALSE(outputs.has_value()) << c.name;
    EXPECT_EQ(outputs.error().kind, ErrorKind::invalid) << c.name;
    EXPECT_NE(outputs.error().to_string().find(c.message), std::string::npos)
        << c.name << ": " << outputs.error().to_string();
    const auto good = method->execute({view(DType::f32, {3, 2})});
    ASSERT_TRUE(good.has_value()) << c.name << ": " << good.error().to_string();
    EXPECT_TRUE((*good)[0].shape() == (Shape{3, 2}));
    EXPECT_EQ(floats((*good)[0]), std::vector<f32>(6, 3.0f));
  }
}

TEST(Inputs, AStaticInputTakesOneShapeOnly) {
  GraphBuilder b;
  const u32 x = b.input(b.tensor(DType::f32, {4})), y = b.tensor(DType::f32, {4});
  b.op("aten.sigmoid.default", {x, y});
  b.output(y);
  Program program = load(b);
  auto method = program.method();
  ASSERT_TRUE(method.has_value());
  const auto outputs = method->execute({tensor_of<f32>(DType::f32, {3}, {1, 2, 3})});
  ASSERT_FALSE(outputs.has_value());
  EXPECT_NE(outputs.error().message.find("should have shape [4], but [3]"), std::string::npos);
}

TEST(Inputs, NanAndInfinityGoThrough) {
  Program program = load(doubler());
  auto method = program.method();
  const f32 inf = std::numeric_limits<f32>::infinity();
  const auto outputs = method->execute({tensor_of<f32>(DType::f32, {2, 2}, {std::nanf(""), inf, -inf, 0})});
  ASSERT_TRUE(outputs.has_value());
  const auto values = floats((*outputs)[0]);
  EXPECT_TRUE(std::isnan(values[0]));
  EXPECT_EQ(values[1], inf);
  EXPECT_EQ(values[2], -inf);
}

TEST(Inputs, Int64IsNarrowedWithARangeCheck) {
  GraphBuilder b;
  const u32 x = b.input(b.tensor(DType::i32, {3}), false, DType::i64), y = b.tensor(DType::i32, {3});
  b.op("aten.add.Tensor", {x, x, b.integer(1), y});
  b.output(y, false, DType::i64);
  Program program = load(b);
  auto method = program.method();
  ASSERT_TRUE(method.has_value()) << method.error().to_string();
  auto outputs = method->execute({tensor_of<i64>(DType::i64, {3}, {1, -1000000000, 16777217})});
  ASSERT_TRUE(outputs.has_value()) << outputs.error().to_string();
  EXPECT_EQ((*outputs)[0].dtype(), DType::i64);
  EXPECT_EQ((*outputs)[0].as<i64>()[1], -2000000000);
  EXPECT_EQ((*outputs)[0].as<i64>()[2], 33554434);  // exact: not computed as floats
  outputs = method->execute({tensor_of<i64>(DType::i64, {3}, {1, i64(1) << 31, 0})});
  ASSERT_FALSE(outputs.has_value());
  EXPECT_NE(outputs.error().to_string().find("element 1 is 2147483648"), std::string::npos)
      << outputs.error().to_string();
  outputs = method->execute({tensor_of<i64>(DType::i64, {3}, {5, 6, 7})});
  ASSERT_TRUE(outputs.has_value());
  EXPECT_EQ((*outputs)[0].as<i64>()[2], 14);
}

TEST(Inputs, Float64AndFloat16AreConvertedAtTheBorder) {
  GraphBuilder b;
  const u32 x = b.input(b.tensor(DType::f32, {2}), false, DType::f64), y = b.tensor(DType::f32, {2});
  b.op("aten.add.Tensor", {x, x, b.integer(1), y});
  b.output(y, false, DType::f64);
  Program program = load(b);
  auto method = program.method();
  ASSERT_TRUE(method.has_value()) << method.error().to_string();
  auto outputs = method->execute({tensor_of<f64>(DType::f64, {2}, {0.25, -3})});
  ASSERT_TRUE(outputs.has_value()) << outputs.error().to_string();
  EXPECT_EQ((*outputs)[0].as<f64>()[0], 0.5);

  GraphBuilder half;
  const u32 h = half.input(half.tensor(DType::f16, {3}), false, DType::f32), z = half.tensor(DType::f16, {3});
  half.op("aten.add.Tensor", {h, h, half.integer(1), z});
  half.output(z, false, DType::f32);
  Program half_program = load(half);
  auto half_method = half_program.method();
  ASSERT_TRUE(half_method.has_value()) << half_method.error().to_string();
  outputs = half_method->execute({tensor_of<f32>(DType::f32, {3}, {0.5f, -2, 1000})});
  ASSERT_TRUE(outputs.has_value()) << outputs.error().to_string();
  EXPECT_EQ(floats((*outputs)[0]), (std::vector<f32>{1, -4, 2000}));
}

TEST(Inputs, MethodsWithoutInputsGiveTheirConstants) {
  format::ProgramDraft draft;
  draft.methods.push_back(format::constant_method("get_vocab_size", {format::ProgramValue(i64(512))}));
  std::vector<std::byte> file;
  ASSERT_TRUE(format::write_program(draft, [&](Bytes bytes) -> Status {
                file.insert(file.end(), bytes.begin(), bytes.end());
                return {};
              }).has_value());
  auto program = Program::load(file);
  ASSERT_TRUE(program.has_value()) << program.error().to_string();
  EXPECT_EQ(program->constant("get_vocab_size"), std::vector<i64>{512});
  EXPECT_FALSE(program->constant("get_bos_id").has_value());
  auto method = program->method("get_vocab_size");
  ASSERT_TRUE(method.has_value());
  auto outputs = method->execute({});
  ASSERT_TRUE(outputs.has_value());
  EXPECT_EQ((*outputs)[0].as<i64>()[0], 512);
  const auto missing = program->method("forward");
  ASSERT_FALSE(missing.has_value());
  EXPECT_NE(missing.error().message.find("it has: get_vocab_size"), std::string::npos);
}

}  // namespace
}  // namespace pteron::test
