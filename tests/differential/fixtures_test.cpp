// SPDX-License-Identifier: BSD-3-Clause
// The reference interpreter against torch: what it knows it must know right, or it proves nothing about the engine.
#include "differential/reference/program.h"
#include "support/fixture.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace pteron::test {
namespace {

bool knows_all(const Fixture& fixture) {
  const auto copies = [](const std::string& op) { return op.starts_with("aten::copy_"); };
  return std::ranges::all_of(fixture.ops, reference::Interpreter::knows) &&
         std::ranges::all_of(fixture.portable_ops, copies);
}

void check(const Fixture& fixture) {
  reference::Method method(fixture.model(), fixture.data_files);
  for (const InputSet& set : fixture.sets) {
    const std::vector<Tensor> outputs = method.execute(set.inputs);
    ASSERT_GE(outputs.size(), set.outputs.size());
    if (fixture.output_unspecified) continue;
    const size_t extra = outputs.size() - set.outputs.size();
    for (size_t i = 0; i < set.outputs.size(); ++i) {
      const Difference d = compare(outputs[extra + i], set.outputs[i], fixture.tolerance);
      EXPECT_EQ(d.problem, "") << fixture.name << ", " << set.name << ", output " << i;
    }
    if (&set == &fixture.sets[0]) {
      for (size_t i = 0; i < fixture.mutated.size() && i < extra; ++i)
        EXPECT_EQ(compare(outputs[i], fixture.mutated[i].second, fixture.tolerance).problem, "") << fixture.name;
    }
  }
}

TEST(Reference, AgreesWithTorch) {
  size_t known = 0, all = 0;
  for (const auto& folder : find_fixtures(data_folder() / "ops")) {
    const Fixture fixture = read_fixture(folder);
    ++all;
    if (!knows_all(fixture)) continue;
    ++known;
    try {
      check(fixture);
    } catch (const std::exception& e) {
      ADD_FAILURE() << fixture.name << ": " << e.what();
    }
  }
  std::printf("the reference agrees with torch in %zu of %zu programs\n", known, all);
  EXPECT_GE(known * 10, all * 8);
}

}  // namespace
}  // namespace pteron::test
