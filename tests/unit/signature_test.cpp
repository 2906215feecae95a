// SPDX-License-Identifier: BSD-3-Clause
// What files may say about an op's arguments: checked before any plan runs.
#include "graph/op.h"
#include "graph/pass.h"
#include "support/builder.h"

#include <gtest/gtest.h>

#include <cmath>

namespace pteron::graph {
namespace {

using test::GraphBuilder;

Result<Graph> read(const GraphBuilder& b) {
  const auto blob = b.blob();
  TRY(const auto header, format::read_delegate_header(blob));
  TRY(const auto parsed, format::read_delegate_graph(blob, header));
  return build_graph(parsed, {0, {0, blob.size()}}, {});
}

std::string error_of(const GraphBuilder& b) {
  const auto graph = read(b);
  return graph ? "" : graph.error().to_string();
}

void expect_error(const GraphBuilder& b, const std::string& part) {
  EXPECT_NE(error_of(b).find(part), std::string::npos) << "'" << error_of(b) << "' does not contain '" << part << "'";
}

// A graph of one op.
struct OneOp {
  GraphBuilder b;
  u32 x = b.input(b.tensor(DType::f32, {4})), y = b.tensor(DType::f32, {4});

  GraphBuilder& op(std::string name, std::vector<u32> args) {
    b.op(std::move(name), std::move(args));
    return b;
  }
};

TEST(Signature, IsParsedFromItsNotation) {
  constexpr Signature s =
      "x, inout m, sizes: ints, bias?, eps: number = -1.5e-3, mode: text = none, ... -> [a, b, ...]"_sig;
  ASSERT_EQ(s.params.size(), 7u);
  EXPECT_TRUE(s.ignores_more);
  EXPECT_EQ(s.params[0].name, "x");
  EXPECT_EQ(s.params[0].kind, Kind::tensor);
  EXPECT_FALSE(s.params[0].optional);
  EXPECT_EQ(s.params[1].role, Role::inout);
  EXPECT_EQ(s.params[2].kind, Kind::integers);
  EXPECT_TRUE(s.params[3].optional);
  EXPECT_EQ(s.params[4].number, -1.5e-3);
  EXPECT_EQ(s.params[5].text, "none");
  EXPECT_EQ(s.params[6].kind, Kind::tensors);
  EXPECT_EQ(s.params[6].items, 2);
  EXPECT_TRUE(s.params[6].open);
  constexpr Signature n = "host x, low: number = -inf, keep: flag = true -> n: symint"_sig;
  EXPECT_EQ(n.params[0].role, Role::host);
  EXPECT_EQ(n.params[1].number, -INFINITY);
  EXPECT_EQ(n.params[2].number, 1);
  EXPECT_EQ(n.params[3].kind, Kind::symint);
  EXPECT_EQ("-> out"_sig.params.size(), 1u);
}

TEST(Signature, EveryOpHasOne) {
  u32 count = 0;
  for (const OpList& list : all_ops())
    for (const OpEntry& entry : list) {
      ++count;
      ASSERT_FALSE(entry.signature.params.empty()) << entry.name;
      EXPECT_EQ(entry.signature.params.back().role, Role::out) << entry.name;
      EXPECT_EQ(entry.is(internal), entry.name.starts_with("pteron.")) << entry.name;
    }
  EXPECT_GT(count, 150u);
}

TEST(Signature, RefusesTheEnginesOwnOps) {
  for (const OpList& list : all_ops())
    for (const OpEntry& entry : list) {
      if (!entry.is(internal)) continue;
      const std::string refusal = str("op 0 ", entry.name, ": this op is the engine's own; a file can't have it");
      EXPECT_EQ(error_of(OneOp().op(std::string(entry.name), {})), refusal);
      OneOp some;
      EXPECT_EQ(error_of(some.op(std::string(entry.name), {some.x, some.y})), refusal);
      OneOp many;
      EXPECT_EQ(error_of(many.op(std::string(entry.name), std::vector<u32>(16, many.b.list({many.x})))), refusal);
    }
}

TEST(Signature, RefusesWrongKindsAndNamesTheArgument) {
  OneOp a;
  expect_error(a.op("aten.add.Tensor", {a.x, a.b.integer(3), a.b.integer(1), a.y}),
               "op 0 aten.add.Tensor: argument 1 'b' should be a tensor, but is an integer");
  OneOp b;
  expect_error(b.op("aten.add.Tensor", {b.x, b.x, b.b.text("1"), b.y}),
               "argument 2 'alpha' should be a number or Null, but is a string");
  OneOp c;
  expect_error(c.op("aten.permute_copy.default", {c.x, c.b.integer(0), c.y}),
               "argument 1 'axes' should be a list of integers, but is an integer");
  OneOp d;
  expect_error(d.op("aten.permute_copy.default", {d.x, d.b.list({d.x}), d.y}),
               "argument 1 'axes' should be a list of integers, but is a list of values");
  OneOp e;
  expect_error(e.op("aten.cat.default", {e.x, e.b.integer(0), e.y}),
               "argument 0 'xs' should be a list of tensors, but is a tensor");
  OneOp f;
  expect_error(f.op("aten.cat.default", {f.b.list({f.x, f.b.null()}), f.b.integer(0), f.y}),
               "argument 0 'xs' should be a list of tensors, but is a list of values");
  OneOp g;
  expect_error(g.op("aten.select_copy.int", {g.x, g.b.number(0.5), g.b.integer(0), g.y}),
               "argument 1 'axis' should be an integer, but is a number");
  OneOp h;
  expect_error(h.op("aten.relu.default", {h.x, h.b.integer(1)}),
               "the last argument, the result 'out', should be a tensor, but is an integer");
  OneOp i;
  expect_error(i.op("aten.clone.default", {i.x, i.x, i.y}),
               "argument 1 should be Null, a number or a list, but is a tensor");
  OneOp j;
  expect_error(j.op("sym_size.int", {j.x, j.b.integer(0), j.y}),
               "the result 'out', should be a symbolic integer, but is a tensor");
}

TEST(Signature, RefusesWhatAnOpUpdatesAsAnotherOfItsArguments) {
  const auto adamw = [](bool prepacked, bool twice) {
    GraphBuilder b;
    const u32 m = b.constant<f32>(DType::f32, {4}, {1, 2, 3, 4});
    u32 name = m;
    if (prepacked) b.op("et_vk.prepack.default", {m, name = b.tensor(DType::f32, {4})});
    const u32 value = b.input(b.tensor(DType::f32, {4})), v = twice ? m : b.tensor(DType::f32, {4});
    const u32 n = b.number(0.5), grad = twice ? b.tensor(DType::f32, {4}) : name;
    b.op("et_vk.adamw_step.default", {value, m, v, grad, n, n, n, n, n, n, n, b.list({value, m, v})});
    b.output(value);
    return b;
  };
  for (bool prepacked : {false, true})
    expect_error(adamw(prepacked, false),
                 "argument 3 'grad' is the same memory as argument 1 'm', which the op updates");
  expect_error(adamw(false, true), "argument 2 'v' is the same memory as argument 1 'm', which the op updates");
}

TEST(Signature, RefusesWrongNumbersOfArguments) {
  expect_error(OneOp().op("aten.add.Tensor", {}), "op 0 aten.add.Tensor: the op has no arguments, so no result");
  OneOp few;
  expect_error(few.op("aten.add.Tensor", {few.x, few.y}),
               "argument 1 'b', a tensor, is missing; the op has 1 arguments and a result");
  OneOp many;
  expect_error(many.op("aten.relu.default", {many.x, many.x, many.y}),
               "the op has 2 arguments and a result; it takes at most 1");
  OneOp results;
  expect_error(
      results.op("aten.native_layer_norm.default", {results.x, results.b.ints({4}), results.b.null(), results.b.null(),
                                                    results.b.number(0), results.b.list({results.y})}),
      "the op has 1 results; it makes 3");
}

TEST(Signature, TakesWhatExportersWriteForEachOther) {
  // Int, Double, Bool and SymInt for a number; a ValueList for a list of integers; Null and nothing for a default.
  OneOp a;
  a.op("aten.add.Tensor", {a.x, a.x, a.b.number(1), a.y});
  a.op("aten.add.Tensor", {a.x, a.x, a.b.boolean(true), a.y});
  a.op("aten.add.Tensor", {a.x, a.x, a.b.null(), a.y});
  a.op("aten.add.Tensor", {a.x, a.x, a.y});
  const u32 n = a.b.symint();
  a.op("sym_size.int", {a.x, a.b.number(0), n});
  a.op("sym_size.int", {a.x, a.b.boolean(false), a.b.integer(4)});
  a.op("aten.view_copy.default", {a.x, a.b.list({n}), a.y});
  a.op("aten.view_copy.default", {a.x, a.b.list({a.b.number(4)}), a.y});
  a.op("aten.full_like.default", {a.x, n, a.b.null(), a.b.null(), a.b.boolean(false), a.b.ints({}), a.y});
  const auto graph = read(a.b);
  ASSERT_TRUE(graph.has_value()) << graph.error().to_string();
  for (const Op& op : graph->ops) EXPECT_EQ(op.args.size(), op.entry->signature.params.size()) << op.name;
}

TEST(Signature, ProblemsAreListedTogether) {
  OneOp a;
  a.op("aten.relu.default", {a.b.integer(1), a.y});
  a.op("pteron.linear_q4", {a.x});
  a.op("aten.relu.default", {a.x, a.y});
  a.op("aten.none.default", {a.x, a.y});
  const auto blob = a.b.blob();
  const auto parsed = format::read_delegate_graph(blob, *format::read_delegate_header(blob));
  std::vector<UnsupportedOp> problems;
  const auto graph = build_graph(*parsed, {}, {}, &problems);
  ASSERT_TRUE(graph.has_value());
  ASSERT_EQ(problems.size(), 3u);
  EXPECT_EQ(problems[0].reason, "argument 0 'a' should be a tensor, but is an integer");
  EXPECT_EQ(problems[1].position, 1u);
  EXPECT_EQ(problems[2].position, 3u);
}

// --- symbolic integers

std::string symint_error(const char* name, i64 a, i64 b) {
  GraphBuilder g;
  g.op(name, {g.integer(a), g.integer(b), g.symint()});
  g.output(g.input(g.tensor(DType::f32, {1})));
  auto graph = read(g);
  if (!graph) return graph.error().to_string();
  CompileOptions options;
  options.disabled_passes = {"dead-code"};
  const auto compiled = compile(*std::move(graph), {}, options);
  return compiled ? "" : compiled.error().to_string();
}

TEST(SymInt, ArithmeticThatOverflowsIsAnError) {
  EXPECT_NE(symint_error("floordiv", INT64_MIN, -1).find("floordiv of -9223372036854775808 and -1 does not fit in 64"),
            std::string::npos);
  EXPECT_NE(symint_error("add", INT64_MAX, 1).find("add of 9223372036854775807 and 1 does not fit"), std::string::npos);
  EXPECT_NE(symint_error("add", INT64_MIN, -1).find("does not fit"), std::string::npos);
  EXPECT_NE(symint_error("sub", INT64_MIN, 1).find("does not fit"), std::string::npos);
  EXPECT_NE(symint_error("sub", 0, INT64_MIN).find("does not fit"), std::string::npos);
  EXPECT_NE(symint_error("mul", INT64_MIN, -1).find("does not fit"), std::string::npos);
  EXPECT_NE(symint_error("floordiv", 1, 0).find("1 is divided by 0"), std::string::npos);
  EXPECT_NE(symint_error("add", INT32_MAX, 1).find("does not fit in 32 bits"), std::string::npos);
  EXPECT_EQ(symint_error("floordiv", -7, 2), "");
  EXPECT_EQ(symint_error("lt", INT64_MIN, INT64_MAX), "");
}

TEST(SymInt, TermsThatOverflowTogetherAreAnErrorWhateverComesAfterThem) {
  GraphBuilder g;
  g.op("sym_sum", {g.ints({INT64_MAX, 1, -INT64_MAX}), g.symint()});
  g.output(g.input(g.tensor(DType::f32, {1})));
  auto graph = read(g);
  ASSERT_TRUE(graph.has_value()) << graph.error().to_string();
  CompileOptions options;
  options.disabled_passes = {"dead-code"};
  const auto compiled = compile(*std::move(graph), {}, options);
  ASSERT_FALSE(compiled.has_value());
  EXPECT_NE(compiled.error().to_string().find("the sum of 3 terms does not fit in 64 bits"), std::string::npos)
      << compiled.error().to_string();
}

// 2⁵³ + 1 has no double of its own.
TEST(SymInt, LargeIntegersAreComparedAsIntegers) {
  const auto divided_by = [](const char* comparison) {
    GraphBuilder g;
    const u32 holds = g.symint();
    g.op(comparison, {g.integer((i64{1} << 53) + 1), g.integer(i64{1} << 53), holds});
    g.op("floordiv", {g.integer(1), holds, g.symint()});
    g.output(g.input(g.tensor(DType::f32, {1})));
    CompileOptions options;
    options.disabled_passes = {"dead-code"};
    auto graph = read(g);
    return graph && compile(*std::move(graph), {}, options);
  };
  EXPECT_TRUE(divided_by("ne") && divided_by("gt") && divided_by("ge"));
  EXPECT_FALSE(divided_by("eq") || divided_by("le") || divided_by("lt"));
}

// Numbers that no integer can hold, wherever a pass or a plan wants an integer.
TEST(SymInt, NumbersBeyondAllIntegersAreRefused) {
  for (f64 number : {1e300, -1e300, 9.3e18, f64(INFINITY), f64(NAN)}) {
    GraphBuilder b;
    const u32 x = b.input(b.tensor(DType::f32, {1, 8})), y = b.tensor(DType::f32, {1, 4});
    const u32 w = b.constant<u8>(DType::u8, {4, 4}, std::vector<u8>(16)),
              s = b.constant<f32>(DType::f32, {1, 4}, std::vector<f32>(4));
    b.op("et_vk.linear_q4gsw.default", {x, w, s, b.number(number), b.null(), y});
    b.output(y);
    expect_error(b, "argument 3 'group' should be an integer, but is a number");
  }
}

}  // namespace
}  // namespace pteron::graph
