// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/opening.h"

#include <algorithm>

namespace pteron {

Result<graph::DataLocation> ProgramFiles::find(std::string_view key) const {
  const auto found = named_data.find(key);
  if (found == named_data.end())
    return not_found("named data '", key,
                     "' is in none of the program's files; if its constants are external, give the .ptd file too");
  return found->second;
}

std::optional<graph::DataLocation> Opening::next() const {
  if (file_ >= sizes_.size()) return std::nullopt;
  if (have_header_)
    return graph::DataLocation{file_,
                               file_ == 0 ? format::DataRange{0, header_.program_size} : tensor_header_.flatbuffer};
  const u64 head = file_ == 0 ? format::program_header_bytes : format::tensor_file_header_bytes;
  return graph::DataLocation{file_, {0, std::min(head, sizes_[file_])}};
}

Status Opening::supply(Bytes bytes) {
  const auto want = next();
  if (!want || bytes.size() != want->range.size) return internal_error("bytes were supplied that nobody asked for");
  return file_ == 0 ? supply_program(bytes) : supply_tensor_file(bytes);
}

Status Opening::supply_program(Bytes bytes) {
  if (!have_header_) {
    TRY(header_, format::read_program_header(bytes, sizes_[0]));
    have_header_ = true;
    return {};
  }
  TRY(files_.spec, format::read_program(bytes, header_, sizes_[0]));
  for (const auto& [key, range] : files_.spec.named_data) files_.named_data.emplace(key, graph::DataLocation{0, range});
  ++file_;
  have_header_ = false;
  return {};
}

Status Opening::supply_tensor_file(Bytes bytes) {
  if (!have_header_) {
    TRY(tensor_header_, format::read_tensor_file_header(bytes, sizes_[file_]));
    have_header_ = true;
    return {};
  }
  TRY(auto entries, format::read_tensor_file(bytes, tensor_header_));
  for (const auto& [key, range] : entries)
    if (!files_.named_data.emplace(key, graph::DataLocation{file_, range}).second)
      return invalid("named data '", key, "' is in more than one of the program's files");
  ++file_;
  have_header_ = false;
  return {};
}

}  // namespace pteron
