// SPDX-License-Identifier: BSD-3-Clause
// JSON as a tree that keeps the order of members. Of members with the same name the last value counts, at the place of
// the first, as in Python.
#pragma once

#include <pteron/result.h>
#include <pteron/types.h>

#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace pteron {

struct JsonMember;

class Json {
 public:
  using Array = std::vector<Json>;
  using Object = std::vector<JsonMember>;
  using Data = std::variant<std::monostate, bool, i64, f64, std::string, Array, Object>;

  Json() = default;
  explicit Json(Data data) : data_(std::move(data)) {}

  // At most max_depth arrays and objects inside of each other.
  static constexpr u32 max_depth = 128;
  static Result<Json> parse(std::string_view text);

  bool is_null() const { return std::holds_alternative<std::monostate>(data_); }
  bool is_number() const { return integer() || real(); }
  const bool* boolean() const { return std::get_if<bool>(&data_); }
  const i64* integer() const { return std::get_if<i64>(&data_); }
  const f64* real() const { return std::get_if<f64>(&data_); }
  const std::string* text() const { return std::get_if<std::string>(&data_); }
  const Array* array() const { return std::get_if<Array>(&data_); }
  const Object* object() const { return std::get_if<Object>(&data_); }
  const Data& data() const { return data_; }

  // The member of an object, or null.
  const Json* find(std::string_view name) const;

 private:
  Data data_;
};

struct JsonMember {
  std::string name;
  Json value;
};

// With the quotes. Characters that need it are escaped, others only if `ascii`.
std::string json_quoted(std::string_view text, bool ascii = false);
// null, a boolean, a number or a string.
std::string json_scalar(const Json& value);

}  // namespace pteron
