// SPDX-License-Identifier: BSD-3-Clause
// Strings and numbers of a schema.
#include "base/error.h"
#include "llm/grammar/regex.h"
#include "llm/grammar/schema.h"

#include <cmath>

namespace pteron::grammar {
namespace {

// Numbers of as many digits as `low` and `high` have, from one to the other.
void write_digits(Builder& b, StateId from, StateId to, std::string_view low, std::string_view high) {
  if (low.empty()) return b.jump(from, to);
  const auto tail = [&](u8 first, u8 last, std::string_view l, std::string_view h) {
    if (first > last) return;
    const StateId next = b.state();
    b.read(from, next, first, last);
    write_digits(b, next, to, l, h);
  };
  const std::string zeros(low.size() - 1, '0'), nines(low.size() - 1, '9');
  if (low.substr(1) == zeros && high.substr(1) == nines) {
    StateId at = from;
    for (size_t i = 0; i < low.size(); ++i) {
      const StateId next = i + 1 == low.size() ? to : b.state();
      b.read(at, next, i == 0 ? u8(low[0]) : '0', i == 0 ? u8(high[0]) : '9');
      at = next;
    }
    return;
  }
  const u8 first = u8(low[0]), last = u8(high[0]);
  if (first == last) return tail(first, last, low.substr(1), high.substr(1));
  tail(first, first, low.substr(1), nines);
  tail(first + 1, last - 1, zeros, nines);
  tail(last, last, zeros, high.substr(1));
}

// Whole numbers without a sign from `low` on, up to `high` if there is one.
void write_magnitudes(Builder& b, StateId from, StateId to, const std::string& low,
                      const std::optional<std::string>& high) {
  const size_t longest = high ? high->size() : low.size();
  for (size_t length = low.size(); length <= longest; ++length)
    write_digits(b, from, to, length == low.size() ? low : '1' + std::string(length - 1, '0'),
                 high && length == high->size() ? *high : std::string(length, '9'));
  if (high) return;
  const StateId more = b.state(), longer = b.state();
  b.read(from, more, '1', '9');
  StateId at = more;
  for (size_t i = 0; i < low.size(); ++i) {
    const StateId next = i + 1 == low.size() ? longer : b.state();
    b.read(at, next, '0', '9');
    at = next;
  }
  b.read(longer, longer, '0', '9');
  b.jump(longer, to);
}

std::string magnitude(i64 value) {
  std::string text = std::to_string(value);
  return value < 0 ? text.substr(1) : text;
}

}  // namespace

void write_integers(Builder& b, StateId from, StateId to, std::optional<i64> low, std::optional<i64> high) {
  if (low && high && *low > *high) return;
  if (!low || *low < 0) {
    const StateId behind = b.state();
    b.text(from, behind, "-");
    write_magnitudes(b, behind, to, high && *high < 0 ? magnitude(*high) : "1",
                     low ? std::optional(magnitude(*low)) : std::nullopt);
  }
  if (!high || *high >= 0)
    write_magnitudes(b, from, to, low && *low > 0 ? magnitude(*low) : "0",
                     high ? std::optional(magnitude(*high)) : std::nullopt);
}

Result<std::optional<i64>> SchemaCompiler::bound(const Json& schema, std::string_view inclusive,
                                                 std::string_view exclusive, int direction) const {
  std::optional<i64> tightest;
  for (std::string_view keyword : {inclusive, exclusive}) {
    const Json* value = schema.find(keyword);
    if (!value) continue;
    if (!value->is_number()) return invalid("\"", keyword, "\" must be a number");
    i64 whole = value->integer() ? *value->integer() : 0;
    bool step = keyword == exclusive;
    if (const f64* real = value->real()) {
      const f64 rounded = direction > 0 ? std::ceil(*real) : std::floor(*real);
      if (!(std::abs(rounded) < 9e18)) return unsupported("\"", keyword, "\" of ", *real, " does not fit 64 bits");
      step = step && rounded == *real;
      whole = i64(rounded);
    }
    if (step && whole == (direction > 0 ? INT64_MAX : INT64_MIN))
      return unsupported("\"", keyword, "\" of ", whole, " leaves no 64-bit integer");
    if (step) whole += direction;
    tightest = !tightest ? whole : direction > 0 ? std::max(*tightest, whole) : std::min(*tightest, whole);
  }
  return tightest;
}

Status SchemaCompiler::write_integer(StateId from, StateId to, const Json& schema) {
  TRY(const auto low, bound(schema, "minimum", "exclusiveMinimum", 1));
  TRY(const auto high, bound(schema, "maximum", "exclusiveMaximum", -1));
  if (low || high)
    write_integers(builder_, from, to, low, high);
  else
    builder_.call(from, to, json_.integer());
  return {};
}

Status SchemaCompiler::write_number(StateId from, StateId to, const Json& schema) {
  for (const char* keyword : {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"})
    if (schema.find(keyword))
      return unsupported("the keyword \"", keyword,
                         "\" can be kept for integers only; make the type \"integer\" or remove it");
  builder_.call(from, to, json_.number());
  return {};
}

std::optional<std::string> format_pattern(std::string_view format) {
  const std::string year = "([1-9][0-9]{3}|0[1-9][0-9]{2}|00[1-9][0-9]|000[1-9])";
  const std::string fourth = "(0[48]|[2468][048]|[13579][26])";  // two digits that 4 divides, but 00
  const std::string leap = "([0-9]{2}" + fourth + "|" + fourth + "00)";
  std::string date = "(" + year +
                     "-((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)|"
                     "02-(0[1-9]|1[0-9]|2[0-8]))|" +
                     leap + "-02-29)";
  std::string time = "([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\\.[0-9]+)?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])";
  if (format == "date") return date;
  if (format == "time") return time;
  if (format == "date-time") return date + "T" + time;
  if (format == "uuid") return "[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}";
  const std::string octet = "(25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])";
  if (format == "ipv4") return "(" + octet + "\\.){3}" + octet;
  if (format == "email")
    return "[A-Za-z0-9_+-]+(\\.[A-Za-z0-9_+-]+)*@[A-Za-z0-9]+(-+[A-Za-z0-9]+)*(\\.[A-Za-z0-9]+(-+[A-Za-z0-9]+)*)+";
  return std::nullopt;
}

Status SchemaCompiler::write_string(StateId from, StateId to, const Json& schema) {
  TRY(const auto shortest, count(schema, "minLength"));
  TRY(const auto longest, count(schema, "maxLength"));
  const Json *pattern = schema.find("pattern"), *format = schema.find("format");
  if (!pattern && !format) {
    if (shortest.value_or(0) > longest.value_or(Builder::unbounded))
      return invalid("\"minLength\" of ", *shortest, " is above \"maxLength\" of ", *longest);
    json_.string(from, to, shortest.value_or(0), longest.value_or(Builder::unbounded));
    return {};
  }
  if (shortest || longest || (pattern && format))
    return unsupported("a string's \"", pattern ? "pattern" : "format", "\" together with \"",
                       shortest  ? "minLength"
                       : longest ? "maxLength"
                                 : "format",
                       "\" can't be kept by a grammar; say it all in the pattern");
  const Json& text = pattern ? *pattern : *format;
  if (!text.text()) return invalid("\"", pattern ? "pattern" : "format", "\" must be a string");
  const StateId inside = builder_.state(), end = builder_.state();
  builder_.text(from, inside, "\"");
  builder_.text(end, to, "\"");
  RegexWriter writer(builder_, json_.characters());
  if (pattern) {
    TRY(const auto branches, parse_regex(*text.text()));
    writer.search(inside, end, branches);
    return {};
  }
  const auto known = format_pattern(*text.text());
  if (!known)
    return unsupported("the keyword \"format\" can't be kept for \"", *text.text(),
                       "\"; date, time, date-time, uuid, ipv4 and email are known");
  TRY(const auto branches, parse_regex(*known));
  writer.match(inside, end, branches);
  return {};
}

}  // namespace pteron::grammar
