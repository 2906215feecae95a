// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <pteron/result.h>
#include <pteron/types.h>

#include <string_view>

namespace pteron::tokenizer {

// Goes through the fields of a protocol-buffer message.
class ProtobufReader {
 public:
  struct Field {
    u32 number = 0;
    u64 value = 0;           // of a number; the bits of a float
    std::string_view bytes;  // of a text or a message

    bool boolean() const { return value != 0; }
    f32 float32() const;
  };

  explicit ProtobufReader(std::string_view message) : rest_(message), size_(message.size()) {}
  bool done() const { return rest_.empty(); }
  Result<Field> next();

 private:
  Result<u64> varint();
  Result<u64> fixed(u32 bytes);

  std::string_view rest_;
  size_t size_;
};

}  // namespace pteron::tokenizer
