// SPDX-License-Identifier: BSD-3-Clause
#include "llm/json/json.h"

#include "base/error.h"
#include "base/utf8.h"
#include "llm/text/python_float.h"

#include <algorithm>
#include <charconv>
#include <cmath>
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

class Reader {
 public:
  Reader(std::string_view text, Json::BigIntegers big) : text_(text), big_(big) {}

  Result<Json> all() {
    take("\xEF\xBB\xBF");  // a byte-order mark
    TRY(Json root, value());
    if (at_ != text_.size()) return wrong("something follows the value");
    return root;
  }

 private:
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  bool take(std::string_view s) {
    if (!text_.substr(at_).starts_with(s)) return false;
    at_ += s.size();
    return true;
  }
  // The sign and the white space around it.
  bool take_sign(char sign) {
    skip_space();
    if (peek() != sign || at_ == text_.size()) return false;
    ++at_;
    skip_space();
    return true;
  }
  void skip_space() { at_ = std::min(text_.find_first_not_of(" \t\r\n", at_), text_.size()); }
  Failure refuse(std::string_view why) const { return invalid("the JSON can't be read: ", why); }
  Failure wrong(std::string_view why) const {
    return refuse(str("it is not valid JSON at byte ", at_, " (", why, ")"));
  }

  Status deeper() {
    if (++depth_ > Json::max_depth) return refuse(str("it is nested deeper than ", Json::max_depth, " levels"));
    return {};
  }

  Result<Json> value() {
    skip_space();
    auto out = scalar();
    skip_space();
    return out;
  }

  Result<Json> scalar() {
    if (peek() == '{') return object();
    if (peek() == '[') return array();
    if (take("null")) return Json();
    if (take("true")) return Json(true);
    if (take("false")) return Json(false);
    if (peek() != '"') return number();
    TRY(std::string text, string());
    return Json(std::move(text));
  }

  Result<Json> array() {
    Json::Array items;
    TRY_DO(deeper());
    take_sign('[');
    if (peek() != ']') {
      do {
        TRY(Json item, value());
        items.push_back(std::move(item));
      } while (take_sign(','));
    }
    if (!take("]")) return wrong("a list needs , or ]");
    --depth_;
    return Json(std::move(items));
  }

  Result<Json> object() {
    Json::Object members;
    TRY_DO(deeper());
    take_sign('{');
    if (peek() != '}') {
      do {
        if (peek() != '"') return wrong("an object needs a name");
        TRY(std::string name, string());
        if (!take_sign(':')) return wrong("a name needs :");
        TRY(Json member, value());
        members.push_back({std::move(name), std::move(member)});
      } while (take_sign(','));
    }
    if (!take("}")) return wrong("an object needs , or }");
    --depth_;
    merge_duplicates(members);
    return Json(Json::Data(std::move(members)));
  }

  Result<std::string> string() {
    std::string out;
    for (++at_; peek() != '"';) {
      const size_t plain = at_;
      while (u8(peek()) >= 0x20 && peek() != '"' && peek() != '\\') ++at_;
      out.append(text_, plain, at_ - plain);
      if (take("\\"))
        TRY_DO(escape(out));
      else if (peek() != '"')
        return wrong(at_ == text_.size() ? "a string has no end" : "a control character in a string");
    }
    ++at_;
    return out;
  }

  Status escape(std::string& out) {
    static constexpr std::string_view letters = "\"\\/bfnrt", meanings = "\"\\/\b\f\n\r\t";
    if (take("u")) {
      TRY(u32 code, hexadecimal());
      if (code >= 0xD800 && code < 0xDC00 && take("\\u")) {
        TRY(const u32 low, hexadecimal());
        if (low < 0xDC00 || low > 0xDFFF) return wrong("half of a pair of surrogates");
        code = 0x1'0000 + ((code - 0xD800) << 10) + (low - 0xDC00);
      }
      if (utf8::is_surrogate(code)) return wrong("half of a pair of surrogates");
      utf8::append(out, code);
      return {};
    }
    const size_t i = letters.find(peek());
    if (at_ == text_.size() || i == letters.npos) return wrong("an unknown escape");
    ++at_;
    out += meanings[i];
    return {};
  }

  Result<u32> hexadecimal() {
    u32 code = 0;
    const char* const first = text_.data() + at_;
    const char* const last = first + std::min<size_t>(4, text_.size() - at_);
    if (last - first < 4 || std::from_chars(first, last, code, 16).ptr != last)
      return wrong("an escape needs 4 digits");
    at_ += 4;
    return code;
  }

  bool take_digits() {
    const size_t start = at_;
    while (peek() >= '0' && peek() <= '9') ++at_;
    return at_ > start;
  }

  Result<Json> number() {
    const size_t start = at_;
    take("-");
    if (!take("0") && !take_digits()) return wrong("no value starts like this");
    bool real = false;
    if (take(".")) {
      real = true;
      if (!take_digits()) return wrong("a number needs digits behind its point");
    }
    if (take("e") || take("E")) {
      real = true;
      if (!take("-")) take("+");
      if (!take_digits()) return wrong("a number needs digits in its exponent");
    }
    const char *const first = text_.data() + start, *const last = text_.data() + at_;
    i64 integer = 0;
    if (!real && std::from_chars(first, last, integer).ec == std::errc()) return Json(integer);
    if (!real && big_ == Json::BigIntegers::refuse)
      return refuse(
          str("the integer ", text_.substr(start, std::min<size_t>(at_ - start, 40)), " has more than 63 bits"));
    f64 value = 0;
    if (std::from_chars(first, last, value).ec == std::errc::result_out_of_range) {
      const std::string_view digits(first, last);
      const bool tiny = digits.find("e-") != digits.npos || digits.find("E-") != digits.npos ||
                        digits.starts_with("0.") || digits.starts_with("-0.");
      if (!tiny) return wrong("a number is too large");
      value = 0;
    }
    return Json(value);
  }

  std::string_view text_;
  Json::BigIntegers big_;
  size_t at_ = 0;
  u32 depth_ = 0;
};

}  // namespace

Result<Json> Json::parse(std::string_view text, BigIntegers big) {
  if (const size_t bad = utf8::find_invalid(text); bad != text.size())
    return invalid("the JSON can't be read: it is not valid JSON at byte ", bad, " (not UTF-8)");
  return Reader(text, big).all();
}

void Json::push_back(Json item) {
  if (!array()) data_ = Array();
  std::get<Array>(data_).push_back(std::move(item));
}
void Json::add(std::string_view name, Json member) {
  if (!object()) data_ = Object();
  std::get<Object>(data_).push_back({std::string(name), std::move(member)});
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

std::string Json::dump() const {
  std::string out;
  const auto quoted = [](std::string bytes) {
    std::string readable;
    utf8::drain(bytes, readable);
    if (!bytes.empty()) readable += utf8::replacement;
    return json_quoted(readable);
  };
  if (array()) {
    for (const Json& item : items()) out += (out.empty() ? "" : ", ") + item.dump();
    return "[" + out + "]";
  }
  if (object()) {
    for (const auto& [name, value] : members()) out += (out.empty() ? "" : ", ") + quoted(name) + ": " + value.dump();
    return "{" + out + "}";
  }
  if (real() && !std::isfinite(*real())) return "null";
  return text() ? quoted(*text()) : json_scalar(*this);
}

}  // namespace pteron
