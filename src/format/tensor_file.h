// SPDX-License-Identifier: BSD-3-Clause
// External named data (.ptd).
#pragma once

#include "format/data_source.h"

#include <map>
#include <string>

namespace pteron::format {

struct TensorFileHeader {
  DataRange flatbuffer;
  DataRange segments;
};
constexpr u64 tensor_file_header_bytes = 48;
Result<TensorFileHeader> read_tensor_file_header(Bytes head, u64 file_size);

// Key → bytes in the file. `flatbuffer` holds the header's flatbuffer range.
Result<std::map<std::string, DataRange, std::less<>>> read_tensor_file(Bytes flatbuffer,
                                                                       const TensorFileHeader& header);

}  // namespace pteron::format
