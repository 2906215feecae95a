// SPDX-License-Identifier: BSD-3-Clause
// Builds GGUF files by hand, right ones and wrong ones.
#pragma once

#include <pteron/types.h>

#include <string>
#include <vector>

namespace pteron::test {

class GgufFile {
 public:
  struct Entry {
    std::string key;
    u32 type = 0;  // GGUF's number
    std::vector<std::byte> value;
  };
  struct Item {
    std::string name;
    std::vector<u64> sizes;  // innermost first, as in the file
    u32 type = 0;            // GGML's number
    std::vector<std::byte> data;
  };

  // A llama with F32 weights that is complete: one layer, width 8, two heads, vocabulary 5.
  static GgufFile tiny_llama();

  void set(const std::string& key, u32 value);
  void set(const std::string& key, f32 value);
  void set(const std::string& key, const std::string& value);
  void set_strings(const std::string& key, const std::vector<std::string>& values);
  void erase(const std::string& key);
  // F32 zeros.
  void add(const std::string& name, std::vector<u64> sizes);
  Item& item(const std::string& name);
  void erase_item(const std::string& name);

  std::vector<std::byte> bytes() const;

  std::vector<Entry> entries;
  std::vector<Item> items;
  u32 version = 3;
  u64 alignment = 32;
};

}  // namespace pteron::test
