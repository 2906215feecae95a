// SPDX-License-Identifier: BSD-3-Clause
#include "format/memory_objects.h"

#include "format/graph_builder.h"

#include <gtest/gtest.h>

#include <set>

namespace pteron::format {
namespace {

i32 object_of(const GraphBuilder& g, u32 id) { return g.tensor_at(id).mem_obj; }

TEST(MemoryObjects, AreSharedByTensorsThatNeverMeet) {
  GraphBuilder g;
  const u32 input = g.input(g.tensor(DType::f32, Shape{4}));
  std::vector<u32> chain{input};
  for (int i = 0; i < 10; ++i) {
    chain.push_back(g.tensor(DType::f32, Shape{4}));
    g.op("aten.relu.default", {chain[chain.size() - 2], chain.back()});
  }
  g.output(chain.back());
  assign_memory_objects(g.graph);
  std::set<i32> objects;
  for (u32 id : chain) objects.insert(object_of(g, id));
  for (size_t i = 1; i < chain.size(); ++i) EXPECT_NE(object_of(g, chain[i]), object_of(g, chain[i - 1])) << i;
  EXPECT_EQ(objects.size(), 2u);
}

TEST(MemoryObjects, OutliveEveryUseAlsoInLists) {
  GraphBuilder g;
  const u32 a = g.input(g.tensor(DType::f32, Shape{4})), b = g.tensor(DType::f32, Shape{4}),
            c = g.tensor(DType::f32, Shape{4}), d = g.tensor(DType::f32, Shape{8});
  g.op("aten.relu.default", {a, b});
  g.op("aten.relu.default", {b, c});
  g.op("aten.cat.default", {g.list({a, c}), g.integer(0), d});
  g.output(b);
  g.output(d);
  assign_memory_objects(g.graph);
  const std::set<i32> objects{object_of(g, a), object_of(g, b), object_of(g, c), object_of(g, d)};
  EXPECT_EQ(objects.size(), 4u);  // b is an output, a is read by the last op
}

TEST(MemoryObjects, AreNotGivenToConstants) {
  GraphBuilder g;
  const u32 constant = g.constant_tensor(DType::f32, Shape{4}, {"key", {}, 16});
  const u32 packed = g.tensor(DType::f32, Shape{4}), y = g.tensor(DType::f32, Shape{4});
  g.op("et_vk.prepack.default", {constant, packed});
  g.op("aten.relu.default", {packed, y});
  g.output(y);
  assign_memory_objects(g.graph);
  EXPECT_EQ(object_of(g, constant), -1);
  EXPECT_EQ(object_of(g, packed), -1);
  EXPECT_EQ(object_of(g, y), 0);
}

}  // namespace
}  // namespace pteron::format
