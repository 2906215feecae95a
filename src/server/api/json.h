// SPDX-License-Identifier: BSD-3-Clause
// The bodies of requests, and typed access to their members.
#pragma once

#include "server/api/error.h"

#include <nlohmann/json.hpp>

#include <optional>

namespace pteron::server {

using Json = nlohmann::ordered_json;  // a schema's members keep their order

// Any bytes; refuses what is not an object or would take long to handle.
Json parse_body(std::string_view body);
// JSON inside of a text; discarded if it is none or would take long to handle.
Json parse_inner(std::string_view text);
// With U+FFFD for what is not UTF-8.
std::string to_text(const Json& json);

// The members of an object. What is null counts as absent; what is of the wrong type or out of range is refused.
class Fields {
 public:
  explicit Fields(const Json& object, std::string path = "") : object_(object), path_(std::move(path)) {}

  const Json* find(std::string_view name) const;
  const Json& require(std::string_view name) const;
  std::optional<bool> boolean(std::string_view name) const;
  std::optional<i64> integer(std::string_view name, i64 least, i64 most) const;
  std::optional<f64> number(std::string_view name, f64 least, f64 most) const;
  std::optional<std::string> text(std::string_view name) const;
  const Json* object(std::string_view name) const;
  const Json* list(std::string_view name) const;
  // A promise that can't be kept: refused if it is there and not false, empty or null.
  void unsupported(std::string_view name) const;

  std::string path(std::string_view name) const { return path_.empty() ? std::string(name) : str(path_, ".", name); }

 private:
  const Json& object_;
  std::string path_;
};

}  // namespace pteron::server
