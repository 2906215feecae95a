// SPDX-License-Identifier: BSD-3-Clause
#include "format/tensor_file.h"

#include "support/corrupt.h"
#include "support/fixture.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace pteron::format {
namespace {

using test::File;
using Entries = std::map<std::string, DataRange, std::less<>>;

Result<Entries> parse(const File& file) {
  TRY(const TensorFileHeader header,
      read_tensor_file_header(Bytes(file).first(std::min<size_t>(tensor_file_header_bytes, file.size())), file.size()));
  return read_tensor_file(Bytes(file).subspan(header.flatbuffer.offset, header.flatbuffer.size), header);
}

// Two constants of 84 and 28 bytes.
File real_file() {
  const auto folder = test::data_folder() / "ops" / "external_data" / "one_file";
  return test::read_bytes(test::read_fixture(folder).data_files.at(0));
}

void expect_error(const File& file, const std::string& part) {
  const auto entries = parse(file);
  ASSERT_FALSE(entries.has_value());
  EXPECT_NE(entries.error().message.find(part), std::string::npos) << entries.error().to_string();
}

TEST(TensorFile, FindsTheConstantsOfARealFile) {
  const auto entries = parse(real_file());
  ASSERT_TRUE(entries.has_value()) << entries.error().to_string();
  std::vector<u64> sizes;
  for (const auto& [key, range] : *entries) sizes.push_back(range.size);
  std::sort(sizes.begin(), sizes.end());
  EXPECT_EQ(sizes, (std::vector<u64>{28, 84}));
}

TEST(TensorFile, RefusesWhatIsNoTensorFile) {
  expect_error({}, "at least 48");
  expect_error(File(64), "'FT01'");
  File program = real_file();
  program[4] = std::byte('E');
  expect_error(program, "'FT01'");
}

TEST(TensorFile, RefusesHeadersThatLieAboutSizes) {
  for (const size_t field : {16, 24, 32, 40})
    for (const u64 value : {~u64(0), ~u64(0) / 2, u64(1) << 40}) {
      File file = real_file();
      std::memcpy(file.data() + field, &value, sizeof value);
      EXPECT_FALSE(parse(file).has_value()) << "field " << field << " is " << value;
    }
}

TEST(TensorFile, SurvivesCorruption) {
  const File file = real_file();
  test::for_each_corruption(file, 2000, 11, [](const File& broken) {
    const auto entries = parse(broken);
    if (!entries) return;
    for (const auto& [key, range] : *entries) EXPECT_LE(range.end(), broken.size());
  });
}

}  // namespace
}  // namespace pteron::format
