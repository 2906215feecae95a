// SPDX-License-Identifier: BSD-3-Clause
// Where the bytes of a file come from. Memory answers `view` without copying; files and
// streams implement only `read`.
#pragma once

#include "base/error.h"

#include <pteron/types.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace pteron::format {

struct DataRange {
  u64 offset = 0;
  u64 size = 0;

  u64 end() const { return offset + size; }
  friend bool operator==(const DataRange&, const DataRange&) = default;
};

// The part [offset, offset + size) of `whole`, checked without overflow. `what` names it in the error.
Result<DataRange> subrange(DataRange whole, u64 offset, u64 size, std::string_view what);

class DataSource {
 public:
  virtual ~DataSource() = default;
  virtual u64 size() const = 0;
  virtual std::string_view name() const = 0;
  // The bytes in place, valid as long as the source; nothing if this source can't give them without copying.
  virtual std::optional<Bytes> view(DataRange) const { return std::nullopt; }
  virtual Status read(u64 offset, MutableBytes into) const = 0;
};

// Opens a file for reading. Reads fail when it was cut or written to since.
Result<std::shared_ptr<DataSource>> open_file(const std::string& path);
// Bytes in memory, copied once.
std::shared_ptr<DataSource> from_memory(std::vector<std::byte> bytes, std::string name = "memory");
// Bytes in memory that outlive the source.
std::shared_ptr<DataSource> borrow_memory(Bytes bytes, std::string name = "memory");

// The bytes of a range: in place if the source can, else copied into `buffer`, at most `largest_fetch` of them.
constexpr u64 largest_fetch = std::min(u64(4) << 30, u64(SIZE_MAX / 2));  // a size_t of 32 bits holds no 4 GiB
Result<Bytes> fetch(const DataSource& source, DataRange range, std::vector<std::byte>& buffer);

}  // namespace pteron::format
