// SPDX-License-Identifier: BSD-3-Clause
#include "convert/gguf.h"

#include "support/corrupt.h"
#include "support/fixture.h"
#include "support/gguf_file.h"

#include <gtest/gtest.h>

namespace pteron::convert {
namespace {

using test::File;
using test::GgufFile;

Result<Gguf> parse(const File& file) { return Gguf::read(format::borrow_memory(file)); }

void expect_error(const GgufFile& file, const std::string& part) {
  const File bytes = file.bytes();
  const auto read = parse(bytes);
  ASSERT_FALSE(read.has_value());
  EXPECT_NE(read.error().to_string().find(part), std::string::npos) << read.error().to_string();
}

TEST(Gguf, ReadsWhatTheReferencePackageWrites) {
  const File bytes = test::read_bytes(test::data_folder() / "gguf" / "llama_q4_1.gguf");
  const auto file = parse(bytes);
  ASSERT_TRUE(file.has_value()) << file.error().to_string();
  EXPECT_EQ(**file->text("general.architecture"), "llama");
  EXPECT_EQ(**file->integer("llama.block_count"), 2);
  EXPECT_FLOAT_EQ(f32(**file->number("llama.attention.layer_norm_rms_epsilon")), 1e-5f);
  const auto tokens = file->strings(std::get<GgufArray>(file->metadata().at("tokenizer.ggml.tokens")));
  ASSERT_TRUE(tokens.has_value());
  EXPECT_EQ(tokens->size(), 67u);
  EXPECT_EQ(tokens->back(), "t66");
  const GgufTensor* down = file->tensor("blk.1.ffn_down.weight");
  ASSERT_NE(down, nullptr);
  EXPECT_TRUE(down->shape == (Shape{64, 96}));
  EXPECT_EQ(down->format->name, "Q4_1");
  EXPECT_EQ(down->data.size, 64u * 96 / 32 * 20);
  EXPECT_EQ(file->tensor("nothing"), nullptr);
}

TEST(Gguf, TellsAMissingKeyFromOneOfAnotherType) {
  const File bytes = GgufFile::tiny_llama().bytes();
  const auto file = parse(bytes);
  ASSERT_TRUE(file.has_value()) << file.error().to_string();
  EXPECT_FALSE(file->integer("no.such.key")->has_value());
  EXPECT_EQ(**file->number("llama.block_count"), 1.0);  // an integer is a number
  const auto wrong = file->integer("general.name");
  ASSERT_FALSE(wrong.has_value());
  EXPECT_EQ(wrong.error().message, "metadata 'general.name' is a string, not an integer");
  EXPECT_FALSE(file->text("tokenizer.ggml.tokens").has_value());
}

TEST(Gguf, RefusesEveryTruncation) {
  const File whole = GgufFile::tiny_llama().bytes();
  for (size_t length = 0; length < whole.size(); ++length) {
    const File cut(whole.begin(), whole.begin() + std::ptrdiff_t(length));
    EXPECT_FALSE(parse(cut).has_value()) << length;
  }
}

// What is read after any damage lies in the file.
TEST(Gguf, SurvivesEveryBitFlipAndWorse) {
  const auto use = [](const File& broken) {
    const auto file = parse(broken);
    if (!file) {
      EXPECT_FALSE(file.error().message.empty());
      return;
    }
    for (const GgufTensor& tensor : file->tensors()) EXPECT_LE(tensor.data.end(), broken.size());
    for (const auto& [key, value] : file->metadata()) {
      const auto* array = std::get_if<GgufArray>(&value);
      if (!array) continue;
      EXPECT_TRUE(Gguf::holds_strings(*array) ? file->strings(*array).has_value() : file->numbers(*array).has_value());
    }
  };
  File file = GgufFile::tiny_llama().bytes();
  for (size_t at = 0; at < file.size(); ++at)
    for (int bit = 0; bit < 8; ++bit) {
      file[at] ^= std::byte(1 << bit);
      use(file);
      file[at] ^= std::byte(1 << bit);
    }
  test::for_each_corruption(file, 5000, 11, use);
}

TEST(Gguf, RefusesOtherFilesAndVersions) {
  EXPECT_FALSE(parse(File(100)).has_value());
  GgufFile file = GgufFile::tiny_llama();
  file.version = 1;
  expect_error(file, "the file has GGUF version 1; 2 and 3 are known");
  file.version = 0x0300'0000;
  expect_error(file, "big-endian");
  file.version = 2;
  const File bytes = file.bytes();
  EXPECT_TRUE(parse(bytes).has_value());
}

TEST(Gguf, RefusesDuplicates) {
  GgufFile file = GgufFile::tiny_llama();
  file.entries.push_back(file.entries[0]);
  expect_error(file, "metadata 'general.architecture' appears twice");
  file.entries.pop_back();
  file.items.push_back(file.items[0]);
  expect_error(file, "tensor 'token_embd.weight' appears twice");
}

TEST(Gguf, RefusesTensorsThatCannotBe) {
  const auto with = [](auto change) {
    GgufFile file = GgufFile::tiny_llama();
    change(file.item("output_norm.weight"));
    return file;
  };
  expect_error(with([](auto& t) { t.sizes = {0}; }), "tensor 'output_norm.weight': axis 0 has size 0");
  expect_error(with([](auto& t) { t.sizes = {}; }), "it has 0 axes; 1 to 4 are allowed");
  expect_error(with([](auto& t) { t.sizes = {8, 1, 1, 1, 1}; }), "it has 5 axes");
  expect_error(with([](auto& t) { t.sizes = {9}; }), "the file is truncated or corrupted");
  expect_error(with([](auto& t) { t.sizes = {u64(1) << 40}; }), "axis 0 has size 1099511627776");
  expect_error(with([](auto& t) { t.sizes = {UINT32_MAX, UINT32_MAX, UINT32_MAX}; }), "more bytes than fit in 64 bits");
  expect_error(with([](auto& t) { t.type = 2; }), "its rows have 8 values, but Q4_0 comes in blocks of 32");
  expect_error(with([](auto& t) { t.type = 10; }), "the type Q2_K is not supported; convert the model to one of F32,");
  expect_error(with([](auto& t) { t.type = 77; }), "the type number 77 is not supported");
}

TEST(Gguf, RespectsTheAlignmentThatTheFileAsksFor) {
  GgufFile file = GgufFile::tiny_llama();
  file.alignment = 64;
  file.set("general.alignment", 64u);
  const File bytes = file.bytes();
  const auto read = parse(bytes);
  ASSERT_TRUE(read.has_value()) << read.error().to_string();
  EXPECT_EQ(read->tensor("blk.0.attn_q.weight")->data.offset % 64, 0u);
  file.alignment = 32;
  expect_error(file, "which is no multiple of the file's alignment 64");
  file.set("general.alignment", 0u);
  expect_error(file, "general.alignment is 0; it must be a power of two");
}

TEST(Gguf, RefusesNestedArraysAndUnknownTypes) {
  GgufFile file = GgufFile::tiny_llama();
  const File nested{std::byte(9), {}, {}, {}, std::byte(1), {}, {}, {}, {}, {}, {}, {}};  // one element of type array
  file.entries.push_back({"odd", 9, nested});
  expect_error(file, "metadata 'odd': an array holds elements of type 9");
  file.entries.back() = {"odd", 55, {}};
  expect_error(file, "metadata 'odd': the value type 55 is unknown");
}

// A count costs nothing before what it counts is there.
TEST(Gguf, BelievesNoCount) {
  const File whole = GgufFile::tiny_llama().bytes();
  for (const size_t at : {8, 16})  // of tensors, of metadata
    for (const u64 count : {UINT64_MAX, u64(1) << 60, u64(1) << 32}) {
      File file = whole;
      std::memcpy(file.data() + at, &count, sizeof count);
      EXPECT_FALSE(parse(file).has_value()) << count;
    }
  const auto with_array = [](u32 type, u64 count) {
    GgufFile file = GgufFile::tiny_llama();
    GgufFile::Entry entry{"odd", 9, File(12)};
    std::memcpy(entry.value.data(), &type, sizeof type);
    std::memcpy(entry.value.data() + 4, &count, sizeof count);
    file.entries.push_back(std::move(entry));
    return file;
  };
  for (const u32 type : {0, 4, 8, 12})  // a byte, 4 bytes, texts, 8 bytes: some products of these wrap
    for (const u64 count : {UINT64_MAX, u64(1) << 61, (u64(1) << 61) + 1, u64(1) << 62, u64(1) << 40})
      expect_error(with_array(type, count), "metadata 'odd'");
  GgufFile long_text = GgufFile::tiny_llama();
  long_text.entries.push_back({"odd", 8, File(8, std::byte(0xFF))});
  expect_error(long_text, "a text says it has 18446744073709551615 bytes");
}

TEST(Gguf, ChecksOffsetsAndAlignmentIn64Bits) {
  const File whole = GgufFile::tiny_llama().bytes();
  const std::string name = "output_norm.weight";
  const auto found = std::ranges::search(whole, std::as_bytes(std::span(name)));
  const auto at = std::distance(whole.begin(), found.end()) + 4 + 8 + 4;  // behind its rank, one size, its type
  for (const u64 offset : {u64(0) - 32, u64(1) << 63, u64(1) << 32, u64(1) << 40}) {
    File file = whole;
    std::memcpy(file.data() + at, &offset, sizeof offset);
    const auto read = parse(file);
    ASSERT_FALSE(read.has_value()) << offset;
    EXPECT_NE(read.error().to_string().find(name), std::string::npos) << read.error().to_string();
  }
  for (const u32 alignment : {3u, 0x8000'0001u, UINT32_MAX}) {
    GgufFile file = GgufFile::tiny_llama();
    file.set("general.alignment", alignment);
    expect_error(file, "it must be a power of two");
  }
}

TEST(Gguf, RefusesTensorsThatOverlap) {
  File file = GgufFile::tiny_llama().bytes();
  const std::string name = "output_norm.weight";
  const auto found = std::ranges::search(file, std::as_bytes(std::span(name)));
  const auto at = std::distance(file.begin(), found.end()) + 4 + 8 + 4;  // behind its rank, one size, its type
  const u64 first = 0;
  std::memcpy(file.data() + at, &first, sizeof first);
  const auto read = parse(file);
  ASSERT_FALSE(read.has_value());
  EXPECT_NE(read.error().to_string().find(", inside of tensor '"), std::string::npos) << read.error().to_string();
}

}  // namespace
}  // namespace pteron::convert
