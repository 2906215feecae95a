// SPDX-License-Identifier: BSD-3-Clause
#include "llm/json/json.h"

#include "base/error.h"
#include "llm/text/python_float.h"
#include "llm/text/utf8.h"

#include <nlohmann/json.hpp>

#include <unordered_map>

namespace pteron {
namespace {

void merge_duplicates(Json::Object& members) {
  std::unordered_map<std::string_view, size_t> places;
  std::vector<size_t> place;
  for (const JsonMember& m : members) place.push_back(places.try_emplace(m.name, places.size()).first->second);
  if (places.size() == members.size()) return;
  Json::Object unique(places.size());
  for (size_t i = 0; i < members.size(); ++i) unique[place[i]] = std::move(members[i]);
  members = std::move(unique);
}

// Takes the events of the JSON library's reader, which is iterative, so that the depth is ours to limit.
class TreeMaker final : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit TreeMaker(Json::BigIntegers big) : big_(big) {}

  bool null() override { return add(Json()); }
  bool boolean(bool value) override { return add(Json(value)); }
  bool number_integer(i64 value) override { return add(Json(value)); }
  bool number_unsigned(u64 value) override {
    if (value > u64(INT64_MAX)) return big_integer(f64(value), str(value));
    return add(Json(i64(value)));
  }
  bool number_float(f64 value, const std::string& text) override {
    if (text.find_first_of(".eE") == std::string::npos) return big_integer(value, text);
    return add(Json(value));
  }
  bool string(std::string& value) override { return add(Json(std::move(value))); }
  bool binary(nlohmann::json::binary_t&) override { return false; }
  bool start_object(size_t) override { return open(Json::Object()); }
  bool start_array(size_t) override { return open(Json::Array()); }
  bool key(std::string& name) override {
    open_.back().name = std::move(name);
    return true;
  }
  bool end_object() override {
    merge_duplicates(std::get<Json::Object>(open_.back().data));
    return close();
  }
  bool end_array() override { return close(); }
  bool parse_error(size_t position, const std::string&, const nlohmann::detail::exception& e) override {
    std::string_view reason = e.what();
    if (const auto at = reason.find("] "); at != std::string_view::npos) reason.remove_prefix(at + 2);
    return refuse(str("it is not valid JSON at byte ", position, " (", reason, ")"));
  }

  std::string problem;
  Json root;

 private:
  struct Open {
    Json::Data data;
    std::string name;  // of the member that comes next
  };

  bool refuse(std::string why) {
    problem = std::move(why);
    return false;
  }
  bool big_integer(f64 value, std::string_view text) {
    if (big_ == Json::BigIntegers::round) return add(Json(value));
    return refuse(str("the integer ", text.substr(0, 40), " has more than 63 bits"));
  }
  bool open(Json::Data container) {
    if (open_.size() >= Json::max_depth) return refuse(str("it is nested deeper than ", Json::max_depth, " levels"));
    open_.push_back({std::move(container), {}});
    return true;
  }
  bool close() {
    Json done(std::move(open_.back().data));
    open_.pop_back();
    return add(std::move(done));
  }
  bool add(Json value) {
    if (open_.empty()) {
      root = std::move(value);
      return true;
    }
    Open& top = open_.back();
    if (auto* array = std::get_if<Json::Array>(&top.data))
      array->push_back(std::move(value));
    else
      std::get<Json::Object>(top.data).push_back({std::move(top.name), std::move(value)});
    return true;
  }

  Json::BigIntegers big_;
  std::vector<Open> open_;
};

}  // namespace

Result<Json> Json::parse(std::string_view text, BigIntegers big) {
  TreeMaker maker(big);
  if (nlohmann::json::sax_parse(text.begin(), text.end(), &maker)) return std::move(maker.root);
  return invalid("the JSON can't be read: ", maker.problem);
}

const Json* Json::find(std::string_view name) const {
  const Object* members = object();
  if (!members) return nullptr;
  for (const JsonMember& m : *members)
    if (m.name == name) return &m.value;
  return nullptr;
}

const Json& Json::operator[](std::string_view name) const {
  static const Json null;
  const Json* member = find(name);
  return member ? *member : null;
}
std::string_view Json::string() const { return text() ? std::string_view(*text()) : std::string_view(); }
bool Json::flag(bool otherwise) const { return boolean() ? *boolean() : otherwise; }
f64 Json::number() const { return real() ? *real() : integer() ? f64(*integer()) : 0; }
std::optional<u32> Json::index() const {
  const i64* value = integer();
  if (!value || *value < 0 || *value > i64(UINT32_MAX)) return std::nullopt;
  return u32(*value);
}
std::span<const Json> Json::items() const { return array() ? std::span(*array()) : std::span<const Json>(); }
std::span<const JsonMember> Json::members() const {
  return object() ? std::span(*object()) : std::span<const JsonMember>();
}

namespace {

void append_escape(std::string& out, u32 unit) {
  static constexpr char digits[] = "0123456789abcdef";
  out += "\\u";
  for (int shift = 12; shift >= 0; shift -= 4) out += digits[unit >> shift & 15];
}

// The letter behind the backslash, or 0.
char short_escape(u32 c) {
  switch (c) {
    case '"': return '"';
    case '\\': return '\\';
    case '\b': return 'b';
    case '\f': return 'f';
    case '\n': return 'n';
    case '\r': return 'r';
    case '\t': return 't';
    default: return 0;
  }
}

}  // namespace

std::string json_quoted(std::string_view text, bool ascii) {
  std::string out = "\"";
  for (size_t at = 0; at < text.size();) {
    const u32 c = ascii ? utf8::next(text, at) : u8(text[at++]);
    if (const char letter = short_escape(c)) {
      (out += '\\') += letter;
    } else if (c < 0x20 || (ascii && c >= 0x7F && c < 0x1'0000)) {
      append_escape(out, c);
    } else if (ascii && c >= 0x1'0000) {
      append_escape(out, 0xD800 + ((c - 0x1'0000) >> 10));
      append_escape(out, 0xDC00 + (c & 0x3FF));
    } else {
      out += char(c);
    }
  }
  return out += '"';
}

std::string json_scalar(const Json& value) {
  if (const bool* b = value.boolean()) return *b ? "true" : "false";
  if (const i64* i = value.integer()) return std::to_string(*i);
  if (const f64* f = value.real()) return python_float(*f);
  if (const std::string* s = value.text()) return json_quoted(*s);
  return "null";
}

}  // namespace pteron
