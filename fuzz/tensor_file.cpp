// SPDX-License-Identifier: BSD-3-Clause
// A .ptd, with data beside a program.
#include "format/tensor_file.h"
#include "fuzz.h"

namespace pteron::fuzz {

void target(Bytes input) {
  const auto header = format::read_tensor_file_header(
      input.first(std::min<u64>(input.size(), format::tensor_file_header_bytes)), input.size());
  if (!header || header->flatbuffer.end() > input.size()) return;
  (void)format::read_tensor_file(input.subspan(header->flatbuffer.offset, header->flatbuffer.size), *header);
}

}  // namespace pteron::fuzz
