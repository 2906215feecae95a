// SPDX-License-Identifier: BSD-3-Clause
// Files that are cut or written to while they are in use: an error with a sentence, never a signal and never bytes of
// two files.
#include "base/os.h"
#include "convert/convert.h"
#include "runtime/open_files.h"
#include "support/builder.h"
#include "support/fixture.h"
#include "support/temporary_file.h"

#include <pteron/inspect.h>

#include <gtest/gtest.h>

#include <sys/stat.h>

namespace pteron::test {
namespace {

std::vector<std::byte> bytes_of(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

void expect_change_reported(const Status& status) {
  ASSERT_FALSE(status.has_value());
  EXPECT_EQ(status.error().kind, ErrorKind::invalid);
  EXPECT_NE(status.error().to_string().find("changed while it was in use"), std::string::npos)
      << status.error().to_string();
}

TEST(ChangingFiles, ACutFileIsAnErrorOfTheRead) {
  const TemporaryFile file(bytes_of("0123456789"));
  const auto source = format::open_file(file.path()).value();
  std::vector<std::byte> into(8);
  ASSERT_TRUE(source->read(0, into).has_value());
  file.truncate(4);
  expect_change_reported(source->read(0, into));
  expect_change_reported(source->read(0, MutableBytes(into).first(2)));
}

TEST(ChangingFiles, AFileWrittenInPlaceIsAnErrorOfTheRead) {
  const TemporaryFile file(bytes_of("0123456789"));
  const auto source = format::open_file(file.path()).value();
  file.overwrite(3, bytes_of("x"));
  std::vector<std::byte> into(2);
  expect_change_reported(source->read(0, into));
}

TEST(ChangingFiles, AFileThatAnotherIsRenamedOverStaysAsItWas) {
  const TemporaryFile file(bytes_of("0123456789")), other(bytes_of("abc"));
  const auto source = format::open_file(file.path()).value();
  std::filesystem::rename(other.path(), file.path());
  std::vector<std::byte> into(10);
  ASSERT_TRUE(source->read(0, into).has_value());
  EXPECT_EQ(into, bytes_of("0123456789"));
}

TEST(ChangingFiles, RangesBeyondTheEndAreRefusedInSixtyFourBits) {
  const TemporaryFile file(bytes_of("0123456789"));
  const auto source = format::open_file(file.path()).value();
  std::vector<std::byte> into(8);
  EXPECT_FALSE(source->read(3, into).has_value());
  EXPECT_FALSE(source->read(UINT64_MAX - 3, into).has_value());
  EXPECT_FALSE(format::fetch(*source, {UINT64_MAX - 3, 8}, into).has_value());
  EXPECT_FALSE(format::fetch(*source, {1, UINT64_MAX}, into).has_value());
}

TEST(ChangingFiles, APipeIsRefusedAndNotWaitedFor) {
  const TemporaryFile file({});
  std::filesystem::remove(file.path());
  ASSERT_EQ(mkfifo(file.path().c_str(), 0600), 0);
  EXPECT_FALSE(os::open_file(file.path()).has_value());
}

TEST(ChangingFiles, AFileForMemoryIsBounded) {
  const TemporaryFile file(bytes_of("0123456789"));
  EXPECT_EQ(os::read_file(file.path(), 10).value(), bytes_of("0123456789"));
  EXPECT_FALSE(os::read_file(file.path(), 9).has_value());
}

// Sparse, so it takes no room.
TEST(ChangingFiles, ASparseFileOfTerabytesIsRefusedUnread) {
  GraphBuilder b;
  const u32 x = b.input(b.tensor(DType::f32, {4})), y = b.tensor(DType::f32, {4});
  b.op("aten.neg.default", {x, y});
  b.output(y);
  auto program = b.program();
  std::fill_n(program.begin() + 8, 4, std::byte(0));  // without the extended header all of it is one flatbuffer
  const TemporaryFile file(program);
  file.truncate(u64(1) << 40);
  const auto loaded = Program::load(file.path());
  ASSERT_FALSE(loaded.has_value());
  EXPECT_NE(loaded.error().to_string().find("flatbuffer has at most"), std::string::npos);
}

TEST(ChangingFiles, AProgramWithFourGigabytesOfHolesIsReadWhereItsPartsAre) {
  GraphBuilder b;
  const u32 x = b.input(b.tensor(DType::f32, {4})), y = b.tensor(DType::f32, {4});
  const u32 c = b.constant<f32>(DType::f32, {4}, {1, 2, 3, 4}, "weight");
  b.op("aten.add.Tensor", {x, c, b.integer(1), y});
  b.output(y);
  auto program = b.program();
  const auto header = format::read_program_header(Bytes(program).first(64), program.size()).value();
  const std::vector<std::byte> segments(program.begin() + i64(header.segment_base), program.end());
  const u64 far = u64(5) << 30, size = 0;  // 0: as long as the file
  std::memcpy(program.data() + 8 + 16, &far, 8);
  std::memcpy(program.data() + 8 + 24, &size, 8);
  program.resize(header.program_size);
  const TemporaryFile file(program);
  file.truncate(far + segments.size());
  file.overwrite(far, segments);
  const auto opened = open_files(format::open_file(file.path()).value(), {});
  ASSERT_TRUE(opened.has_value()) << opened.error().to_string();
  const auto at = opened->files.find("weight").value();
  EXPECT_GE(at.range.offset, far);
  std::vector<f32> weight(4);
  ASSERT_TRUE(opened->sources[0]->read(at.range.offset, std::as_writable_bytes(std::span(weight))).has_value());
  EXPECT_EQ(weight, (std::vector<f32>{1, 2, 3, 4}));
}

TEST(ChangingFiles, AConversionOfAChangedModelIsAnError) {
  const auto model = read_bytes(data_folder() / "gguf" / "llama_f32.gguf");
  for (const bool cut : {false, true}) {
    const TemporaryFile file(model);
    convert::Options options;
    u32 calls = 0;
    options.progress = [&](const Progress&) {
      if (++calls == 2) cut ? file.truncate(model.size() / 2) : file.overwrite(0, model);
      return true;
    };
    const auto report =
        convert::convert(format::open_file(file.path()).value(), options, [](Bytes) { return Status(); });
    ASSERT_FALSE(report.has_value());
    EXPECT_NE(report.error().to_string().find("changed while it was in use"), std::string::npos)
        << report.error().to_string();
  }
}

// A key is a name inside of the files that the caller gave; it is never a path.
TEST(ExternalData, KeysAreNoPaths) {
  const TemporaryFile secret(bytes_of("0123456789abcdef"));
  for (const std::string& key : {secret.path(), "../" + std::filesystem::path(secret.path()).filename().string(),
                                 std::string("/etc/hostname"), std::string("./model.ptd")}) {
    GraphBuilder b;
    const u32 x = b.input(b.tensor(DType::f32, {4})), y = b.tensor(DType::f32, {4});
    b.op("aten.add.Tensor", {x, b.constant<f32>(DType::f32, {4}, {1, 2, 3, 4}, "here"), b.integer(1), y});
    b.output(y);
    b.graph.constants[0].key = key;
    const TemporaryFile program(b.program());
    const auto report = inspect(program.path(), {});
    ASSERT_TRUE(report.has_value());
    EXPECT_NE(report->methods[0].problem.find("is in none of the program's files"), std::string::npos)
        << report->methods[0].problem;
  }
}

}  // namespace
}  // namespace pteron::test
