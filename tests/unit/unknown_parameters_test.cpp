// SPDX-License-Identifier: BSD-3-Clause
#include "gpu/native/unknown_parameters.h"

#include "graph/kernel.h"

#include <gtest/gtest.h>

#include <regex>

namespace pteron {
namespace {

using gpu::native::with_unknown_parameters;

TEST(UnknownParameters, ScalarsAreReadByMain) {
  EXPECT_EQ(with_unknown_parameters(R"(struct Params {
  count: u32,  // of all
  shape: array<vec4u, 2>, scale: f32, unused: i32
}
@group(0) @binding(0) var<uniform> p: Params;
fn total() -> u32 { return p.count + p.shape[0].x + step.count; }
@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) wid: vec3u,
        @builtin(local_invocation_index) lid: u32) {
  for (var i = lid; i < p.count; i++) { y[i] = p.scale; }
}
)"),
            R"(struct Params {
  count: u32,  // of all
  shape: array<vec4u, 2>, scale: f32, unused: i32
}
@group(0) @binding(0) var<uniform> p: Params;
fn total() -> u32 { return p_count_ + p.shape[0].x + step.count; }
@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) wid: vec3u,
        @builtin(local_invocation_index) lid: u32) { let zero_ = wid.x >> 31u; p_count_ = (p.count | zero_); p_scale_ = bitcast<f32>(bitcast<u32>(p.scale) | zero_);
  for (var i = lid; i < p_count_; i++) { y[i] = p_scale_; }
}

var<private> p_count_: u32;
var<private> p_scale_: f32;
)");
}

TEST(UnknownParameters, WhatIsNoKernelOfOursStays) {
  for (const std::string text : {"", "fn main() {}", "var<uniform> p: Params;",
                                 "struct P { a: u32 }\nvar<uniform> p: P;\nfn main() { x = p.a; }"})
    EXPECT_EQ(with_unknown_parameters(text), text);
}

TEST(UnknownParameters, EveryKernelHasThem) {
  for (const graph::KernelSource* kernel : graph::all_kernels()) {
    const std::string text = gpu::native::with_unknown_parameters(graph::assemble(graph::Kernel(*kernel)).source);
    if (text.find("var<uniform> p: ") == text.npos) continue;
    EXPECT_NE(text.find("let zero_ = "), text.npos) << kernel->name;
    EXPECT_FALSE(std::regex_search(text, std::regex(R"((for|if|while) \([^{]*[^\w.]p\.\w+ ?[;<>)=])"))) << kernel->name;
  }
}

}  // namespace
}  // namespace pteron
