// SPDX-License-Identifier: BSD-3-Clause
// Data movement that no exporter emits: bytes, many axes, symbolic sizes, arguments that make no sense.
#include "gpu/one_op.h"

namespace pteron::test {
namespace {

using Extra = std::vector<format::GraphValue>;

// y = op(x, extra…)
GraphBuilder graph(const std::string& op, DType dtype, const Shape& in, const Shape& out, const Extra& extra) {
  GraphBuilder b;
  std::vector<u32> args{b.input(b.tensor(dtype, in))};
  for (const auto& value : extra) args.push_back(b.value(value));
  args.push_back(b.output(b.tensor(dtype, out)));
  b.op(op, args);
  return b;
}

std::vector<u8> moved_bytes(const std::string& op, const Shape& in, const Shape& out, const Extra& extra) {
  const auto outputs = run(graph(op, DType::u8, in, out, extra), {counting<u8>(DType::u8, in)});
  return outputs.empty() ? std::vector<u8>() : values<u8>(outputs[0]);
}

std::string complaint(const std::string& op, const Shape& in, const Shape& out, const Extra& extra) {
  return error_of(graph(op, DType::f32, in, out, extra));
}

using Ints = std::vector<i64>;

TEST(Move, Bytes) {
  EXPECT_EQ(moved_bytes("aten.permute_copy.default", {2, 3}, {3, 2}, {Ints{1, 0}}),
            (std::vector<u8>{0, 3, 1, 4, 2, 5}));
  EXPECT_EQ(moved_bytes("aten.t_copy.default", {2, 3}, {3, 2}, {}), (std::vector<u8>{0, 3, 1, 4, 2, 5}));
  EXPECT_EQ(moved_bytes("aten.t_copy.default", {3}, {3}, {}), (std::vector<u8>{0, 1, 2}));
  EXPECT_EQ(moved_bytes("aten.slice_copy.Tensor", {7}, {2}, {i64(0), i64(1), i64(7), i64(4)}), (std::vector<u8>{1, 5}));
  EXPECT_EQ(moved_bytes("aten.flip.default", {5}, {5}, {Ints{0}}), (std::vector<u8>{4, 3, 2, 1, 0}));
  EXPECT_EQ(moved_bytes("aten.expand_copy.default", {3, 1}, {3, 3}, {Ints{-1, 3}}),
            (std::vector<u8>{0, 0, 0, 1, 1, 1, 2, 2, 2}));
  EXPECT_EQ(moved_bytes("aten.repeat.default", {2}, {2, 4}, {Ints{2, 2}}), (std::vector<u8>{0, 1, 0, 1, 0, 1, 0, 1}));
  EXPECT_EQ(moved_bytes("aten.unfold_copy.default", {5}, {2, 3}, {i64(0), i64(3), i64(2)}),
            (std::vector<u8>{0, 1, 2, 2, 3, 4}));
  EXPECT_EQ(moved_bytes("aten.pixel_shuffle.default", {4, 1, 2}, {1, 2, 4}, {i64(2)}),
            (std::vector<u8>{0, 2, 1, 3, 4, 6, 5, 7}));
  EXPECT_EQ(moved_bytes("aten.select_copy.int", {2, 3}, {2}, {i64(1), i64(-1)}), (std::vector<u8>{2, 5}));
}

TEST(Move, EightAxesRepeated) {
  const Shape in{2, 1, 2, 3, 1, 2, 2, 3}, out{4, 2, 2, 6, 2, 2, 4, 6};
  const Ints times{2, 2, 1, 2, 2, 1, 2, 2};
  const auto outputs = run(graph("aten.repeat.default", DType::f32, in, out, {times}), {counting<f32>(DType::f32, in)});
  ASSERT_EQ(outputs.size(), 1u);
  for (u32 i = 0; i < out.numel(); ++i) {
    std::array<u32, 8> at{};
    for (u32 d = 8, rest = i; d-- > 0; rest /= out[d]) at[d] = rest % out[d] % in[d];
    u32 from = 0;
    for (u32 d = 0; d < 8; ++d) from = from * in[d] + at[d];
    ASSERT_EQ(outputs[0].as<f32>()[i], f32(from)) << i;
  }
}

TEST(Move, RowsOfWholeQuadsFromAnyOffset) {
  for (const i64 start : {0, 1, 4, 5}) {
    const auto outputs =
        run(graph("aten.slice_copy.Tensor", DType::f32, {3, 13}, {3, 8}, {i64(1), start, start + 8, i64(1)}),
            {counting<f32>(DType::f32, {3, 13})});
    ASSERT_EQ(outputs.size(), 1u);
    for (u32 i = 0; i < 24; ++i) {
      const i64 row = i / 8, column = start + i % 8;
      EXPECT_EQ(outputs[0].as<f32>()[i], f32(row * 13 + column)) << start << " " << i;
    }
  }
}

TEST(Move, OutputMayBeTheInput) {
  GraphBuilder b;
  const u32 x = b.constant<f32>(DType::f32, {3, 3}, {0, 1, 2, 3, 4, 5, 6, 7, 8}), y = b.tensor(DType::f32, {3, 3});
  const u32 in = b.input(b.tensor(DType::f32, {3, 3}));
  b.op("aten.permute_copy.default", {x, b.ints({1, 0}), x});
  b.op("aten.add.Tensor", {x, in, b.integer(1), y});
  b.output(y);
  const auto outputs = run(b, {Tensor(DType::f32, {3, 3})});
  ASSERT_EQ(outputs.size(), 1u);
  EXPECT_EQ(values<f32>(outputs[0]), (std::vector<f32>{0, 3, 6, 1, 4, 7, 2, 5, 8}));
}

// Sizes that come from an input: expand, repeat, split, pad, full and arange follow them.
TEST(Move, SymbolicSizes) {
  GraphBuilder b;
  const u32 x = b.input(b.tensor(DType::f32, {6}), true), count = b.symint(), rest = b.symint();
  b.op("sym_size.int", {x, b.integer(0), count});
  b.op("sub", {count, b.integer(1), rest});
  const u32 row = b.tensor(DType::f32, {1, 6}), wide = b.tensor(DType::f32, {6, 6}), long_ = b.tensor(DType::f32, {36});
  const u32 head = b.tensor(DType::f32, {1}), tail = b.tensor(DType::f32, {5}), padded = b.tensor(DType::f32, {11});
  const u32 steps = b.tensor(DType::i32, {6}), sevens = b.tensor(DType::i32, {6, 2});
  b.op("aten.unsqueeze_copy.default", {x, b.integer(0), row});
  b.op("aten.expand_copy.default", {row, b.list({count, b.integer(-1)}), b.boolean(false), wide});
  b.op("aten.repeat.default", {x, b.list({count}), long_});
  b.op("aten.split_with_sizes_copy.default", {x, b.list({b.integer(1), rest}), b.integer(0), b.list({head, tail})});
  b.op("aten.constant_pad_nd.default", {x, b.list({rest, b.integer(0)}), b.number(9), padded});
  b.op("aten.arange.start_step", {b.integer(0), count, b.integer(1), b.null(), b.null(), b.null(), b.null(), steps});
  b.op("aten.full.default",
       {b.list({count, b.integer(2)}), b.integer(7), b.null(), b.null(), b.null(), b.null(), sevens});
  for (const u32 y : {wide, long_, tail, padded, steps, sevens}) b.output(y, true);
  auto program = load(b);
  ASSERT_TRUE(program.has_value()) << program.error().to_string();
  auto method = program->method();
  ASSERT_TRUE(method.has_value()) << method.error().to_string();
  for (const u32 n : {6u, 3u, 1u, 4u, 6u}) {
    const Tensor input = counting<f32>(DType::f32, {n});
    auto outputs = method->execute({input});
    ASSERT_TRUE(outputs.has_value()) << outputs.error().to_string();
    EXPECT_TRUE((*outputs)[0].shape() == (Shape{n, n}));
    EXPECT_TRUE((*outputs)[2].shape() == Shape{n - 1});
    EXPECT_TRUE((*outputs)[5].shape() == (Shape{n, 2}));
    for (u32 i = 0; i < n * n; ++i) {
      EXPECT_EQ((*outputs)[0].as<f32>()[i], f32(i % n)) << n << " " << i;
      EXPECT_EQ((*outputs)[1].as<f32>()[i], f32(i % n)) << n << " " << i;
    }
    for (u32 i = 0; i + 1 < n; ++i) EXPECT_EQ((*outputs)[2].as<f32>()[i], f32(i + 1)) << n << " " << i;
    for (u32 i = 0; i < 2 * n - 1; ++i)
      EXPECT_EQ((*outputs)[3].as<f32>()[i], i < n - 1 ? 9.0f : f32(i - n + 1)) << n << " " << i;
    for (u32 i = 0; i < n; ++i) EXPECT_EQ((*outputs)[4].as<i32>()[i], i32(i)) << n << " " << i;
    for (u32 i = 0; i < 2 * n; ++i) EXPECT_EQ((*outputs)[5].as<i32>()[i], 7) << n << " " << i;
  }
  EXPECT_EQ(method->stats().late_pipelines, 0u);
}

TEST(Move, SymbolicIndex) {
  GraphBuilder b;
  const u32 position = b.input(b.tensor(DType::i32, {1}), false, DType::i64), at = b.symint();
  const u32 x = b.input(b.tensor(DType::f32, {3, 5})), y = b.tensor(DType::f32, {5});
  b.op("et_vk.select_as_symint.default", {position, b.integer(0), b.integer(0), at});
  b.op("aten.select_copy.int", {x, b.integer(0), at, y});
  b.output(y);
  for (const i64 index : {0, 2, -1}) {
    const auto outputs = run(b, {tensor_of<i64>(DType::i64, {1}, {index}), counting<f32>(DType::f32, {3, 5})});
    ASSERT_EQ(outputs.size(), 1u);
    EXPECT_EQ(outputs[0].as<f32>()[1], f32((index + 3) % 3 * 5 + 1)) << index;
  }
  EXPECT_MENTIONS(error_of(b, {tensor_of<i64>(DType::i64, {1}, {3}), counting<f32>(DType::f32, {3, 5})}),
                  "index 3 is out of range for axis 0 of [3, 5]");
}

TEST(Move, RefusesArgumentsThatMakeNoSense) {
  EXPECT_MENTIONS(complaint("aten.permute_copy.default", {2, 3}, {2, 3}, {Ints{0, 0}}),
                  "the axes are not a permutation");
  EXPECT_MENTIONS(complaint("aten.permute_copy.default", {2, 3}, {2, 3}, {Ints{0}}), "1 axes are given for rank 2");
  EXPECT_MENTIONS(complaint("aten.permute_copy.default", {2, 3}, {2, 3}, {Ints{0, 2}}),
                  "axis 2 is out of range for rank 2");
  EXPECT_MENTIONS(complaint("aten.t_copy.default", {2, 3, 4}, {4, 3, 2}, {}), "a tensor of rank 3 can't be transposed");
  EXPECT_MENTIONS(complaint("aten.flip.default", {2, 3}, {2, 3}, {Ints{1, -1}}), "axis 1 is flipped twice");
  EXPECT_MENTIONS(complaint("aten.slice_copy.Tensor", {5}, {5}, {i64(0), i64(0), i64(5), i64(0)}),
                  "the step is 0; it must be at least 1");
  EXPECT_MENTIONS(complaint("aten.slice_copy.Tensor", {}, {}, {i64(0), i64(0), i64(5), i64(1)}),
                  "a scalar can't be sliced");
  EXPECT_MENTIONS(complaint("aten.select_copy.int", {5}, {}, {i64(0), i64(-6)}),
                  "index -6 is out of range for axis 0 of [5]");
  EXPECT_MENTIONS(complaint("aten.expand_copy.default", {3}, {4}, {Ints{4}}), "[3] can't be expanded to 4 in axis 0");
  EXPECT_MENTIONS(complaint("aten.expand_copy.default", {3}, {2, 3}, {Ints{-1, 3}}),
                  "[3] can't be expanded to -1 in axis 0");
  EXPECT_MENTIONS(complaint("aten.expand_copy.default", {2, 3}, {3}, {Ints{3}}), "[2, 3] can't be expanded to rank 1");
  EXPECT_MENTIONS(complaint("aten.repeat.default", {2, 3}, {6}, {Ints{2}}), "1 repeats are given for [2, 3]");
  EXPECT_MENTIONS(complaint("aten.repeat.default", {3}, {3}, {Ints{-1}}),
                  "axis 0 of size 3 can't be repeated -1 times");
  EXPECT_MENTIONS(complaint("aten.unfold_copy.default", {3}, {1, 4}, {i64(0), i64(4), i64(1)}),
                  "windows of 4 don't fit in axis 0 of [3]");
  EXPECT_MENTIONS(complaint("aten.pixel_shuffle.default", {3, 2, 2}, {1, 4, 4}, {i64(2)}),
                  "3 channels can't be spread over 2 x 2 pixels");
}

// Each part can be moved by quads or not, and all combinations are more than a plan is visited for.
TEST(Split, ManyPartsOfAShapeThatChanges) {
  constexpr u32 parts = 70;
  for (const bool unbinds : {false, true}) {
    GraphBuilder b;
    const u32 x = b.input(b.tensor(DType::f32, {5, parts}), true), y = b.tensor(DType::f32, {5, parts});
    std::vector<u32> results;
    results.reserve(parts);
    for (u32 i = 0; i < parts; ++i) results.push_back(b.tensor(DType::f32, unbinds ? Shape{5} : Shape{5, 1}));
    if (unbinds)
      b.op("aten.unbind_copy.int", {x, b.integer(1), b.list(results)});
    else
      b.op("aten.split_with_sizes_copy.default",
           {x, b.ints(std::vector<i64>(parts, 1)), b.integer(1), b.list(results)});
    std::vector<u32> columns = results;
    for (u32 i = 0; unbinds && i < parts; ++i) {
      columns[i] = b.tensor(DType::f32, {5, 1});
      b.op("aten.unsqueeze_copy.default", {results[i], b.integer(1), columns[i]});
    }
    std::ranges::reverse(columns);
    b.op("aten.cat.default", {b.list(columns), b.integer(1), y});
    b.output(y, true);
    auto program = load(b);
    auto method = program->method();
    ASSERT_TRUE(method.has_value()) << method.error().to_string();
    for (const u32 rows : {5, 4, 1}) {
      const Tensor given = counting<f32>(DType::f32, {rows, parts});
      auto outputs = method->execute({given});
      ASSERT_TRUE(outputs.has_value()) << outputs.error().to_string();
      std::vector<f32> expected = values<f32>(given);
      for (auto row = expected.begin(); row != expected.end(); row += parts) std::reverse(row, row + parts);
      EXPECT_EQ(values<f32>((*outputs)[0]), expected) << rows;
    }
    EXPECT_EQ(method->stats().late_pipelines, 0u);
  }
}

TEST(Split, RefusesPartsThatDontAddUp) {
  const auto parts = [](const Ints& sizes) {
    GraphBuilder b;
    const u32 x = b.input(b.tensor(DType::f32, {5}));
    std::vector<u32> ys;
    for (i64 size : sizes) ys.push_back(b.output(b.tensor(DType::f32, {u32(std::max<i64>(size, 0))})));
    b.op("aten.split_with_sizes_copy.default", {x, b.ints(sizes), b.integer(0), b.list(ys)});
    return error_of(b);
  };
  EXPECT_MENTIONS(parts({2, 2}), "the parts have 4 in axis 0, but the input is [5]");
  EXPECT_MENTIONS(parts({2, 4}), "part 1 has size 4, but 3 are left in axis 0 of [5]");
  EXPECT_MENTIONS(parts({6, -1}), "part 0 has size 6, but 5 are left");
}

TEST(Pad, BytesAndMargins) {
  EXPECT_EQ(moved_bytes("aten.constant_pad_nd.default", {2, 2}, {3, 5}, {Ints{1, 2, 0, 1}, i64(255)}),
            (std::vector<u8>{255, 0, 1, 255, 255, 255, 2, 3, 255, 255, 255, 255, 255, 255, 255}));
  EXPECT_EQ(moved_bytes("aten.constant_pad_nd.default", {5}, {3}, {Ints{-1, -1}, i64(0)}), (std::vector<u8>{1, 2, 3}));
  EXPECT_MENTIONS(complaint("aten.constant_pad_nd.default", {5}, {5}, {Ints{1}, i64(0)}),
                  "1 margins are given for [5]");
  EXPECT_MENTIONS(complaint("aten.constant_pad_nd.default", {5}, {5}, {Ints{-3, -3}, i64(0)}),
                  "margins -3 and -3 make the size of axis 0 of [5] -1");
}

TEST(Pad, SevenAxes) {
  const Shape in{1, 2, 1, 3, 2, 1, 2}, out{2, 2, 3, 3, 1, 2, 3};
  const Ints pads{1, 0, 0, 1, -1, 0, 0, 0, 1, 1, 0, 0, 1, 0};  // the last axis's first
  const auto outputs =
      run(graph("aten.constant_pad_nd.default", DType::f32, in, out, {pads, -1.0}), {counting<f32>(DType::f32, in)});
  ASSERT_EQ(outputs.size(), 1u);
  for (u32 i = 0; i < out.numel(); ++i) {
    i64 from = 0;
    bool inside = true;
    std::array<u32, 7> at{};
    for (u32 d = 7, rest = i; d-- > 0; rest /= out[d]) at[d] = rest % out[d];
    for (u32 d = 0; d < 7; ++d) {
      const i64 c = i64(at[d]) - pads[size_t(6 - d) * 2];
      inside = inside && c >= 0 && c < in[d];
      from = from * in[d] + c;
    }
    ASSERT_EQ(outputs[0].as<f32>()[i], inside ? f32(from) : -1.0f) << i;
  }
}

}  // namespace
}  // namespace pteron::test
