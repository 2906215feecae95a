// SPDX-License-Identifier: BSD-3-Clause
// Planning without a GPU: what is refused, and where bytes will be.
#include "graph/compiled.h"

#include "graph/pass.h"
#include "support/builder.h"
#include "support/corrupt.h"
#include "support/fixture.h"

#include <gtest/gtest.h>

namespace pteron::graph {
namespace {

using test::File;
using test::GraphBuilder;

Result<std::shared_ptr<const CompiledGraph>> plan(const File& blob, const CompileOptions& options = {},
                                                  const gpu::DeviceInfo& device = {}) {
  TRY(const auto header, format::read_delegate_header(blob));
  TRY(const auto parsed, format::read_delegate_graph(blob, header));
  const FindData find = [](std::string_view key) -> Result<DataLocation> {
    if (key == "short") return DataLocation{0, {0, 8}};
    return not_found("no data under '", key, "'");
  };
  TRY(Graph graph, build_graph(parsed, {0, {0, blob.size()}}, find));
  return compile(std::move(graph), device, options);
}

std::string error_of(const GraphBuilder& b) {
  const auto compiled = plan(b.blob());
  return compiled ? "" : compiled.error().to_string();
}

void expect_error(const GraphBuilder& b, const std::string& part) {
  EXPECT_NE(error_of(b).find(part), std::string::npos) << "'" << error_of(b) << "' does not contain '" << part << "'";
}

TEST(Compile, RefusesAnUnknownOpWithItsNameAndPlace) {
  GraphBuilder b;
  const u32 x = b.input(b.tensor(DType::f32, {4})), y = b.tensor(DType::f32, {4});
  b.op("aten.sigmoid.default", {x, y});
  b.op("aten.frobnicate.default", {y, x});
  b.output(y);
  expect_error(b, "op 1 aten.frobnicate.default: this op is not implemented");
}

TEST(Compile, RefusesMoreGroupsOfAConvolutionThanCanBeCounted) {  // found by fuzzing: the product wrapped
  GraphBuilder b;
  const u32 x = b.input(b.tensor(DType::f32, {1, 4, 8, 8})), y = b.tensor(DType::f32, {1, 4, 8, 8});
  const u32 w = b.constant<f32>(DType::f32, {4, 4, 1, 1}, std::vector<f32>(16, 1));
  b.op("aten.convolution.default", {x, w, b.null(), b.ints({1, 1}), b.ints({0, 0}), b.ints({1, 1}), b.boolean(true),
                                    b.ints({0, 0}), b.integer(2305843009213693953), y});
  b.output(y);
  expect_error(b, "2305843009213693953 groups of 4 channels are too many");
}

TEST(Compile, RefusesWhatAPassWouldTakeAway) {
  GraphBuilder b;
  const u32 x = b.input(b.tensor(DType::f32, {4})), y = b.tensor(DType::f32, {4});
  b.op("aten.sigmoid.default", {x, b.tensor(DType::f32, {2, 2})});  // nobody reads this one
  b.op("aten.sigmoid.default", {x, y});
  b.output(y);
  expect_error(b, "op 0 aten.sigmoid.default: the result [4] has rank 1, but the file says [2, 2]");
}

TEST(Compile, ListsAllOpsThatCannotRun) {
  GraphBuilder b;
  const u32 x = b.input(b.tensor(DType::f32, {4})), y = b.tensor(DType::f32, {4}), z = b.tensor(DType::f32, {4});
  b.op("aten.frobnicate.default", {x, y});
  b.op("aten.select_copy.int", {y, b.integer(5), b.integer(0), z});
  b.op("aten.sigmoid.default", {z, b.tensor(DType::f32, {4})});
  const auto header = format::read_delegate_header(b.blob());
  const File blob = b.blob();
  const auto parsed = format::read_delegate_graph(blob, *header);
  std::vector<UnsupportedOp> problems;
  auto graph = build_graph(*parsed, {}, {}, &problems);
  ASSERT_TRUE(graph.has_value());
  ASSERT_TRUE(compile(*std::move(graph), {}, {}, &problems).has_value());
  ASSERT_EQ(problems.size(), 2u);
  EXPECT_EQ(problems[0].name, "aten.frobnicate.default");
  EXPECT_EQ(problems[1].position, 1u);
  EXPECT_NE(problems[1].reason.find("axis 5 is out of range"), std::string::npos) << problems[1].reason;
}

TEST(Compile, NamesAConstantWhoseKeyIsAbsent) {
  GraphBuilder b;
  b.constant<f32>(DType::f32, {2}, {1, 2}, "absent");
  expect_error(b, "value 0: constant 0 (absent): no data under 'absent'");
}

TEST(Compile, NamesAConstantThatIsShorterThanItsTensor) {
  GraphBuilder b;
  b.constant<f32>(DType::f32, {3}, {1, 2, 3}, "short");
  expect_error(b, "constant 0 (short): its tensor of shape [3] float32 needs 12 bytes, but only 8 are there");
  GraphBuilder inlined;
  inlined.constant_bytes(DType::f32, {3}, File(8), "");
  expect_error(inlined, "needs 12 bytes, but only 8");
}

TEST(Compile, RefusesValuesThatNobodyProduces) {
  GraphBuilder b;
  const u32 x = b.tensor(DType::f32, {4}), y = b.tensor(DType::f32, {4});
  b.op("aten.sigmoid.default", {x, y});
  b.output(y);
  expect_error(b, "value 0 is read before any op has produced it");
  GraphBuilder output;
  output.output(output.tensor(DType::f32, {4}));
  expect_error(output, "graph output 0 is never produced");
}

// A pass that joins the two linears would put the second one's write before the read.
TEST(Compile, RefusesAReadThatComesBeforeItsWrite) {
  GraphBuilder b;
  const u32 x = b.input(b.tensor(DType::f32, {1, 8})), one = b.integer(1);
  const u32 early = b.tensor(DType::f32, {1, 8}), y = b.tensor(DType::f32, {1, 8});
  b.op("aten.add.Tensor", {x, early, one, y});
  b.op("aten.neg.default", {x, early});
  b.output(y);
  expect_error(b, "value 2 is read before any op has produced it");
}

TEST(Compile, RefusesInputsThatAreConstantsOrOneValue) {
  GraphBuilder constant;
  constant.output(constant.input(constant.constant<f32>(DType::f32, {2}, {1, 2})));
  expect_error(constant, "graph input 0 is a constant");
  GraphBuilder twice;
  const u32 x = twice.input(twice.tensor(DType::f32, {2}));
  twice.output(twice.input(x));
  expect_error(twice, "value 0 is a graph input twice");
}

TEST(Compile, RefusesResultsThatAreOneValue) {
  GraphBuilder b;
  const u32 x = b.input(b.tensor(DType::f32, {4})), y = b.tensor(DType::f32, {2});
  b.op("aten.split_with_sizes_copy.default", {x, b.ints({2, 2}), b.integer(0), b.list({y, y})});
  b.output(y);
  expect_error(b, "its results 0 and 1 are the same memory");
}

TEST(Compile, RefusesAResultThatIsTheCacheThatTheOpUpdates) {
  GraphBuilder b;
  const u32 x = b.input(b.tensor(DType::f32, {1, 1, 1, 2}));
  const u32 cache = b.constant<f32>(DType::f32, {1, 2, 1, 2}, {1, 2, 3, 4});
  b.op("update_cache.default", {x, cache, b.integer(0), cache});
  b.output(cache);
  expect_error(b, "is the same memory as argument 1 'cache', which the op updates");
}

// A pass that lets the linear add the other side would never look at the result between them.
TEST(Compile, RefusesALinearToIntegersAlsoWhereAPassWouldTakeItIn) {
  GraphBuilder b;
  const u32 x = b.input(b.tensor(DType::f32, {1, 8})), other = b.input(b.tensor(DType::f32, {1, 8}));
  const u32 weight = b.constant_bytes(DType::u8, {8, 4}, File(32));
  const u32 scales = b.constant<f32>(DType::f32, {1, 8}, std::vector<f32>(8, 1));
  const u32 between = b.tensor(DType::i32, {1, 8}), y = b.tensor(DType::f32, {1, 8});
  b.op("et_vk.linear_q4gsw.default", {x, weight, scales, b.integer(8), b.null(), between});
  b.op("aten.add.Tensor", {between, other, b.integer(1), y});
  b.output(y);
  expect_error(b, "the result must be floating-point, not int32");
}

TEST(Compile, RefusesAPrepackIntoAnotherConstant) {
  GraphBuilder b;
  const u32 a = b.constant<f32>(DType::f32, {2}, {1, 2}), c = b.constant<f32>(DType::f32, {2}, {3, 4});
  b.op("et_vk.prepack.default", {a, c});
  b.output(c);
  expect_error(b, "is another constant");
}

TEST(Compile, RefusesAResultThatDoesNotFitTheFile) {
  GraphBuilder b;
  const u32 x = b.input(b.tensor(DType::f32, {4, 3})), y = b.tensor(DType::f32, {4, 4});
  b.op("aten.sigmoid.default", {x, y});
  b.output(y);
  CompileOptions options;
  options.input_is_static = {1};
  const auto compiled = plan(b.blob(), options);
  ASSERT_FALSE(compiled.has_value());
  EXPECT_NE(compiled.error().message.find("the result has shape [4, 3], but the file says [4, 4]"), std::string::npos);
}

TEST(Compile, RefusesATensorThatNoBindingHolds) {
  GraphBuilder b;
  const u32 x = b.input(b.tensor(DType::f32, {1 << 26})), y = b.tensor(DType::f32, {1 << 26});
  b.op("aten.sigmoid.default", {x, y});
  b.output(y);
  expect_error(b, "needs 256 MiB in one binding, but this device allows at most 128 MiB");
}

TEST(Compile, GivesTwoCachesWithOneKeyTwoBuffers) {
  GraphBuilder b;
  const File zeros(2 * 8 * 2 * 4 * 4);
  const u32 k_cache = b.constant_bytes(DType::f32, {1, 8, 2, 4}, zeros, ""),
            v_cache = b.constant_bytes(DType::f32, {1, 8, 2, 4}, zeros, "");
  const u32 value = b.input(b.tensor(DType::f32, {1, 2, 2, 4}));
  // Both point at the same bytes of the file.
  b.graph.constants[1] = b.graph.constants[0];
  std::get<format::GraphTensor>(b.graph.values[v_cache]).constant = 0;
  b.op("update_cache.default", {value, k_cache, b.integer(0), b.tensor(DType::f32, {1})});
  b.op("update_cache.default", {value, v_cache, b.integer(1), b.tensor(DType::f32, {1})});
  const auto compiled = plan(b.blob());
  ASSERT_TRUE(compiled.has_value()) << compiled.error().to_string();
  ASSERT_EQ((*compiled)->states.size(), 2u);
  EXPECT_EQ((*compiled)->memory.state, 2u * 8 * 2 * 4 * 4);
  EXPECT_NE((*compiled)->storage[k_cache].index, (*compiled)->storage[v_cache].index);
}

TEST(Compile, RefusesPositionsThatNoSumCanHold) {
  const Shape shape{1, 2, 2, 4};
  CompileOptions options;
  options.input_is_static = {1, 1};
  for (i64 start : {INT64_MAX, INT64_MAX - 1, INT64_MIN, i64(-1)})
    for (const char* name : {"update_cache.default", "custom_sdpa.default", "et_vk.apply_rotary_emb_hf.default"}) {
      GraphBuilder b;
      const u32 x = b.input(b.tensor(DType::f32, shape)), z = b.input(b.tensor(DType::f32, shape)),
                y = b.output(b.tensor(DType::f32, shape)), at = b.integer(start),
                cache = b.constant_bytes(DType::f32, {1, 8, 2, 4}, File(8 * 2 * 4 * 4), ""),
                table = b.constant_bytes(DType::f32, {8, 4}, File(8 * 4 * 4), "");
      if (name[0] == 'u') b.op(name, {x, cache, at, y});
      if (name[0] == 'c') b.op(name, {x, cache, cache, at, b.null(), b.integer(0), b.null(), b.null(), y});
      if (name[0] == 'e') b.op(name, {x, z, table, table, at, b.list({y, b.tensor(DType::f32, shape)})});
      const auto compiled = plan(b.blob(), options);
      ASSERT_FALSE(compiled.has_value()) << name << " " << start;
      EXPECT_NE(compiled.error().message.find(std::to_string(start)), std::string::npos) << compiled.error().message;
    }
}

TEST(Compile, RefusesAZeroPointThatDoesNotFit) {
  GraphBuilder b;
  const u32 x = b.input(b.tensor(DType::i8, {1, 4})), y = b.tensor(DType::f32, {1, 2});
  const u32 w = b.constant<i8>(DType::i8, {2, 4}, std::vector<i8>(8)),
            s = b.constant<f32>(DType::f32, {4}, std::vector<f32>(4)),
            sums = b.constant<i32>(DType::i32, {4}, std::vector<i32>(4));
  b.op("et_vk.linear_q8ta_q8csw.default", {x, b.number(1), b.integer(i64(1) << 32), w, sums, s, b.null(), y});
  b.output(y);
  CompileOptions options;
  options.input_is_static = {1};
  const auto compiled = plan(b.blob(), options);
  ASSERT_FALSE(compiled.has_value());
  EXPECT_EQ(compiled.error().message, "the zero point 4294967296 does not fit in 32 bits");
}

TEST(Compile, ASpecialisationSaysWhenItIsFull) {
  Spec spec;
  for (u32 i = 0; i < 32; ++i) spec.flag("F", true);
  EXPECT_FALSE(spec.overflows());
  spec.flag("F", true);
  EXPECT_TRUE(spec.overflows());
}

TEST(Compile, CountsOnlyConstantsThatAreUsed) {
  GraphBuilder b;
  const u32 x = b.input(b.tensor(DType::f32, {4})), y = b.tensor(DType::f32, {4});
  const u32 used = b.constant<f32>(DType::f32, {4}, {1, 2, 3, 4});
  b.constant<f32>(DType::f32, {64}, std::vector<f32>(64));
  b.op("aten.add.Tensor", {x, used, b.null(), y});
  b.output(y);
  const auto compiled = plan(b.blob());
  ASSERT_TRUE(compiled.has_value()) << compiled.error().to_string();
  EXPECT_EQ((*compiled)->memory.weights, 16u);
}

TEST(Compile, AConstantMayBeUsedDirectlyInAListAndAsOutput) {
  GraphBuilder b;
  const u32 x = b.input(b.tensor(DType::f32, {4})), y = b.tensor(DType::f32, {8}), z = b.tensor(DType::f32, {4});
  const u32 c = b.constant<f32>(DType::f32, {4}, {1, 2, 3, 4});
  b.op("aten.cat.default", {b.list({c, x}), b.integer(0), y});
  b.op("aten.mul.Tensor", {x, c, z});
  b.output(y);
  b.output(z);
  b.output(c);
  const auto compiled = plan(b.blob());
  ASSERT_TRUE(compiled.has_value()) << compiled.error().to_string();
  EXPECT_EQ((*compiled)->constants.size(), 1u);
  EXPECT_EQ((*compiled)->memory.weights, 16u);
}

TEST(Compile, PrepackedConstantsNeverShareMemoryWithActivations) {
  GraphBuilder b;
  const u32 x = b.input(b.tensor(DType::f32, {4}));
  const u32 c = b.constant<f32>(DType::f32, {4}, {1, 2, 3, 4}), packed = b.tensor(DType::f32, {4}),
            y = b.tensor(DType::f32, {4});
  b.op("et_vk.prepack.default", {c, packed});
  b.op("aten.mul.Tensor", {x, packed, y});
  b.output(y);
  const auto compiled = plan(b.blob());
  ASSERT_TRUE(compiled.has_value()) << compiled.error().to_string();
  EXPECT_EQ((*compiled)->facts.effects.memory(packed), c);
  EXPECT_EQ((*compiled)->storage[c].kind, StorageKind::constant);
  EXPECT_EQ((*compiled)->storage[packed].kind, StorageKind::none);
  EXPECT_EQ((*compiled)->memory.weights, 16u);
}

TEST(Compile, AConstantThatIsWrittenThroughItsPrepackedFormIsOneState) {
  GraphBuilder b;
  const u32 x = b.input(b.tensor(DType::f32, {4}));
  const u32 c = b.constant<f32>(DType::f32, {4}, {1, 2, 3, 4}), buffer = b.tensor(DType::f32, {4}),
            y = b.tensor(DType::f32, {4});
  b.op("et_vk.prepack.default", {c, buffer});
  b.op("aten.add.Tensor", {buffer, x, b.integer(1), buffer});  // updates the buffer in place
  b.op("aten.mul.Tensor", {buffer, c, y});
  b.output(y);
  const auto compiled = plan(b.blob());
  ASSERT_TRUE(compiled.has_value()) << compiled.error().to_string();
  EXPECT_EQ((*compiled)->facts.effects.memory(buffer), c);
  EXPECT_EQ((*compiled)->storage[c].kind, StorageKind::state);
  EXPECT_EQ((*compiled)->states.size(), 1u);
  EXPECT_EQ((*compiled)->constants.size(), 0u);
}

TEST(Compile, ViewsShareMemoryUnlessTheirSourceIsOverwritten) {
  GraphBuilder b;
  const u32 x = b.input(b.tensor(DType::f32, {4, 2})), y = b.tensor(DType::f32, {4, 2}),
            view = b.tensor(DType::f32, {8});
  b.op("aten.sigmoid.default", {x, y});
  b.op("aten.view_copy.default", {y, b.ints({8}), view});
  b.output(view);
  const auto compiled = plan(b.blob());
  ASSERT_TRUE(compiled.has_value()) << compiled.error().to_string();
  EXPECT_EQ((*compiled)->facts.effects.memory(view), y);

  GraphBuilder mutated;
  const u32 c = mutated.constant<f32>(DType::f32, {4}, {1, 2, 3, 4}), copy = mutated.tensor(DType::f32, {4});
  const u32 d = mutated.input(mutated.tensor(DType::f32, {4}));
  mutated.op("aten.clone.default", {c, mutated.null(), copy});
  mutated.op("aten.add.Tensor", {c, d, mutated.integer(1), c});
  mutated.output(copy);  // the value before the update
  const auto kept = plan(mutated.blob());
  ASSERT_TRUE(kept.has_value()) << kept.error().to_string();
  EXPECT_EQ((*kept)->facts.effects.memory(copy), copy);
}

// What an attribute says is compared with the tensors that are there.
TEST(Compile, TrustsNoAttributeOverATensor) {
  struct Linear {
    i64 group = 32;
    Shape weight{8, 16}, scales{1, 8};  // of 8 columns, 32 deep
  };
  const auto error = [](const Linear& l) {
    GraphBuilder b;
    const u32 x = b.input(b.tensor(DType::f32, {1, 32})), y = b.tensor(DType::f32, {1, 8});
    const u32 w = b.constant<u8>(DType::u8, l.weight, std::vector<u8>(l.weight.numel()));
    const u32 s = b.constant<f32>(DType::f32, l.scales, std::vector<f32>(l.scales.numel()));
    b.op("et_vk.linear_q4gsw.default", {x, w, s, b.integer(l.group), b.null(), y});
    b.output(y);
    return error_of(b);
  };
  EXPECT_EQ(error({}), "");
  for (const i64 group : {i64(0), i64(-1), i64(1), i64(8), i64(1) << 32, INT64_MAX, INT64_MIN})
    EXPECT_NE(error({.group = group}), "") << group;
  for (const Shape& weight : {Shape{8, 15}, Shape{8, 1}, Shape{9, 16}, Shape{128}, Shape{8, 16, 1}, Shape{0, 16}})
    EXPECT_NE(error({.weight = weight}), "") << to_string(weight);
  for (const Shape& scales : {Shape{1, 7}, Shape{0, 8}, Shape{8}, Shape{1, 8, 1}})
    EXPECT_NE(error({.scales = scales}), "") << to_string(scales);
}

TEST(Compile, RefusesScalesThatAreNoNumbers) {  // found by fuzzing: such a size was made an integer
  for (const f64 scale : {f64(NAN), -f64(NAN), f64(INFINITY), -1.0}) {
    GraphBuilder b;
    const u32 x = b.input(b.tensor(DType::f32, {1, 1, 4, 4}), true), y = b.tensor(DType::f32, {1, 1, 8, 8});
    b.op("aten.upsample_nearest2d.vec", {x, b.null(), b.value(std::vector<f64>{2, scale}), y});
    b.output(y);
    expect_error(b, "the scale of axis 3 is ");
  }
}

TEST(Compile, NeverCrashesOnACorruptedProgram) {
  for (const char* name : {"rope_llama", "full_logits"}) {
    const File file = test::read_bytes(test::data_folder() / "llama_tiny" / name / "model.pte");
    const auto header = format::read_program_header(Bytes(file).first(64), file.size());
    const auto spec = format::read_program(Bytes(file).first(header->program_size), *header, file.size());
    ASSERT_TRUE(spec.has_value());
    const auto range = spec->methods[0].delegates[0].blob;
    const File blob(file.begin() + std::ptrdiff_t(range.offset), file.begin() + std::ptrdiff_t(range.end()));
    const auto find = [&](std::string_view key) -> Result<DataLocation> {
      const auto found = spec->named_data.find(key);
      if (found == spec->named_data.end()) return not_found("no '", key, "'");
      return DataLocation{0, found->second};
    };
    u32 refused = 0;
    test::for_each_corruption(blob, 1500, 3, [&](const File& broken) {
      const auto h = format::read_delegate_header(broken);
      if (!h) return void(++refused);
      const auto parsed = format::read_delegate_graph(broken, *h);
      if (!parsed) return void(++refused);
      auto graph = build_graph(*parsed, {}, find);
      if (!graph) return void(++refused);
      refused += !compile(*std::move(graph), {}, {}).has_value();
    });
    EXPECT_GT(refused, 100u);
  }
}

}  // namespace
}  // namespace pteron::graph
