// SPDX-License-Identifier: BSD-3-Clause
#include "server/api/json.h"

#include <cmath>

namespace pteron::server {
namespace {

constexpr size_t most_depth = 100, most_members = 512;

// Why a text is not parsed, if it is not: a zero, depth, because values are handled recursively, and members of an
// object, because they are looked up one by one.
std::optional<std::string> excess(std::string_view body) {
  // The parser would take it for the end.
  if (body.contains('\0')) return "has a byte that is zero, which JSON writes as \\u0000";
  std::vector<size_t> members;
  bool quoted = false;
  for (size_t i = 0; i < body.size(); ++i) {
    const char c = body[i];
    if (quoted) {
      if (c == '\\') ++i;
      quoted = c != '"';
      continue;
    }
    if (c == '"') quoted = true;
    if (c == '{' || c == '[') {
      if (members.size() == most_depth) return str("is nested deeper than ", most_depth, " levels");
      members.push_back(0);
    } else if ((c == '}' || c == ']') && !members.empty()) {
      members.pop_back();
    } else if (c == ':' && !members.empty() && ++members.back() > most_members) {
      return str("has an object of more than ", most_members, " members");
    }
  }
  return std::nullopt;
}

std::string shortened(std::string text, size_t most) {
  if (text.size() > most) text = text.substr(0, most - 3) + "...";
  return text;
}

std::string described(const Json& value) {
  if (value.is_structured()) return str("an ", value.is_array() ? "array" : "object");
  return shortened(to_text(value), 60);
}

}  // namespace

Json parse_body(std::string_view body) {
  if (const auto problem = excess(body)) refuse("", "the body ", *problem);
  try {
    Json out = Json::parse(body);
    if (!out.is_object()) refuse("", "the body must be a JSON object");
    return out;
  } catch (const Json::exception& e) {
    std::string_view why = e.what();
    why.remove_prefix(std::min(why.find("] "), why.size() - 2) + 2);
    // It quotes the token that was read last, which may be all of the body.
    refuse("", "the body is not valid JSON: ", to_text(Json(shortened(std::string(why), 240))));
  }
}

Json parse_inner(std::string_view text) {
  return excess(text) ? Json(Json::value_t::discarded) : Json::parse(text, nullptr, false);
}

std::string to_text(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

const Json* Fields::find(std::string_view name) const {
  const auto it = object_.find(name);
  return it == object_.end() || it->is_null() ? nullptr : &*it;
}

const Json& Fields::require(std::string_view name) const {
  const Json* value = find(name);
  if (!value) refuse(path(name), "'", path(name), "' is missing");
  return *value;
}

std::optional<bool> Fields::boolean(std::string_view name) const {
  const Json* value = find(name);
  if (!value) return std::nullopt;
  if (!value->is_boolean()) refuse(path(name), "'", path(name), "' must be true or false, not ", described(*value));
  return value->get<bool>();
}

std::optional<i64> Fields::integer(std::string_view name, i64 least, i64 most) const {
  const Json* value = find(name);
  if (!value) return std::nullopt;
  const bool whole =
      value->is_number_integer() || (value->is_number_float() && std::trunc(value->get<f64>()) == value->get<f64>());
  // Beyond 64 bits it is compared as a float, which is good enough to refuse it.
  if (!whole || value->get<f64>() < f64(least) || value->get<f64>() > f64(most))
    refuse(path(name), "'", path(name), "' must be a whole number from ", least, " to ", most, ", not ",
           described(*value));
  if (value->is_number_unsigned()) return i64(std::min<u64>(value->get<u64>(), u64(most)));
  return value->is_number_float() && value->get<f64>() >= 0x1p63 ? most : value->get<i64>();
}

std::optional<f64> Fields::number(std::string_view name, f64 least, f64 most) const {
  const Json* value = find(name);
  if (!value) return std::nullopt;
  if (!value->is_number() || !(value->get<f64>() >= least && value->get<f64>() <= most))
    refuse(path(name), "'", path(name), "' must be a number from ", least, " to ", most, ", not ", described(*value));
  return value->get<f64>();
}

std::optional<std::string> Fields::text(std::string_view name) const {
  const Json* value = find(name);
  if (!value) return std::nullopt;
  if (!value->is_string()) refuse(path(name), "'", path(name), "' must be a string, not ", described(*value));
  return value->get<std::string>();
}

const Json* Fields::object(std::string_view name) const {
  const Json* value = find(name);
  if (value && !value->is_object()) refuse(path(name), "'", path(name), "' must be an object, not ", described(*value));
  return value;
}

const Json* Fields::list(std::string_view name) const {
  const Json* value = find(name);
  if (value && !value->is_array()) refuse(path(name), "'", path(name), "' must be an array, not ", described(*value));
  return value;
}

void Fields::unsupported(std::string_view name) const {
  const Json* value = find(name);
  if (!value || (value->is_boolean() && !value->get<bool>()) || (!value->is_primitive() && value->empty())) return;
  throw ApiError{.message = str("'", path(name), "' is not supported by this server; leave it out"),
                 .param = path(name),
                 .code = "unsupported_parameter"};
}

std::string to_json(const ApiError& error) {
  const auto or_null = [](const std::string& text) { return text.empty() ? Json() : Json(text); };
  return to_text({{"error",
                   {{"message", error.message},
                    {"type", error.type},
                    {"param", or_null(error.param)},
                    {"code", or_null(error.code)}}}});
}

http::Response to_response(const ApiError& error) {
  http::Response out{.status = error.status, .body = to_json(error)};
  if (error.status == 429 || error.status == 503) out.headers.emplace_back("Retry-After", "1");
  if (error.status == 401) out.headers.emplace_back("WWW-Authenticate", "Bearer");
  return out;
}

ApiError to_api_error(const Error& error) {
  switch (error.kind) {
    case ErrorKind::invalid:
    case ErrorKind::unsupported: return {400, error.to_string(), "invalid_request_error", "", ""};
    case ErrorKind::out_of_memory: return {503, error.to_string(), "server_error", "", "out_of_memory"};
    case ErrorKind::device_lost: return {503, error.to_string(), "server_error", "", "device_lost"};
    case ErrorKind::cancelled: return {503, error.to_string(), "server_error", "", "cancelled"};
    default: return {500, error.to_string(), "server_error", "", ""};
  }
}

}  // namespace pteron::server
