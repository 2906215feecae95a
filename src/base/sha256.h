// SPDX-License-Identifier: BSD-3-Clause
// SHA-256 (FIPS 180-4) of bytes that come in pieces.
#pragma once

#include <pteron/types.h>

#include <array>
#include <string>

namespace pteron {

class Sha256 {
 public:
  void update(Bytes bytes);
  // The digest of everything so far, in lower-case hexadecimal. Ends the computation.
  std::string finish();

 private:
  void compress(const std::byte* block);

  std::array<u32, 8> state_{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                            0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<std::byte, 64> pending_{};
  u64 total_ = 0;  // bytes
};

}  // namespace pteron
