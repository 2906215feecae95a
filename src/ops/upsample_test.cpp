// SPDX-License-Identifier: BSD-3-Clause
// Resizing and sampling of images: what torch.export never emits.
#include "gpu/run_graph.h"

namespace pteron::test {
namespace {

struct Resize {
  Shape x{1, 1, 2, 2}, y{1, 1, 4, 4};
  std::optional<std::vector<i64>> sizes;
  std::optional<std::vector<f64>> scales;
  DType dtype = DType::f32;
  bool dynamic = false;
};

GraphBuilder build(const Resize& r) {
  GraphBuilder b;
  const u32 x = b.input(b.tensor(r.dtype, r.x), r.dynamic), y = b.tensor(r.dtype, r.y);
  b.op("aten.upsample_nearest2d.vec",
       {x, r.sizes ? b.ints(*r.sizes) : b.null(), r.scales ? b.value(*r.scales) : b.null(), y});
  b.output(y, r.dynamic);
  return b;
}

TEST(Upsample, RejectsNeitherOrBothOfSizesAndScales) {
  for (const Resize& r : {Resize{}, Resize{.sizes = {{4, 4}}, .scales = {{2, 2}}}})
    EXPECT_NE(load_error(build(r)).find("either sizes or scales must be given"), std::string::npos);
}

TEST(Upsample, RejectsSizesThatMakeNoImage) {
  EXPECT_NE(load_error(build({.sizes = {{4}}})).find("2 sizes or scales are needed, not 1"), std::string::npos);
  EXPECT_NE(load_error(build({.sizes = {{4, -4}}})).find("axis 3 of [1, 1, 2, 2] can't become -4"), std::string::npos);
  EXPECT_NE(load_error(build({.scales = {{2, 0.2}}})).find("axis 3 of [1, 1, 2, 2] can't become 0"), std::string::npos);
  EXPECT_NE(load_error(build({.scales = {{2, -1}}})).find("the scale of axis 3 is -1"), std::string::npos);
}

TEST(Upsample, RejectsTensorsThatAreNoImages) {
  EXPECT_NE(load_error(build({.x = {1, 2, 2}, .y = {1, 4, 4}, .sizes = {{4, 4}}})).find("not [1, 2, 2]"),
            std::string::npos);
  EXPECT_NE(load_error(build({.sizes = {{4, 4}}, .dtype = DType::i32})).find("int32"), std::string::npos);
}

TEST(Upsample, RejectsLiveSizesThatScaleToNothing) {
  GraphRun run(build({.x = {1, 1, 4, 4}, .y = {1, 1, 2, 2}, .scales = {{0.5, 0.5}}, .dynamic = true}));
  EXPECT_TRUE(run({floats({1, 1, 1, 4}, {1, 2, 3, 4})}).empty());
  EXPECT_NE(run.error().find("axis 2 of [1, 1, 1, 4] can't become 0"), std::string::npos);
  EXPECT_EQ(run.first({floats({1, 1, 2, 4}, {1, 2, 3, 4, 5, 6, 7, 8})}), (std::vector<f32>{1, 3}));
}

TEST(Upsample, RunsNothingForNoBatch) {
  EXPECT_TRUE(GraphRun(build({.x = {0, 1, 2, 2}, .y = {0, 1, 4, 4}, .sizes = {{4, 4}}}))
                  .first({floats({0, 1, 2, 2}, {})})
                  .empty());
}

GraphBuilder sampler(const Shape& x, const Shape& grid, i64 interpolation, i64 padding) {
  GraphBuilder b;
  const u32 in = b.input(b.tensor(DType::f32, x)), points = b.input(b.tensor(DType::f32, grid));
  const u32 y = b.tensor(DType::f32, {x.dim(0), x.dim(1), grid.dim(1), grid.dim(2)});
  b.op("aten.grid_sampler_2d.default", {in, points, b.integer(interpolation), b.integer(padding), b.boolean(false), y});
  b.output(y);
  return b;
}

TEST(GridSampler, RejectsModesThatDoNotExist) {
  EXPECT_NE(load_error(sampler({1, 1, 2, 2}, {1, 1, 1, 2}, 3, 0)).find("interpolation is 3"), std::string::npos);
  EXPECT_NE(load_error(sampler({1, 1, 2, 2}, {1, 1, 1, 2}, 0, -1)).find("padding is -1"), std::string::npos);
}

TEST(GridSampler, RejectsShapesThatDoNotFit) {
  EXPECT_NE(load_error(sampler({1, 1, 2, 2}, {1, 1, 1, 3}, 0, 0)).find("[1, 1, 1, 3]"), std::string::npos);
  EXPECT_NE(load_error(sampler({1, 1, 2, 2}, {2, 1, 1, 2}, 0, 0)).find("the image has batch 1, the grid 2"),
            std::string::npos);
  EXPECT_NE(load_error(sampler({1, 1, 0, 2}, {1, 1, 1, 2}, 0, 0)).find("has no pixels to sample"), std::string::npos);
}

// Goldens: torch.nn.functional.grid_sample.
TEST(GridSampler, TakesNanForTheFirstPixelUnlessOutsideIsZero) {
  constexpr f32 nan = std::numeric_limits<f32>::quiet_NaN(), infinity = std::numeric_limits<f32>::infinity();
  const Tensor image = floats({1, 1, 3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9}),
               points = floats({1, 1, 5, 2}, {nan, 0, 0, nan, nan, nan, infinity, 0, -infinity, 0});
  const auto sample = [&](i64 interpolation, i64 padding) {
    return GraphRun(sampler({1, 1, 3, 3}, {1, 1, 5, 2}, interpolation, padding)).first({image, points});
  };
  for (i64 interpolation : {0, 1}) {
    EXPECT_EQ(sample(interpolation, 1), (std::vector<f32>{4, 2, 1, 6, 4}));
    EXPECT_EQ(sample(interpolation, 2), (std::vector<f32>{4, 2, 1, 4, 4}));
  }
  EXPECT_EQ(sample(1, 0), (std::vector<f32>{0, 0, 0, 0, 0}));
}

TEST(GridPriors, RejectsWhatIsNoPlane) {
  GraphBuilder b;
  const u32 x = b.input(b.tensor(DType::f32, {4})), y = b.tensor(DType::f32, {4, 2});
  b.op("et_vk.grid_priors.default", {x, b.integer(8), b.number(0.5), y});
  b.output(y);
  EXPECT_NE(load_error(b).find("the input must be [.., height, width], not [4]"), std::string::npos);
}

}  // namespace
}  // namespace pteron::test
