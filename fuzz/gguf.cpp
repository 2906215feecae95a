// SPDX-License-Identifier: BSD-3-Clause
// A GGUF file that is converted to a program.
#include "convert/convert.h"
#include "fuzz.h"

namespace pteron::fuzz {

void target(Bytes input) {
  u64 written = 0;
  const auto sink = [&](Bytes bytes) -> Status {
    written += bytes.size();
    if (written > (u64(64) << 20)) return unsupported("enough");
    return {};
  };
  (void)convert::convert(format::borrow_memory(input), {}, sink);
}

}  // namespace pteron::fuzz
