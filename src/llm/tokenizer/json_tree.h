// SPDX-License-Identifier: BSD-3-Clause
// JSON for reading. Values sit in one array and strings in one text, so that the half a million entries of a tokenizer
// cost little; asking a value for what it is not gives an empty answer instead of an error.
#pragma once

#include <pteron/result.h>
#include <pteron/types.h>

#include <string>
#include <string_view>
#include <vector>

namespace pteron::llm {

class JsonTree;

class JsonValue {
 public:
  class Iterator;

  JsonValue() = default;  // null
  bool is_null() const { return kind() == Kind::null; }
  bool is_bool() const { return kind() == Kind::boolean; }
  bool is_number() const { return kind() == Kind::number; }
  bool is_string() const { return kind() == Kind::string; }
  bool is_array() const { return kind() == Kind::array; }
  bool is_object() const { return kind() == Kind::object; }

  std::string_view key() const;  // under which this value stands in an object
  std::string_view string() const;
  f64 number() const;
  bool boolean(bool otherwise = false) const;
  // A number that is a whole one in [0, 2^32).
  bool is_u32() const;
  u32 as_u32() const { return is_u32() ? u32(number()) : 0; }

  JsonValue operator[](std::string_view key) const;  // null if there is none
  u32 size() const;
  Iterator begin() const;  // over the items of an array or the members of an object
  Iterator end() const;

 private:
  friend class JsonTree;
  enum class Kind : u8 { null, boolean, number, string, array, object };
  JsonValue(const JsonTree* tree, u32 index) : tree_(tree), index_(index) {}
  Kind kind() const;

  const JsonTree* tree_ = nullptr;
  u32 index_ = 0;
};

class JsonTree {
 public:
  static Result<JsonTree> parse(std::string_view text);
  JsonValue root() const { return {this, 0}; }

 private:
  friend class JsonValue;
  class Builder;

  struct Node {
    JsonValue::Kind kind = JsonValue::Kind::null;
    u32 next = 0;  // sibling
    u32 key_begin = 0, key_size = 0;
    u32 begin = 0, size = 0;  // a string's text; a container's first child and their number
    f64 number = 0;
  };
  std::vector<Node> nodes_;
  std::string strings_;
};

class JsonValue::Iterator {
 public:
  Iterator(const JsonTree* tree, u32 index) : tree_(tree), index_(index) {}
  JsonValue operator*() const { return {tree_, index_}; }
  Iterator& operator++();
  bool operator==(const Iterator& other) const { return index_ == other.index_; }

 private:
  const JsonTree* tree_;
  u32 index_;
};

// "text" with quotes and escapes.
void append_json_string(std::string& out, std::string_view text);

}  // namespace pteron::llm
