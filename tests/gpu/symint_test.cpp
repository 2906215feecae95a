// SPDX-License-Identifier: BSD-3-Clause
// Symbolic integers and live shapes: nothing is stale, and a failed step leaves no trace.
#include "base/text.h"
#include "gpu/environment.h"
#include "support/builder.h"

namespace pteron::test {
namespace {

Program load(const GraphBuilder& b) {
  LoadOptions options;
  options.device = device();
  return *Program::load(b.program(), options);
}

std::vector<f32> floats(const Tensor& t) { return {t.as<f32>().begin(), t.as<f32>().end()}; }

std::vector<f32> iota(u32 count) {
  std::vector<f32> out(count);
  for (u32 i = 0; i < count; ++i) out[i] = f32(i);
  return out;
}

// out = table[position : position + 2], position read from an input of the given dtype.
GraphBuilder reader(DType host, i64 index) {
  GraphBuilder b;
  const u32 position = b.input(b.tensor(DType::i32, {3}), false, host);
  const u32 table = b.constant<f32>(DType::f32, {8}, iota(8)), y = b.tensor(DType::f32, {2});
  const u32 start = b.symint(), end = b.symint();
  b.op("et_vk.select_as_symint.default", {position, b.integer(0), b.integer(index), start});
  b.op("add", {start, b.integer(2), end});
  b.op("aten.slice_copy.Tensor", {table, b.integer(0), start, end, b.integer(1), y});
  b.output(y);
  return b;
}

TEST(SelectAsSymint, ReadsInt32AndInt64Inputs) {
  for (DType host : {DType::i32, DType::i64})
    for (i64 index : {0, 2, -1}) {
      Program program = load(reader(host, index));
      auto method = program.method();
      ASSERT_TRUE(method.has_value()) << method.error().to_string();
      for (i32 position : {0, 5, 6, 1}) {
        Tensor input(host, {3});
        const u32 at = u32(index < 0 ? index + 3 : index);
        if (host == DType::i64)
          input.as<i64>()[at] = position;
        else
          input.as<i32>()[at] = position;
        auto outputs = method->execute({input});
        ASSERT_TRUE(outputs.has_value()) << outputs.error().to_string();
        EXPECT_EQ(floats((*outputs)[0]), (std::vector<f32>{f32(position), f32(position + 1)}));
      }
    }
}

TEST(SelectAsSymint, RefusesAnIndexOutOfRange) {
  Program program = load(reader(DType::i64, 3));
  const auto method = program.method();
  ASSERT_FALSE(method.has_value());
  EXPECT_NE(method.error().to_string().find("index 3 is out of range for axis 0 of [3]"), std::string::npos)
      << method.error().to_string();
}

TEST(SelectAsSymint, RefusesAValueThatIsNotAnInput) {
  GraphBuilder b;
  const u32 x = b.input(b.tensor(DType::i32, {2})), y = b.tensor(DType::i32, {2});
  b.op("aten.add.Tensor", {x, x, b.integer(1), y});
  const u32 first = b.symint(), rows = b.tensor(DType::i32, {2});
  b.op("et_vk.select_as_symint.default", {y, b.integer(0), b.integer(0), first});
  b.op("aten.slice_copy.Tensor", {x, b.integer(0), b.integer(0), first, b.integer(1), rows});
  b.output(rows, true);
  Program program = load(b);
  const auto method = program.method();
  ASSERT_FALSE(method.has_value());
  EXPECT_NE(method.error().to_string().find("it is not an input of the graph"), std::string::npos);
}

// z = cat(x, x)[: sym_size(cat)] · … : the size of an intermediate decides.
TEST(SymSize, OfAnIntermediateIsNeverStale) {
  GraphBuilder b;
  const u32 x = b.input(b.tensor(DType::f32, {4}), true);
  const u32 twice = b.tensor(DType::f32, {8}), table = b.constant<f32>(DType::f32, {8}, iota(8));
  const u32 size = b.symint(), rows = b.tensor(DType::f32, {8}), y = b.tensor(DType::f32, {8});
  b.op("aten.cat.default", {b.list({x, x}), b.integer(0), twice});
  b.op("sym_size.int", {twice, b.integer(0), size});
  b.op("aten.slice_copy.Tensor", {table, b.integer(0), b.null(), size, b.integer(1), rows});
  b.op("aten.add.Tensor", {twice, rows, b.integer(1), y});
  b.output(y, true);
  Program program = load(b);
  auto method = program.method();
  ASSERT_TRUE(method.has_value()) << method.error().to_string();
  for (u32 live : {4, 1, 3, 2, 4, 1}) {
    auto outputs = method->execute({tensor_of<f32>(DType::f32, {live}, std::vector<f32>(live, 10))});
    ASSERT_TRUE(outputs.has_value()) << outputs.error().to_string();
    auto expected = iota(2 * live);
    for (f32& v : expected) v += 10;
    EXPECT_EQ(floats((*outputs)[0]), expected);
  }
}

TEST(SymInt, ArithmeticFloorsAndRefusesDivisionByZero) {
  GraphBuilder b;
  const u32 position = b.input(b.tensor(DType::i32, {2}));
  const u32 a = b.symint(), d = b.symint(), quotient = b.symint();
  b.op("et_vk.select_as_symint.default", {position, b.integer(0), b.integer(0), a});
  b.op("et_vk.select_as_symint.default", {position, b.integer(0), b.integer(1), d});
  b.op("floordiv", {a, d, quotient});
  const u32 shifted = b.symint(), start = b.symint(), end = b.symint();
  b.op("mul", {quotient, b.integer(-1), shifted});
  b.op("sub", {shifted, b.integer(1), start});
  b.op("add", {start, b.integer(1), end});
  const u32 table = b.constant<f32>(DType::f32, {8}, iota(8)), y = b.tensor(DType::f32, {1});
  b.op("aten.slice_copy.Tensor", {table, b.integer(0), start, end, b.integer(1), y});
  b.output(y);
  Program program = load(b);
  auto method = program.method();
  ASSERT_TRUE(method.has_value()) << method.error().to_string();
  const auto run = [&](i32 n, i32 m) { return method->execute({tensor_of<i32>(DType::i32, {2}, {n, m})}); };
  auto outputs = run(-7, 2);  // ⌊−3.5⌋ = −4 → start 3
  ASSERT_TRUE(outputs.has_value()) << outputs.error().to_string();
  EXPECT_EQ(floats((*outputs)[0]), std::vector<f32>{3});
  outputs = run(1, 0);
  ASSERT_FALSE(outputs.has_value());
  EXPECT_NE(outputs.error().to_string().find("op 2 floordiv: 1 is divided by 0"), std::string::npos)
      << outputs.error().to_string();
  outputs = run(-7, 2);
  ASSERT_TRUE(outputs.has_value());
  EXPECT_EQ(floats((*outputs)[0]), std::vector<f32>{3});
  EXPECT_FALSE(run(INT32_MIN, -1).has_value());  // 2³¹ does not fit
}

// y = position[0] op b as a number.
GraphBuilder calculator(const std::string& name, std::optional<f64> second) {
  GraphBuilder b;
  const u32 position = b.input(b.tensor(DType::i32, {1})), a = b.symint(), result = b.symint();
  b.op("et_vk.select_as_symint.default", {position, b.integer(0), b.integer(0), a});
  b.op(name, second ? std::vector<u32>{a, b.number(*second), result} : std::vector<u32>{a, result});
  const u32 y = b.tensor(DType::f32, {});
  b.op("aten.scalar_tensor.default", {result, b.null(), b.null(), b.null(), b.null(), y});
  b.output(y);
  return b;
}

TEST(SymInt, NumbersMayHaveFractions) {
  const auto of = [](const std::string& name, std::optional<f64> second, i32 first) -> std::string {
    Program program = load(calculator(name, second));
    auto method = program.method();
    if (!method) return method.error().to_string();
    auto outputs = method->execute({tensor_of<i32>(DType::i32, {1}, {first})});
    return outputs ? str((*outputs)[0].as<f32>()[0]) : outputs.error().to_string();
  };
  EXPECT_EQ(of("truediv", 4, 7), str(1.75f));
  EXPECT_EQ(of("mod", 3, -7), str(2.0f));
  EXPECT_EQ(of("mod", -3, 7), str(-2.0f));
  EXPECT_EQ(of("pow", -2, 4), str(0.0625f));
  EXPECT_EQ(of("pow", 31, -2), str(f32(INT32_MIN)));
  EXPECT_EQ(of("sym_min", 2.5, 3), str(2.5f));
  EXPECT_EQ(of("neg", std::nullopt, 3), str(-3.0f));
  EXPECT_NE(of("mod", 0, 7).find("is divided by 0"), std::string::npos);
  EXPECT_NE(of("truediv", 0, 7).find("is divided by 0"), std::string::npos);
  EXPECT_NE(of("pow", 64, 2).find("does not fit in 64 bits"), std::string::npos);
  EXPECT_NE(of("pow", 40, 2).find("does not fit in 32 bits"), std::string::npos);
  EXPECT_NE(of("pow", 0.5, -2).find("pow of -2 and 0.5 is"), std::string::npos);
}

TEST(SymInt, AFractionIsNoSize) {
  GraphBuilder b;
  const u32 position = b.input(b.tensor(DType::i32, {1})), a = b.symint(), half = b.symint();
  b.op("et_vk.select_as_symint.default", {position, b.integer(0), b.integer(0), a});
  b.op("truediv", {a, b.integer(2), half});
  const u32 y = b.tensor(DType::f32, {4});
  b.op("aten.full.default", {b.list({half}), b.number(1), y});
  b.output(y, true);
  Program program = load(b);
  auto method = program.method();
  ASSERT_TRUE(method.has_value()) << method.error().to_string();
  auto outputs = method->execute({tensor_of<i32>(DType::i32, {1}, {5})});
  ASSERT_FALSE(outputs.has_value());
  EXPECT_NE(outputs.error().to_string().find("a symbolic number is 2.5, but an integer is needed"), std::string::npos);
  outputs = method->execute({tensor_of<i32>(DType::i32, {1}, {6})});
  ASSERT_TRUE(outputs.has_value()) << outputs.error().to_string();
  EXPECT_EQ((*outputs)[0].numel(), 3u);
}

TEST(LiveShapes, AFailedStepLeavesShapesAndNumbersAsTheyWere) {
  // x [S ≤ 8]; y = x[p : p+2] fails for p > 6 because the result would be shorter than its file says … it may not be
  // longer; z = x + x shares x's live size.
  GraphBuilder b;
  const u32 x = b.input(b.tensor(DType::f32, {8}), true), position = b.input(b.tensor(DType::i32, {1}));
  const u32 p = b.symint(), z = b.tensor(DType::f32, {8}), y = b.tensor(DType::f32, {7});
  b.op("et_vk.select_as_symint.default", {position, b.integer(0), b.integer(0), p});
  b.op("aten.add.Tensor", {x, x, b.integer(1), z});
  b.op("aten.slice_copy.Tensor", {z, b.integer(0), p, b.null(), b.integer(1), y});
  b.output(y, true);
  Program program = load(b);
  auto method = program.method();
  ASSERT_TRUE(method.has_value()) << method.error().to_string();
  const auto run = [&](u32 live, i32 at) {
    return method->execute({tensor_of<f32>(DType::f32, {live}, iota(live)), tensor_of<i32>(DType::i32, {1}, {at})});
  };
  auto outputs = run(5, 2);
  ASSERT_TRUE(outputs.has_value()) << outputs.error().to_string();
  EXPECT_EQ(floats((*outputs)[0]), (std::vector<f32>{4, 6, 8}));
  outputs = run(8, 0);  // eight elements, but the program allows seven
  ASSERT_FALSE(outputs.has_value());
  EXPECT_NE(outputs.error().to_string().find("the result has shape [8], but the program allows at most [7]"),
            std::string::npos)
      << outputs.error().to_string();
  outputs = run(5, 2);
  ASSERT_TRUE(outputs.has_value());
  EXPECT_EQ(floats((*outputs)[0]), (std::vector<f32>{4, 6, 8}));
}

TEST(LiveShapes, ResidualAddFollowsEitherOperandInAnyOrder) {
  for (bool swapped : {false, true}) {
    GraphBuilder b;
    const u32 x = b.input(b.tensor(DType::f32, {1, 6, 2}), true), h = b.tensor(DType::f32, {1, 6, 2}),
              y = b.tensor(DType::f32, {1, 6, 2});
    b.op("aten.sigmoid.default", {x, h});
    b.op("aten.add.Tensor",
         swapped ? std::vector<u32>{h, x, b.integer(1), y} : std::vector<u32>{x, h, b.integer(1), y});
    b.output(y, true);
    Program program = load(b);
    auto method = program.method();
    ASSERT_TRUE(method.has_value()) << method.error().to_string();
    for (u32 live : {6, 1, 4, 6}) {
      auto outputs = method->execute({tensor_of<f32>(DType::f32, {1, live, 2}, std::vector<f32>(size_t(live) * 2, 0))});
      ASSERT_TRUE(outputs.has_value());
      EXPECT_EQ(floats((*outputs)[0]), std::vector<f32>(size_t(live) * 2, 0.5f));
    }
  }
}

TEST(Rotary, FollowsLiveSizesOfQueryAndKeyAlone) {
  GraphBuilder b;
  const u32 q = b.input(b.tensor(DType::f32, {1, 4, 1, 2}), true),
            k = b.input(b.tensor(DType::f32, {1, 4, 1, 2}), true);
  const u32 c = b.constant<f32>(DType::f32, {3, 1}, {0, 0, 0}), s = b.constant<f32>(DType::f32, {3, 1}, {1, 1, 1});
  const u32 qo = b.tensor(DType::f32, {1, 4, 1, 2}), ko = b.tensor(DType::f32, {1, 4, 1, 2});
  b.op("et_vk.apply_rotary_emb.default", {q, k, c, s, b.list({qo, ko})});
  b.output(qo, true);
  b.output(ko, true);
  Program program = load(b);
  auto method = program.method();
  ASSERT_TRUE(method.has_value()) << method.error().to_string();
  const auto input = [](u32 n) { return tensor_of<f32>(DType::f32, {1, n, 1, 2}, iota(2 * n)); };
  const auto turned = [](u32 n) {  // a quarter turn: (a, b) → (−b, a)
    std::vector<f32> out;
    for (u32 i = 0; i < n; ++i) out.push_back(-f32(2 * i + 1)), out.push_back(f32(2 * i));
    return out;
  };
  for (const auto& [nq, nk] : {std::pair{3, 3}, {1, 3}, {3, 1}, {2, 3}, {3, 3}}) {
    auto outputs = method->execute({input(u32(nq)), input(u32(nk))});
    ASSERT_TRUE(outputs.has_value()) << outputs.error().to_string();
    EXPECT_EQ(floats((*outputs)[0]), turned(u32(nq)));
    EXPECT_EQ(floats((*outputs)[1]), turned(u32(nk)));
  }
  // The tables have three rows, so four positions are one too many.
  const auto longer = method->execute({input(4), input(3)});
  ASSERT_FALSE(longer.has_value());
  EXPECT_NE(longer.error().to_string().find("the tables have 3 rows, but the input has 4 positions"), std::string::npos)
      << longer.error().to_string();
}

}  // namespace
}  // namespace pteron::test
