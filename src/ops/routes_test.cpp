// SPDX-License-Identifier: BSD-3-Clause
// Every route of every family against torch's goldens, whatever the adapter at hand would choose.
#include "ops/routes.h"

#include "gpu/llama.h"
#include "gpu/run_graph.h"

namespace pteron::test {
namespace {

struct Family {
  std::string_view name;
  std::array<std::string_view, 3> folders;  // of fixtures that use it; some are empty
  std::string_view part = {};               // of their names
};
constexpr Family families[] = {
    {"gemm", {"mm", "linear", "conv_with_clamp"}},
    {"conv", {"conv", "conv_with_clamp"}},
    {"depthwise", {"conv", "conv_with_clamp"}, "depthwise"},
    {"linear_q4", {"linear_q4gsw"}},
    {"attention", {"custom_sdpa", "et_vk_sdpa"}},
    {"rms_norm", {"rms_norm"}},
    {"arg_max", {}},  // of the engine's own ops; see below
};

LoadOptions with_route(const ops::Route& route) {
  LoadOptions options;
  options.routes = {str(route.family, "=", route.name)};
  return options;
}

class Routes : public testing::TestWithParam<ops::Route> {
 protected:
  bool missing() const { return GetParam().subgroups && !device().adapter().subgroups; }
};

TEST_P(Routes, MatchTorch) {
  const LoadOptions options = with_route(GetParam());
  const auto family = std::ranges::find(families, GetParam().family, &Family::name);
  ASSERT_NE(family, std::end(families));
  for (std::string_view folder : family->folders) {
    if (folder.empty()) continue;
    for (const auto& path : find_fixtures(data_folder() / "ops" / folder)) {
      if (!path.filename().string().contains(family->part)) continue;
      const Fixture fixture = read_fixture(path);
      const auto problems = run_fixture(fixture, device(), nullptr, options);
      if (missing()) {
        ASSERT_FALSE(problems.empty());
        EXPECT_NE(problems[0].find("subgroups"), std::string::npos) << problems[0];
        return;
      }
      for (const std::string& problem : problems) ADD_FAILURE() << fixture.name << ": " << problem;
    }
  }
}

// Fused linears and attention, at several lengths.
TEST_P(Routes, GiveTheLogitsOfALlama) {
  const std::string_view family = GetParam().family;
  if (missing() || family == "gemm" || family == "conv" || family == "depthwise") return;
  Llama expected("hf_rope"), actual("hf_rope", with_route(GetParam()));
  i64 position = 0;
  for (u32 length : {33u, 1u, 5u, 1u, 2u}) {
    std::vector<i64> tokens(length);
    for (u32 i = 0; i < length; ++i) tokens[i] = (i * 37 + length) % 256;
    expect_close(actual.logits(tokens, position), expected.logits(tokens, position));
    position += length;
  }
  EXPECT_EQ(actual.method->stats().late_pipelines, 0u);
}

std::string name_of_route(const testing::TestParamInfo<ops::Route>& info) {
  return str(info.param.family, "_", info.param.name);
}
INSTANTIATE_TEST_SUITE_P(All, Routes, testing::ValuesIn(ops::routes().begin(), ops::routes().end()), name_of_route);

TEST(Routing, TheFirstOfTheLargestElementsIsFoundOnEveryRoute) {
  for (u32 width : {1u, 7u, 1024u, 1025u, 70001u})
    for (std::string_view route : {"parts", "row"}) {
      GraphBuilder b;
      const u32 x = b.input(b.tensor(DType::f32, {2, width})), y = b.tensor(DType::f32, {2, width});
      b.op("aten.neg.default", {x, y});
      b.output(y);
      LoadOptions options;
      options.device = device();
      options.routes = {str("arg_max=", route)};
      auto program = Program::load(b.program(), options);
      auto method = program->method("forward", {.epilogues = {{.kind = Epilogue::arg_max}}});
      ASSERT_TRUE(method.has_value()) << method.error().to_string();
      Tensor input(DType::f32, {2, width});
      const auto values = input.as<f32>();
      for (u32 i = 0; i < 2 * width; ++i) values[i] = i < width ? -5.f : f32(i % 3);
      for (u32 place : {width / 2, width - 1}) values[width + place] = -1;
      const auto outputs = method->execute({input});
      ASSERT_TRUE(outputs.has_value()) << outputs.error().to_string();
      EXPECT_EQ((*outputs)[1].as<i32>()[0], i32(width / 2)) << route << " of " << width;
    }
}

TEST(Routing, NamesTheRoutesThatThereAre) {
  LoadOptions options;
  options.device = device();
  options.routes = {"linear_q4=fastest"};
  auto program = Program::load(data_folder() / "llama_tiny" / "rope_llama" / "model.pte", options);
  ASSERT_TRUE(program.has_value());
  auto method = program->method();
  ASSERT_FALSE(method.has_value());
  EXPECT_NE(method.error().to_string().find("there are: lines, subgroups, registers"), std::string::npos)
      << method.error().to_string();
}

// As many kernels as a program needs are compiled when it is loaded, on whatever route.
TEST(Routing, AGpuTakesOtherRoutesAndGivesTheSame) {
  LoadOptions options;
  options.device = device_of_type(gpu::AdapterType::discrete);
  Llama expected("rope_llama"), actual("rope_llama", options);
  const std::vector<i64> tokens{5, 6, 7, 8, 9, 10, 11};
  expect_close(actual.logits(tokens, 0), expected.logits(tokens, 0));
  // Attention with one query writes its key and value to the caches, and the next one reads them.
  expect_close(actual.logits({12}, 7), expected.logits({12}, 7));
  expect_close(actual.logits({13}, 8), expected.logits({13}, 8));
  EXPECT_EQ(actual.method->stats().late_pipelines, 0u);
}

}  // namespace
}  // namespace pteron::test
