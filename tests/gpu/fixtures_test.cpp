// SPDX-License-Identifier: BSD-3-Clause
// Every fixture of the repository, and the shared ones if they are there, against torch's goldens.
#include "gpu/environment.h"
#include "graph/op.h"
#include "support/fixture.h"

#include <cctype>

namespace pteron::test {
namespace {

class Fixtures : public testing::TestWithParam<std::filesystem::path> {};

void expect_goldens(const Fixture& fixture, const LoadOptions& options = {}) {
  const auto problems = run_fixture(fixture, device(), nullptr, options);
  for (const std::string& op : fixture.portable_ops)
    if (op != "aten::copy_") {
      // Needs portable kernels: must be refused here with the op's name. The plugin's tests run it.
      ASSERT_EQ(problems.size(), 1u);
      EXPECT_NE(problems[0].find(op), std::string::npos) << problems[0];
      return;
    }
  for (const std::string& problem : problems) ADD_FAILURE() << fixture.name << ": " << problem;
}

TEST_P(Fixtures, MatchesTorch) { expect_goldens(read_fixture(GetParam())); }

TEST_P(Fixtures, MatchesTorchWithoutPasses) { expect_goldens(read_fixture(GetParam()), without_passes()); }

std::vector<std::filesystem::path> runnable(const std::filesystem::path& root) {
  std::vector<std::filesystem::path> out;
  for (const auto& folder : find_fixtures(root)) {
    const Fixture fixture = read_fixture(folder);
    const bool all =
        std::all_of(fixture.ops.begin(), fixture.ops.end(), [](const auto& op) { return graph::find_op(op); });
    if (all) out.push_back(folder);
  }
  return out;
}

std::string name_of_case(const testing::TestParamInfo<std::filesystem::path>& info) {
  std::string name = info.param.parent_path().filename().string() + "_" + info.param.filename().string();
  for (char& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  return name;
}

INSTANTIATE_TEST_SUITE_P(Shared, Fixtures, testing::ValuesIn(runnable(shared_fixtures() / "ops")), name_of_case);
INSTANTIATE_TEST_SUITE_P(Own, Fixtures, testing::ValuesIn(runnable(data_folder() / "ops")), name_of_case);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Fixtures);

}  // namespace
}  // namespace pteron::test
