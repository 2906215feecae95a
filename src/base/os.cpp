// SPDX-License-Identifier: BSD-3-Clause
#include "base/os.h"

#include "base/error.h"

namespace pteron::os {

Result<std::vector<std::byte>> read_file(const std::string& path, u64 limit) {
  TRY(const auto file, open_file(path));
  if (file->size() > limit)
    return invalid("'", path, "' has ", file->size(), " bytes; a file of this kind has at most ", limit);
  std::vector<std::byte> bytes(file->size());
  TRY_DO(file->read(0, bytes));
  return bytes;
}

}  // namespace pteron::os
