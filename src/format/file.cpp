// SPDX-License-Identifier: BSD-3-Clause
#include "base/os.h"
#include "format/data_source.h"

namespace pteron::format {
namespace {

// Reads, and maps nothing: what a consumer has verified is a copy that nobody else can change.
class FileSource final : public DataSource {
 public:
  FileSource(std::unique_ptr<os::File> file, std::string path) : file_(std::move(file)), path_(std::move(path)) {}

  u64 size() const override { return file_->size(); }
  std::string_view name() const override { return path_; }
  Status read(u64 offset, MutableBytes into) const override { return file_->read(offset, into); }

 private:
  std::unique_ptr<os::File> file_;
  std::string path_;
};

}  // namespace

Result<std::shared_ptr<DataSource>> open_file(const std::string& path) {
  TRY(auto file, os::open_file(path));
  return std::make_shared<FileSource>(std::move(file), path);
}

}  // namespace pteron::format
