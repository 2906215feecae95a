// SPDX-License-Identifier: BSD-3-Clause
// The engine knows ops and kernels by their tables alone.
#include "graph/op.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>

namespace pteron::graph {
namespace {

TEST(Layers, TheGraphNamesNoOpAndNoKernel) {
  const std::regex named(R"(kernels::|kernels\.h|"(aten|et_vk|pteron|torchao|quantized_decomposed|dim_order_ops)\.)"
                         R"(|"\w+\.default"|#include "ops/)");
  std::vector<std::string> names;  // of all ops and kernels, as a literal would have them
  for (const OpList& list : all_ops())
    for (const OpEntry& op : list) names.push_back('"' + std::string(op.name) + '"');
  for (const KernelSource* kernel : all_kernels()) names.push_back('"' + std::string(kernel->name) + '"');
  u32 files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(PTERON_SOURCE "/src/graph")) {
    if (!entry.is_regular_file()) continue;
    ++files;
    std::ifstream file(entry.path());
    std::string line;
    for (u32 number = 1; std::getline(file, line); ++number) {
      const std::string code = line.substr(0, line.find("//"));
      EXPECT_FALSE(std::regex_search(code, named)) << entry.path() << ":" << number << ": " << line;
      for (const std::string& name : names)
        EXPECT_EQ(code.find(name), std::string::npos) << entry.path() << ":" << number << ": " << line;
    }
  }
  EXPECT_GT(files, 20u);
}

TEST(Layers, PublicHeadersNameNothingOfTheInside) {
  const std::regex named(R"(\b(graph|gpu|format|ops|kernels)::|namespace (graph|gpu|format|ops)\b|#include ")");
  u32 files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(PTERON_SOURCE "/include")) {
    if (!entry.is_regular_file()) continue;
    ++files;
    std::ifstream file(entry.path());
    std::string line;
    for (u32 number = 1; std::getline(file, line); ++number)
      EXPECT_FALSE(std::regex_search(line, named)) << entry.path() << ":" << number << ": " << line;
  }
  EXPECT_GT(files, 15u);
}

}  // namespace
}  // namespace pteron::graph
