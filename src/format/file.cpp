// SPDX-License-Identifier: BSD-3-Clause
#include "base/os.h"
#include "format/data_source.h"

#include <cstring>

namespace pteron::format {
namespace {

class FileSource final : public DataSource {
 public:
  FileSource(std::unique_ptr<os::MappedFile> file, std::string path) : file_(std::move(file)), path_(std::move(path)) {}

  u64 size() const override { return file_->bytes().size(); }
  std::string_view name() const override { return path_; }
  std::optional<Bytes> view(DataRange range) const override {
    if (range.offset > size() || range.size > size() - range.offset) return std::nullopt;
    return file_->bytes().subspan(range.offset, range.size);
  }
  Status read(u64 offset, MutableBytes into) const override {
    TRY(const DataRange range, subrange({0, size()}, offset, into.size(), path_));
    if (!into.empty()) std::memcpy(into.data(), file_->bytes().data() + range.offset, into.size());
    return {};
  }
  void release(DataRange range) const override { file_->release(range.offset, range.size); }

 private:
  std::unique_ptr<os::MappedFile> file_;
  std::string path_;
};

}  // namespace

Result<std::shared_ptr<DataSource>> open_file(const std::string& path) {
  TRY(auto file, os::map_file(path));
  return std::make_shared<FileSource>(std::move(file), path);
}

}  // namespace pteron::format
