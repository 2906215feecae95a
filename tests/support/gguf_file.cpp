// SPDX-License-Identifier: BSD-3-Clause
#include "support/gguf_file.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <stdexcept>

namespace pteron::test {
namespace {

enum Type : u32 { t_u32 = 4, t_f32 = 6, t_string = 8, t_array = 9 };

template <class T>
void put(std::vector<std::byte>& out, const T& value) {
  out.resize(out.size() + sizeof value);
  std::memcpy(out.data() + out.size() - sizeof value, &value, sizeof value);
}

void put_text(std::vector<std::byte>& out, const std::string& text) {
  put(out, u64(text.size()));
  const auto bytes = std::as_bytes(std::span(text));
  out.insert(out.end(), bytes.begin(), bytes.end());
}

template <class List, class Key>
auto find(List& list, Key key, const std::string& name) {
  return std::find_if(list.begin(), list.end(), [&](const auto& entry) { return entry.*key == name; });
}

void replace(std::vector<GgufFile::Entry>& entries, GgufFile::Entry entry) {
  const auto found = find(entries, &GgufFile::Entry::key, entry.key);
  if (found == entries.end())
    entries.push_back(std::move(entry));
  else
    *found = std::move(entry);
}

u64 align(u64 n, u64 to) { return (n + to - 1) / to * to; }

}  // namespace

void GgufFile::set(const std::string& key, u32 value) {
  Entry entry{key, t_u32, {}};
  put(entry.value, value);
  replace(entries, std::move(entry));
}

void GgufFile::set(const std::string& key, f32 value) {
  Entry entry{key, t_f32, {}};
  put(entry.value, value);
  replace(entries, std::move(entry));
}

void GgufFile::set(const std::string& key, const std::string& value) {
  Entry entry{key, t_string, {}};
  put_text(entry.value, value);
  replace(entries, std::move(entry));
}

void GgufFile::set_strings(const std::string& key, const std::vector<std::string>& values) {
  Entry entry{key, t_array, {}};
  put(entry.value, u32(t_string));
  put(entry.value, u64(values.size()));
  for (const std::string& value : values) put_text(entry.value, value);
  replace(entries, std::move(entry));
}

void GgufFile::erase(const std::string& key) { entries.erase(find(entries, &Entry::key, key)); }

void GgufFile::add(const std::string& name, std::vector<u64> sizes) {
  u64 count = 1;
  for (u64 size : sizes) count *= size;
  items.push_back({name, std::move(sizes), 0, std::vector<std::byte>(count * 4)});
}

GgufFile::Item& GgufFile::item(const std::string& name) {
  const auto found = find(items, &Item::name, name);
  if (found == items.end()) throw std::runtime_error("no tensor " + name);
  return *found;
}

void GgufFile::erase_item(const std::string& name) { items.erase(find(items, &Item::name, name)); }

std::vector<std::byte> GgufFile::bytes() const {
  std::vector<std::byte> out;
  for (char c : {'G', 'G', 'U', 'F'}) out.push_back(std::byte(c));
  put(out, version);
  put(out, u64(items.size()));
  put(out, u64(entries.size()));
  for (const Entry& entry : entries) {
    put_text(out, entry.key);
    put(out, entry.type);
    out.insert(out.end(), entry.value.begin(), entry.value.end());
  }
  u64 offset = 0;
  for (const Item& item : items) {
    put_text(out, item.name);
    put(out, u32(item.sizes.size()));
    for (u64 size : item.sizes) put(out, size);
    put(out, item.type);
    put(out, offset);
    offset = align(offset + item.data.size(), alignment);
  }
  for (const Item& item : items) {
    out.resize(align(out.size(), alignment));
    out.insert(out.end(), item.data.begin(), item.data.end());
  }
  return out;
}

GgufFile GgufFile::tiny_llama() {
  GgufFile file;
  file.set("general.architecture", "llama");
  file.set("general.name", "tiny");
  file.set("llama.block_count", 1u);
  file.set("llama.context_length", 16u);
  file.set("llama.embedding_length", 8u);
  file.set("llama.feed_forward_length", 12u);
  file.set("llama.attention.head_count", 2u);
  file.set("llama.attention.head_count_kv", 1u);
  file.set("llama.attention.layer_norm_rms_epsilon", 1e-5f);
  file.set("tokenizer.ggml.bos_token_id", 1u);
  file.set("tokenizer.ggml.eos_token_id", 2u);
  file.set_strings("tokenizer.ggml.tokens", {"a", "b", "c", "d", "e"});
  file.set("tokenizer.chat_template", "{{ messages }}");
  file.add("token_embd.weight", {8, 5});
  file.add("blk.0.attn_norm.weight", {8});
  file.add("blk.0.attn_q.weight", {8, 8});
  file.add("blk.0.attn_k.weight", {8, 4});
  file.add("blk.0.attn_v.weight", {8, 4});
  file.add("blk.0.attn_output.weight", {8, 8});
  file.add("blk.0.ffn_norm.weight", {8});
  file.add("blk.0.ffn_gate.weight", {8, 12});
  file.add("blk.0.ffn_up.weight", {8, 12});
  file.add("blk.0.ffn_down.weight", {12, 8});
  file.add("output_norm.weight", {8});
  return file;
}

}  // namespace pteron::test
