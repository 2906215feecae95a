// SPDX-License-Identifier: BSD-3-Clause
#include "format/data_source.h"

#include <cstring>

namespace pteron::format {

Result<DataRange> subrange(DataRange whole, u64 offset, u64 size, std::string_view what) {
  if (offset > whole.size || size > whole.size - offset)
    return invalid(what, " spans bytes ", offset, " to ", offset, " + ", size, ", but only ", whole.size,
                   " are there; the file is truncated or corrupted");
  return DataRange{whole.offset + offset, size};
}

namespace {

class MemorySource final : public DataSource {
 public:
  MemorySource(std::vector<std::byte> owned, std::string name)
      : owned_(std::move(owned)), bytes_(owned_), name_(std::move(name)) {}
  MemorySource(Bytes borrowed, std::string name) : bytes_(borrowed), name_(std::move(name)) {}

  u64 size() const override { return bytes_.size(); }
  std::string_view name() const override { return name_; }
  std::optional<Bytes> view(DataRange range) const override {
    if (range.offset > size() || range.size > size() - range.offset) return std::nullopt;
    return bytes_.subspan(range.offset, range.size);
  }
  Status read(u64 offset, MutableBytes into) const override {
    TRY(const DataRange range, subrange({0, size()}, offset, into.size(), name_));
    if (!into.empty()) std::memcpy(into.data(), bytes_.data() + range.offset, into.size());
    return {};
  }

 private:
  std::vector<std::byte> owned_;
  Bytes bytes_;
  std::string name_;
};

}  // namespace

std::shared_ptr<DataSource> from_memory(std::vector<std::byte> bytes, std::string name) {
  return std::make_shared<MemorySource>(std::move(bytes), std::move(name));
}

std::shared_ptr<DataSource> borrow_memory(Bytes bytes, std::string name) {
  return std::make_shared<MemorySource>(bytes, std::move(name));
}

Result<Bytes> fetch(const DataSource& source, DataRange range, std::vector<std::byte>& buffer) {
  TRY(range, subrange({0, source.size()}, range.offset, range.size, source.name()));
  if (auto bytes = source.view(range)) return *bytes;
  if (range.size > largest_fetch)
    return unsupported(source.name(), ": ", range.size, " bytes would have to be in memory at once; the limit is ",
                       largest_fetch);
  buffer.resize(range.size);
  TRY_DO(source.read(range.offset, buffer));
  return Bytes(buffer);
}

}  // namespace pteron::format
