// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/open_files.h"

namespace pteron {

Result<OpenFiles> open_files(std::shared_ptr<format::DataSource> program, const std::vector<std::string>& data_files) {
  OpenFiles out;
  out.sources.push_back(std::move(program));
  for (const std::string& path : data_files) {
    TRY(auto source, format::open_file(path));
    out.sources.push_back(std::move(source));
  }
  std::vector<u64> sizes;
  sizes.reserve(out.sources.size());
  for (const auto& source : out.sources) sizes.push_back(source->size());
  Opening opening(sizes);
  std::vector<std::byte> buffer;
  while (const auto want = opening.next()) {
    TRY(const Bytes bytes, format::fetch(*out.sources[want->source], want->range, buffer));
    TRY_DO(opening.supply(bytes));
  }
  out.files = opening.finish();
  return out;
}

}  // namespace pteron
