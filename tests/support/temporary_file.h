// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <pteron/types.h>

#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace pteron::test {

// A file with these bytes that is gone afterwards. It looks old, so that a change right after is one of its time too.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::vector<std::byte>& bytes) {
    std::string pattern = std::filesystem::temp_directory_path() / "pteron_test_XXXXXX";
    const int fd = mkstemp(pattern.data());
    if (fd < 0) throw std::runtime_error("no temporary file");
    close(fd);
    path_ = pattern;
    overwrite(0, bytes);
    std::filesystem::last_write_time(path_, std::filesystem::file_time_type::clock::now() - std::chrono::hours(1));
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }

  const std::string& path() const { return path_; }
  void truncate(u64 size) const { std::filesystem::resize_file(path_, size); }
  void overwrite(u64 offset, const std::vector<std::byte>& bytes) const {
    std::fstream file(path_, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(std::streamoff(offset));
    file.write(reinterpret_cast<const char*>(bytes.data()), std::streamsize(bytes.size()));
    if (!file) throw std::runtime_error("cannot write '" + path_ + "'");
  }

 private:
  std::string path_;
};

}  // namespace pteron::test
