// SPDX-License-Identifier: BSD-3-Clause
#include "graph/compiled.h"
#include "support/builder.h"

#include <gtest/gtest.h>

namespace pteron::graph {
namespace {

using test::GraphBuilder;

// The file says that a result of dynamic shape may have elements, but the op can give it none.
TEST(EmptyResults, AreToldWhereTheFileSaysOtherwise) {
  const auto check = [](const char* name, DType dtype, u32 depth, bool scaled, bool grouped) {
    GraphBuilder b;
    const u32 x = b.input(b.tensor(DType::f32, {3, 8}), true), y = b.tensor(DType::f32, {3, 4});
    std::vector<u32> args = {x, b.constant<f32>(dtype, {0, depth}, {})};
    if (scaled) args.push_back(b.constant<f32>(DType::f32, {1, 4}, {1, 1, 1, 1}));
    if (grouped) args.insert(args.end(), {b.integer(12), b.null()});
    args.push_back(y);
    b.op(name, args);
    b.output(y, true);
    const auto blob = b.blob();
    const auto file = format::read_delegate_graph(blob, *format::read_delegate_header(blob));
    const auto compiled = compile(*build_graph(*file, {0, {0, blob.size()}}, {}), {}, {});
    ASSERT_FALSE(compiled.has_value()) << name;
    EXPECT_EQ(compiled.error().kind, ErrorKind::invalid) << name << ": " << compiled.error().to_string();
  };
  check("aten.linear.default", DType::f32, 8, false, false);
  check("et_vk.linear_q4gsw.default", DType::u8, 4, true, true);
  check("et_vk.linear_qcs4w.default", DType::u8, 4, true, false);
  check("aten._weight_int8pack_mm.default", DType::i8, 8, true, false);
}

}  // namespace
}  // namespace pteron::graph
