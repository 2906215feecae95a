// SPDX-License-Identifier: BSD-3-Clause
#include "llm/tokenizer/json_tree.h"

#include "base/error.h"

#include <nlohmann/json.hpp>

#include <cmath>
#include <utility>

namespace pteron::llm {

// Receives the parser's events.
class JsonTree::Builder : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit Builder(JsonTree& tree) : tree_(tree) {}

  bool null() override { return add(Kind::null) != nullptr; }
  bool boolean(bool value) override { return number(Kind::boolean, value); }
  bool number_integer(number_integer_t value) override { return number(Kind::number, f64(value)); }
  bool number_unsigned(number_unsigned_t value) override { return number(Kind::number, f64(value)); }
  bool number_float(number_float_t value, const string_t&) override { return number(Kind::number, value); }
  bool string(string_t& value) override {
    Node* node = add(Kind::string);
    if (!node) return false;
    node->begin = u32(tree_.strings_.size());
    node->size = u32(value.size());
    tree_.strings_ += value;
    return true;
  }
  bool binary(binary_t&) override { return false; }
  bool start_object(size_t) override { return open(Kind::object); }
  bool start_array(size_t) override { return open(Kind::array); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool key(string_t& value) override {
    key_begin_ = u32(tree_.strings_.size());
    key_size_ = u32(value.size());
    tree_.strings_ += value;
    return true;
  }
  bool parse_error(size_t position, const std::string&, const nlohmann::detail::exception& error) override {
    error_ = str("it is not valid JSON at byte ", position, " (", error.what(), ")");
    return false;
  }

  std::string error() const { return error_.empty() ? "it is nested too deeply or too large" : error_; }

 private:
  using Kind = JsonValue::Kind;
  static constexpr size_t max_depth = 64;
  struct Open {
    u32 node, last_child;
  };

  Node* add(Kind kind) {
    if (tree_.nodes_.size() >= UINT32_MAX || tree_.strings_.size() >= UINT32_MAX) return nullptr;
    const u32 index = u32(tree_.nodes_.size());
    if (!open_.empty()) {
      Open& parent = open_.back();
      u32& link = parent.last_child ? tree_.nodes_[parent.last_child].next : tree_.nodes_[parent.node].begin;
      link = parent.last_child = index;
      ++tree_.nodes_[parent.node].size;
    }
    tree_.nodes_.push_back({.kind = kind, .key_begin = key_begin_, .key_size = std::exchange(key_size_, 0)});
    return &tree_.nodes_.back();
  }
  bool number(Kind kind, f64 value) {
    Node* node = add(kind);
    if (node) node->number = value;
    return node != nullptr;
  }
  bool open(Kind kind) {
    if (open_.size() == max_depth || !add(kind)) return false;
    open_.push_back({u32(tree_.nodes_.size()) - 1, 0});
    return true;
  }
  bool close() {
    open_.pop_back();
    return true;
  }

  JsonTree& tree_;
  std::vector<Open> open_;
  u32 key_begin_ = 0, key_size_ = 0;
  std::string error_;
};

Result<JsonTree> JsonTree::parse(std::string_view text) {
  if (text.size() >= UINT32_MAX)
    return unsupported("the file has ", text.size(), " bytes; at most 4 GiB are supported");
  JsonTree tree;
  Builder builder(tree);
  if (!nlohmann::json::sax_parse(text.begin(), text.end(), &builder)) return invalid(builder.error());
  return tree;
}

JsonValue::Kind JsonValue::kind() const { return tree_ ? tree_->nodes_[index_].kind : Kind::null; }

std::string_view JsonValue::key() const {
  if (!tree_) return {};
  const auto& node = tree_->nodes_[index_];
  return std::string_view(tree_->strings_).substr(node.key_begin, node.key_size);
}

std::string_view JsonValue::string() const {
  if (!is_string()) return {};
  const auto& node = tree_->nodes_[index_];
  return std::string_view(tree_->strings_).substr(node.begin, node.size);
}

f64 JsonValue::number() const { return is_number() ? tree_->nodes_[index_].number : 0; }

bool JsonValue::boolean(bool otherwise) const { return is_bool() ? tree_->nodes_[index_].number != 0 : otherwise; }

bool JsonValue::is_u32() const {
  const f64 value = number();
  return is_number() && value >= 0 && value <= f64(UINT32_MAX) && value == std::floor(value);
}

JsonValue JsonValue::operator[](std::string_view key) const {
  if (is_object())
    for (const JsonValue member : *this)
      if (member.key() == key) return member;
  return {};
}

u32 JsonValue::size() const { return is_array() || is_object() ? tree_->nodes_[index_].size : 0; }

JsonValue::Iterator JsonValue::begin() const { return {tree_, size() > 0 ? tree_->nodes_[index_].begin : 0}; }
JsonValue::Iterator JsonValue::end() const { return {tree_, 0}; }

JsonValue::Iterator& JsonValue::Iterator::operator++() {
  index_ = tree_->nodes_[index_].next;
  return *this;
}

void append_json_string(std::string& out, std::string_view text) {
  static constexpr char digits[] = "0123456789abcdef";
  out += '"';
  for (const char c : text) {
    if (c == '"' || c == '\\')
      out += {'\\', c};
    else if (u8(c) < 0x20)
      out += {'\\', 'u', '0', '0', digits[u8(c) >> 4], digits[u8(c) & 15]};
    else
      out += c;
  }
  out += '"';
}

}  // namespace pteron::llm
