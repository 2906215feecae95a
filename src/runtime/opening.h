// SPDX-License-Identifier: BSD-3-Clause
// Reads what a program's files say about themselves: the .pte's flatbuffer and the indices of .ptd files. A state
// machine that asks for bytes, so that it can run on a stream.
#pragma once

#include "format/program_file.h"
#include "format/tensor_file.h"
#include "graph/graph.h"

#include <map>

namespace pteron {

struct ProgramFiles {
  format::ProgramSpec spec;
  std::map<std::string, graph::DataLocation, std::less<>> named_data;  // of all files
  std::vector<u64> sizes;                                              // of the files

  Result<graph::DataLocation> find(std::string_view key) const;
};

class Opening {
 public:
  // sizes[0] is the .pte's, the others are the .ptd files'.
  explicit Opening(std::vector<u64> sizes) : sizes_(std::move(sizes)) { files_.sizes = sizes_; }

  // The bytes it needs next, or nothing when it is done.
  std::optional<graph::DataLocation> next() const;
  Status supply(Bytes bytes);
  ProgramFiles finish() { return std::move(files_); }

 private:
  Status supply_program(Bytes bytes);
  Status supply_tensor_file(Bytes bytes);

  std::vector<u64> sizes_;
  u32 file_ = 0;
  bool have_header_ = false;
  format::ProgramHeader header_;
  format::TensorFileHeader tensor_header_;
  ProgramFiles files_;
};

}  // namespace pteron
