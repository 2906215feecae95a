// SPDX-License-Identifier: BSD-3-Clause
// JSON as a tree that keeps the order of members. Of members with the same name the last value counts, at the place of
// the first, as in Python.
//
//   TRY(const Json json, Json::parse(R"({"name": "Ada", "born": 1815})"));
//   json["name"].string();                                     // "Ada"
//   Json({{"name", "Ada"}, {"tags", Json::Array{1, true}}}).dump();  // {"name": "Ada", "tags": [1, true]}
#pragma once

#include <pteron/result.h>
#include <pteron/types.h>

#include <concepts>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace pteron {

struct JsonMember;

class Json {
 public:
  using Array = std::vector<Json>;
  using Object = std::vector<JsonMember>;
  using Data = std::variant<std::monostate, bool, i64, f64, std::string, Array, Object>;

  Json();
  explicit Json(Data data);
  // What it is made of, without saying so. Integers of more than 63 bits are rounded.
  template <std::integral T>
  Json(T value);
  Json(f64 value);
  Json(const char* text);
  Json(std::string_view text);
  Json(std::string text);
  Json(Array items);
  Json(std::initializer_list<JsonMember> members);
  Json(const Json&);
  Json(Json&&) noexcept;
  Json& operator=(const Json&);
  Json& operator=(Json&&) noexcept;
  ~Json();

  // At most max_depth arrays and objects inside of each other.
  static constexpr u32 max_depth = 128;
  // What happens to integers of more than 63 bits.
  enum class BigIntegers { refuse, round };
  static Result<Json> parse(std::string_view text, BigIntegers big = BigIntegers::refuse);

  bool is_null() const { return std::holds_alternative<std::monostate>(data_); }
  bool is_number() const { return integer() || real(); }
  const bool* boolean() const { return std::get_if<bool>(&data_); }
  const i64* integer() const { return std::get_if<i64>(&data_); }
  const f64* real() const { return std::get_if<f64>(&data_); }
  const std::string* text() const { return std::get_if<std::string>(&data_); }
  const Array* array() const { return std::get_if<Array>(&data_); }
  const Object* object() const { return std::get_if<Object>(&data_); }
  const Data& data() const { return data_; }

  void push_back(Json item);                     // an array's
  void add(std::string_view name, Json member);  // an object's
  // As text; what is not UTF-8 becomes a replacement character.
  std::string dump() const;

  // The member of an object, or null.
  const Json* find(std::string_view name) const;

  // For readers of files: what is not there or something else gives an empty answer.
  const Json& operator[](std::string_view name) const;  // a JSON null if there is no such member
  std::string_view string() const;
  bool flag(bool otherwise = false) const;
  f64 number() const;
  std::optional<u32> index() const;  // a whole number in [0, 2^32)
  std::span<const Json> items() const;
  std::span<const JsonMember> members() const;

 private:
  Data data_;
};

struct JsonMember {
  std::string name;
  Json value;
};

// Only here a list of members is a complete type.
inline Json::Json() = default;
inline Json::Json(Data data) : data_(std::move(data)) {}
template <std::integral T>
inline Json::Json(T value) {
  if constexpr (std::same_as<T, bool>)
    data_ = value;
  else if (std::in_range<i64>(value))
    data_ = i64(value);
  else
    data_ = f64(value);
}
inline Json::Json(f64 value) : data_(value) {}
inline Json::Json(const char* text) : data_(std::string(text)) {}
inline Json::Json(std::string_view text) : data_(std::string(text)) {}
inline Json::Json(std::string text) : data_(std::move(text)) {}
inline Json::Json(Array items) : data_(std::move(items)) {}
inline Json::Json(std::initializer_list<JsonMember> members) : data_(Object(members)) {}
inline Json::Json(const Json&) = default;
inline Json::Json(Json&&) noexcept = default;
inline Json& Json::operator=(const Json&) = default;
inline Json& Json::operator=(Json&&) noexcept = default;
inline Json::~Json() = default;

// With the quotes. Characters that need it are escaped, others only if `ascii`.
std::string json_quoted(std::string_view text, bool ascii = false);
// null, a boolean, a number or a string.
std::string json_scalar(const Json& value);

}  // namespace pteron
