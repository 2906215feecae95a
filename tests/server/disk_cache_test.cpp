// SPDX-License-Identifier: BSD-3-Clause
#include "server/engine/disk_cache.h"

#include "base/sha256.h"
#include "support/fixture.h"

#include <gtest/gtest.h>

#include <unistd.h>
#include <algorithm>
#include <cstring>
#include <fstream>

namespace pteron::server {
namespace {

namespace fs = std::filesystem;
using test::data_folder;

std::vector<std::byte> read_all(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

void write_all(const fs::path& file, Bytes bytes) {
  std::ofstream(file, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()), std::streamsize(bytes.size()));
}

class DiskCacheTest : public testing::Test {
 protected:
  DiskCacheTest() {
    fs::create_directories(folder);
    served = std::make_shared<ServedModel>(
        "tiny", "", 0, *LanguageModel::load(data_folder() / "llama_tiny" / "rope_llama" / "model.pte"), ToolStyle{},
        std::string(64, 'a'));
    for (u32 i = 0; i < 60; ++i) text.push_back(7 * i % 500);
  }
  ~DiskCacheTest() override { fs::remove_all(folder); }

  std::unique_ptr<DiskCache> open(u64 budget = u64(1) << 30) { return *DiskCache::open(folder, budget); }
  Session fresh() const { return *served->model.session(); }
  Session after(std::span<const u32> tokens) const {
    Session session = fresh();
    EXPECT_TRUE(session.append(tokens).has_value());
    while (session.cached() < tokens.size()) {
      EXPECT_TRUE(session.begin(Readback::none).has_value());
      EXPECT_TRUE(session.finish().has_value());
    }
    return session;
  }
  // What the model expects behind a text.
  static std::vector<f32> logits(Session& session) {
    do {
      EXPECT_TRUE(session.begin(Readback::logits).has_value());
      EXPECT_TRUE(session.finish().has_value());
    } while (session.answer() == Readback::none);
    return {session.logits().begin(), session.logits().end()};
  }
  void keep(std::span<const u32> tokens, u64 budget = u64(1) << 30) const {
    DiskCache::open(folder, budget).value()->keep(*served, after(tokens));
  }
  std::vector<fs::path> files() const {
    std::vector<fs::path> out;
    for (const auto& entry : fs::directory_iterator(folder)) out.push_back(entry.path());
    return out;
  }
  // Whether a file with these bytes, found at the start or put there later, is used.
  bool used(Bytes bytes, bool later = false) {
    const fs::path file = files().at(0);
    auto cache = later ? open() : nullptr;
    write_all(file, bytes);
    if (!cache) cache = open();
    Session session = fresh();
    const bool restored = cache->restore(*served, session, text, 0);
    EXPECT_EQ(session.cached(), restored ? text.size() : 0);
    return restored;
  }

  fs::path folder = fs::temp_directory_path() / ("pteron-states-" + std::to_string(::getpid()));
  std::shared_ptr<ServedModel> served;
  std::vector<u32> text;
};

TEST_F(DiskCacheTest, AStateGoesOnWhereItWas) {
  keep(text);
  ASSERT_EQ(files().size(), 1u);
  EXPECT_EQ(fs::status(files()[0]).permissions(), fs::perms::owner_read | fs::perms::owner_write);
  auto cache = open();
  std::vector<u32> longer = text;
  longer.insert(longer.end(), {1, 2, 3});
  EXPECT_TRUE(cache->has_more(*served, longer, 0));
  EXPECT_FALSE(cache->has_more(*served, longer, 50));
  Session restored = fresh(), read = after(longer);
  ASSERT_TRUE(cache->restore(*served, restored, longer, 0));
  EXPECT_EQ(restored.cached(), text.size());
  EXPECT_EQ(*restored.replace(longer), text.size());
  const auto expected = logits(read), actual = logits(restored);
  for (size_t i = 0; i < expected.size(); ++i) ASSERT_NEAR(actual[i], expected[i], 1e-4) << i;
}

TEST_F(DiskCacheTest, StatesOfOtherModelsAndLayoutsAreNotTaken) {
  keep(text);
  served->hash = std::string(64, 'b');
  EXPECT_FALSE(open()->has_more(*served, text, 0));
  served->hash.clear();
  EXPECT_FALSE(open()->has_more(*served, text, 0));
  served->hash = std::string(64, 'a');
  const fs::path file = files()[0];
  StateHead head = *read_head(file);
  const auto state = *read_state(file, head, fresh().state_bytes(u32(text.size())));
  fs::remove(file);
  head.owner.layout += "?";
  ASSERT_TRUE(write_state(folder / "other.state", head.owner, head.tokens, state).has_value());
  Session session = fresh();
  EXPECT_FALSE(open()->restore(*served, session, text, 0));
  EXPECT_EQ(session.cached(), 0u);
}

TEST_F(DiskCacheTest, DamagedFilesAreIgnored) {
  keep(text);
  const auto good = read_all(files().at(0));
  EXPECT_TRUE(used(good));
  // One bit anywhere; all of the head, and samples of the rest.
  for (size_t at = 0; at < good.size(); at += at < 200 ? 1 : good.size() / 40) {
    auto damaged = good;
    damaged[at] ^= std::byte(1 << at % 8);
    EXPECT_FALSE(used(damaged)) << at;
    EXPECT_FALSE(used(damaged, true)) << at;
    write_all(files().at(0), good);
  }
  for (const size_t size : {size_t(0), size_t(7), size_t(95), size_t(96), size_t(300), good.size() - 1}) {
    EXPECT_FALSE(used(std::span(good).first(size))) << size;
    EXPECT_FALSE(used(std::span(good).first(size), true)) << size;
    write_all(files().at(0), good);
  }
  auto longer = good;
  longer.push_back(std::byte(0));
  EXPECT_FALSE(used(longer));
}

TEST_F(DiskCacheTest, SizesInAFileAreNotBelieved) {
  keep(text);
  const fs::path file = files().at(0);
  const auto good = read_all(file);
  constexpr size_t layout_at = 12, tokens_at = 16, state_at = 24;
  const auto with = [&](size_t at, auto value) {
    auto changed = good;
    std::memcpy(changed.data() + at, &value, sizeof value);
    return changed;
  };
  for (const u32 value : {0u, 1u, 0x7fffffffu, ~0u}) {
    EXPECT_FALSE(used(with(layout_at, value)));
    EXPECT_FALSE(used(with(tokens_at, value)));
  }
  for (const u64 value : {u64(0), u64(1) << 40, u64(1) << 63, ~u64(0), ~u64(0) - 100})
    EXPECT_FALSE(used(with(state_at, value)));
  // A file with holes is as long as it says.
  const u64 huge = u64(1) << 42;
  write_all(file, with(state_at, huge));
  std::error_code error;
  fs::resize_file(file, good.size() - fresh().state_bytes(u32(text.size())) + huge, error);
  if (error) return;  // the file system has no such files
  Session session = fresh();
  EXPECT_FALSE(open()->restore(*served, session, text, 0));
}

TEST_F(DiskCacheTest, WhatIsNoFileIsLeftAlone) {
  fs::create_directory(folder / "a.state");
  fs::create_symlink("/dev/zero", folder / "b.state");
  fs::create_symlink("nowhere", folder / "c.state");
  write_all(folder / "notes.txt", std::as_bytes(std::span("mine", 4)));
  EXPECT_FALSE(open()->has_more(*served, text, 0));
  EXPECT_EQ(files().size(), 4u);
}

TEST_F(DiskCacheTest, ALongerTextTakesThePlaceOfItsBeginningAndTheOldestGo) {
  const std::span<const u32> all = text;
  keep(all.first(40));
  keep(all);
  EXPECT_EQ(files().size(), 1u);
  keep(all.first(50));  // known already
  EXPECT_EQ(files().size(), 1u);
  const u64 one = fs::file_size(files()[0]);
  std::vector<u32> other(text.rbegin(), text.rend());
  keep(other, one + one / 2);
  EXPECT_EQ(files().size(), 1u);
  EXPECT_TRUE(open()->has_more(*served, other, 0));
  EXPECT_FALSE(open()->has_more(*served, text, 0));
  keep(all.first(10));
  EXPECT_EQ(files().size(), 1u) << "a short text is read again in no time";
}

TEST_F(DiskCacheTest, AFolderThatCanNotBeMadeIsSaid) {
  write_all(folder / "file", {});
  const auto cache = DiskCache::open(folder / "file", 1);
  ASSERT_FALSE(cache.has_value());
  EXPECT_NE(cache.error().to_string().find("is no folder"), std::string::npos);
}

}  // namespace
}  // namespace pteron::server
