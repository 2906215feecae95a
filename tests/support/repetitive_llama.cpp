// SPDX-License-Identifier: BSD-3-Clause
#include "support/repetitive_llama.h"

#include "convert/convert.h"
#include "support/gguf_file.h"

#include <cstring>
#include <random>
#include <stdexcept>

namespace pteron::test {

std::vector<std::byte> repetitive_llama() {
  GgufFile gguf = GgufFile::tiny_llama();
  gguf.set("llama.context_length", 128u);
  gguf.set("tokenizer.ggml.eos_token_id", 3u);
  std::mt19937 random(7);
  std::uniform_real_distribution<f32> number(-1, 1);
  for (GgufFile::Item& item : gguf.items)
    for (size_t at = 0; at < item.data.size(); at += sizeof(f32)) {
      const f32 value = number(random);
      std::memcpy(item.data.data() + at, &value, sizeof value);
    }
  std::vector<std::byte> out;
  const auto collect = [&](Bytes more) -> Status {
    out.insert(out.end(), more.begin(), more.end());
    return {};
  };
  const auto made = convert::convert(format::from_memory(gguf.bytes()), {.all_logits = true}, collect);
  if (!made) throw std::runtime_error(made.error().to_string());
  return out;
}

}  // namespace pteron::test
