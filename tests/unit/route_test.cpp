// SPDX-License-Identifier: BSD-3-Clause
#include "graph/plan.h"

#include <gtest/gtest.h>

namespace pteron::graph {
namespace {

TEST(Route, OfOneShapeIsRead) {
  const auto route = parse_route("gemm@64x576x1536=tile8");
  ASSERT_TRUE(route.has_value());
  EXPECT_EQ(route->family, "gemm");
  EXPECT_EQ(route->shape, (RouteShape{64, 576, 1536}));
  EXPECT_EQ(route->route, "tile8");
}

TEST(Route, OfAWholeFamilyOrOfAnotherFormIsNone) {
  for (const char* text : {"gemm=tile8", "", "@", "gemm@64x576=tile8", "gemm@64x576x1536", "gemm@64x576x1536x2=tile8",
                           "gemm@64xx1536=tile8", "gemm@-1x2x3=tile8", "gemm@1x2x99999999999=tile8", "gemm=a@1x2x3"})
    EXPECT_FALSE(parse_route(text).has_value()) << text;
}

}  // namespace
}  // namespace pteron::graph
