// SPDX-License-Identifier: BSD-3-Clause
// Live shapes that never have an element: fuzzing found ops that divided by their sizes.
#include "format/delegate_graph.h"
#include "format/program_file.h"
#include "graph/compiled.h"
#include "support/builder.h"
#include "support/corrupt.h"
#include "support/fixture.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <utility>

namespace pteron::graph {
namespace {

using test::File;
using test::GraphBuilder;

// The first graph of a program, and how to find what it names.
struct FirstGraph {
  format::DelegateGraph graph;
  DataLocation blob;
  std::map<std::string, DataLocation, std::less<>> named;
};
Result<FirstGraph> first_graph(const File& file) {
  TRY(const auto header, format::read_program_header(Bytes(file).first(64), file.size()));
  TRY(const auto spec, format::read_program(Bytes(file).first(header.program_size), header, file.size()));
  if (spec.methods[0].delegates.empty()) return not_found("nothing is delegated");
  const auto range = spec.methods[0].delegates[0].blob;
  const Bytes blob = Bytes(file).subspan(range.offset, range.size);
  TRY(const auto delegate, format::read_delegate_header(blob));
  FirstGraph out{{}, {0, range}, {}};
  TRY(out.graph, format::read_delegate_graph(blob, delegate));
  for (const auto& [key, at] : spec.named_data) out.named.emplace(key, DataLocation{0, at});
  return out;
}

// An op's result may still be as large as the file says when an input never has an element: who divides by sizes of
// inputs must not look at results alone.
TEST(NoElements, InputsAndConstantsMayNeverHaveAny) {
  u32 graphs = 0;
  for (const auto& folder : test::find_fixtures(test::data_folder() / "ops")) {
    SCOPED_TRACE(folder.string());
    auto first = first_graph(test::read_bytes(folder / "model.pte"));
    if (!first) continue;
    const FindData find = [&](std::string_view key) -> Result<DataLocation> {
      const auto found = first->named.find(key);
      return found == first->named.end() ? Result<DataLocation>(not_found("no '", key, "'")) : found->second;
    };
    // Of inputs and of constants, with what `prepack` makes of those.
    std::vector<std::vector<u32*>> sizes;
    const auto tensor = [&](u32 id) { return std::get_if<format::GraphTensor>(&first->graph.values[id]); };
    for (u32 id = 0; id < first->graph.values.size(); ++id) {
      if (!tensor(id) || (tensor(id)->constant < 0 && !std::ranges::count(first->graph.inputs, id))) continue;
      for (u32 axis = 0; axis < tensor(id)->shape.rank(); ++axis) {
        sizes.push_back({&tensor(id)->shape[axis]});
        for (const format::GraphCall& call : first->graph.calls)
          if (call.name == "et_vk.prepack.default" && call.args[0] == id)
            sizes.back().push_back(&tensor(call.args[1])->shape[axis]);
      }
    }
    const auto put = [](const std::vector<u32*>& all, u32 size) {
      for (u32* one : all) *one = size;
    };
    // One of them is none, or two.
    for (size_t a = 0; a < sizes.size(); ++a)
      for (size_t b = a; b < sizes.size(); ++b) {
        const u32 size_a = *sizes[a][0], size_b = *sizes[b][0];
        put(sizes[a], 0), put(sizes[b], 0);
        if (auto graph = build_graph(first->graph, first->blob, find)) {
          const auto compiled = compile(*std::move(graph), {}, {});
          EXPECT_TRUE(compiled || compiled.error().kind != ErrorKind::internal) << compiled.error().to_string();
          ++graphs;
        }
        put(sizes[a], size_a), put(sizes[b], size_b);
      }
  }
  EXPECT_GT(graphs, 1000u);
}

TEST(NoElements, AttentionOfNoHeadsIsRefusedIfItsResultHasSome) {
  GraphBuilder b;
  const u32 q = b.input(b.tensor(DType::f32, {1, 0, 2, 4}), true),
            k = b.input(b.tensor(DType::f32, {1, 1, 3, 4}), true), y = b.tensor(DType::f32, {1, 4, 2, 4});
  b.op("aten.scaled_dot_product_attention.default", {q, k, k, b.null(), b.number(0), b.boolean(false), b.null(), y});
  b.output(y, true);
  const File file = b.program();
  const auto graph = first_graph(file);
  ASSERT_TRUE(graph.has_value()) << graph.error().to_string();
  const auto compiled = compile(build_graph(graph->graph, graph->blob, {}).value(), {}, {});
  ASSERT_FALSE(compiled.has_value());
  EXPECT_NE(compiled.error().message.find("never has an element"), std::string::npos) << compiled.error().message;
}

TEST(NoElements, FiltersOfNoChannelsAreRefusedIfTheResultHasSome) {
  GraphBuilder b;
  const u32 x = b.input(b.tensor(DType::f32, {1, 4, 8, 8}), true), y = b.tensor(DType::f32, {1, 4, 6, 6});
  const u32 w = b.constant<f32>(DType::f32, {0, 4, 3, 3}, {});
  b.op("aten.convolution.default", {x, w, b.null(), b.ints({1, 1}), b.ints({0, 0}), b.ints({1, 1}), b.boolean(false),
                                    b.ints({0, 0}), b.integer(1), y});
  b.output(y, true);
  const auto graph = first_graph(b.program());
  ASSERT_TRUE(graph.has_value()) << graph.error().to_string();
  const auto compiled = compile(build_graph(graph->graph, graph->blob, {}).value(), {}, {});
  ASSERT_FALSE(compiled.has_value());
  EXPECT_NE(compiled.error().message.find("never has an element"), std::string::npos) << compiled.error().message;
}

// None of no channels: any number of groups divides them.
TEST(NoElements, GroupsAreCountedIn32Bits) {
  const auto is_refused = [](const std::function<void(GraphBuilder&, u32 groups)>& write) {
    GraphBuilder b;
    write(b, b.integer(i64(1) << 32));
    const auto graph = first_graph(b.program());
    if (!graph) return false;
    const auto compiled = compile(build_graph(graph->graph, graph->blob, {}).value(), {}, {});
    return !compiled && compiled.error().kind == ErrorKind::invalid;
  };
  EXPECT_TRUE(is_refused([](GraphBuilder& b, u32 groups) {
    const u32 x = b.input(b.tensor(DType::f32, {1, 0, 4})), none = b.null(), y = b.tensor(DType::f32, {1, 0, 4}),
              mean = b.tensor(DType::f32, {1, 1}), rstd = b.tensor(DType::f32, {1, 1});
    b.op("aten.native_group_norm.default",
         {x, none, none, b.integer(1), b.integer(0), b.integer(4), groups, b.number(1e-5), b.list({y, mean, rstd})});
    b.output(y);
  }));
  EXPECT_TRUE(is_refused([](GraphBuilder& b, u32 groups) {
    const u32 x = b.input(b.tensor(DType::f32, {1, 0, 8, 8})), y = b.tensor(DType::f32, {1, 0, 8, 8});
    const u32 w = b.constant<f32>(DType::f32, {0, 0, 1, 1}, {});
    b.op("aten.convolution.default",
         {x, w, b.null(), b.ints({1, 1}), b.ints({0, 0}), b.ints({1, 1}), b.boolean(false), b.ints({0, 0}), groups, y});
    b.output(y);
  }));
  EXPECT_TRUE(is_refused([](GraphBuilder& b, u32 group) {
    const u32 index = b.input(b.tensor(DType::i64, {3})), y = b.tensor(DType::f32, {3, 0});
    const u32 w = b.constant<u8>(DType::u8, {5, 0}, {}), scales = b.constant<f32>(DType::f32, {5, 0}, {});
    b.op("et_vk.embedding_q4gsw.default", {w, scales, group, index, b.boolean(false), y});
    b.output(y);
  }));
}

}  // namespace
}  // namespace pteron::graph
