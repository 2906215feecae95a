// SPDX-License-Identifier: BSD-3-Clause
#include "llm/tokenizer/protobuf.h"

#include "base/error.h"

#include <bit>

namespace pteron::tokenizer {

f32 ProtobufReader::Field::float32() const { return std::bit_cast<f32>(u32(value)); }

Result<u64> ProtobufReader::varint() {
  u64 out = 0;
  for (u32 shift = 0; shift < 64; shift += 7) {
    if (rest_.empty()) return invalid("the file is truncated in the middle of a number");
    const u8 byte = u8(rest_[0]);
    rest_.remove_prefix(1);
    out |= u64(byte & 0x7F) << shift;
    if (byte < 0x80) return out;
  }
  return invalid("a number is longer than 64 bits, ", rest_.size(), " bytes before the end");
}

Result<u64> ProtobufReader::fixed(u32 bytes) {
  if (rest_.size() < bytes) return invalid("the file is truncated in the middle of a number");
  u64 out = 0;
  for (u32 i = 0; i < bytes; ++i) out |= u64(u8(rest_[i])) << (8 * i);
  rest_.remove_prefix(bytes);
  return out;
}

Result<ProtobufReader::Field> ProtobufReader::next() {
  const size_t at = size_ - rest_.size();
  TRY(const u64 tag, varint());
  Field out{.number = u32(tag >> 3)};
  switch (tag & 7) {
    case 0: {
      TRY(out.value, varint());
      return out;
    }
    case 1: {
      TRY(out.value, fixed(8));
      return out;
    }
    case 2: {
      TRY(const u64 size, varint());
      if (size > rest_.size())
        return invalid("the field at byte ", at, " has ", size, " bytes, but only ", rest_.size(),
                       " follow; the file is truncated or damaged");
      out.bytes = rest_.substr(0, size);
      rest_.remove_prefix(size);
      return out;
    }
    case 5: {
      TRY(out.value, fixed(4));
      return out;
    }
    default: return invalid("the field at byte ", at, " has the unknown kind ", tag & 7);
  }
}

}  // namespace pteron::tokenizer
