// SPDX-License-Identifier: BSD-3-Clause
// Filters for numbers.
#include "base/decimal.h"
#include "base/error.h"
#include "llm/jinja/filters.h"
#include "llm/text/characters.h"

#include <charconv>
#include <cmath>

namespace pteron::jinja {
namespace {

using Subject = const Value&;
using Args = const CallArguments&;

template <class T>
std::optional<T> whole_number(std::string_view text, auto... format) {
  T out{};
  if (text.starts_with('+')) text.remove_prefix(1);
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), out, format...);
  if (text.empty() || code != std::errc() || end != text.data() + text.size()) return {};
  return out;
}

// Python allows single underscores between digits.
std::string plain_digits(std::string_view text) {
  std::string out(strip(text));
  for (size_t i = out.size(); i-- > 1;)
    if (out[i] == '_' && i + 1 < out.size() && is_digit(u8(out[i - 1])) && is_digit(u8(out[i + 1]))) out.erase(i, 1);
  return out;
}

// Without the 0x of base 16 and the like.
std::string without_prefix(const std::string& text, i64 base) {
  const size_t sign = text.starts_with('-') || text.starts_with('+') ? 1 : 0;
  const char letter = base == 16 ? 'x' : base == 8 ? 'o' : base == 2 ? 'b' : '\0';
  if (text.size() < sign + 3 || text[sign] != '0' || (text[sign + 1] | 0x20) != letter) return text;
  return text.substr(0, sign) + text.substr(sign + 2);
}

Result<Value> truncated(f64 real) {
  if (std::abs(real) < 0x1p63) return Value(i64(real));
  return unsupported(real, " does not fit a 64-bit integer");
}

Result<Value> to_integer(Renderer&, Subject subject, Args args) {
  TRY(const auto a, take(args, {"default", "base"}));
  TRY_DO(must_be_defined(subject));
  Value fallback = a[0] ? *a[0] : Value(i64(0));
  TRY(const i64 base, integer_or(a[1], 10));
  if (base < 2 || base > 36) return unsupported("a base of ", base, " is not from 2 to 36");
  if (subject.is_integral()) return Value(subject.integer());
  if (subject.is_number()) return std::isfinite(subject.real()) ? truncated(subject.real()) : Result<Value>(fallback);
  if (!subject.text()) return fallback;
  const std::string text = plain_digits(*subject.text());
  if (const auto integer = whole_number<i64>(without_prefix(text, base), int(base))) return Value(*integer);
  if (const auto real = whole_number<f64>(text); real && std::isfinite(*real)) return truncated(*real);
  return fallback;
}

Result<Value> to_real(Renderer&, Subject subject, Args args) {
  TRY(const auto a, take(args, {"default"}));
  TRY_DO(must_be_defined(subject));
  if (subject.is_number()) return Value(subject.real());
  if (subject.text())
    if (const auto real = whole_number<f64>(plain_digits(*subject.text()))) return Value(*real);
  return a[0] ? *a[0] : Value(f64(0));
}

Result<Value> absolute(Renderer&, Subject subject, Args args) {
  TRY_DO(take_none(args));
  TRY_DO(must_be_defined(subject));
  if (subject.is_integral()) return subject.integer() < 0 ? negate(subject) : plus(subject);
  if (subject.is_number()) return Value(std::abs(subject.real()));
  return invalid("a number is needed, not ", kind_of(subject));
}

// Rounds the number that the float stands for exactly, as Python does.
f64 rounded(f64 value, int digits) {
  if (digits < 0) {
    const f64 unit = std::pow(10.0, -digits);
    return std::nearbyint(value / unit) * unit;
  }
  return round_to_places(value, digits);
}

Result<Value> round(Renderer&, Subject subject, Args args) {
  TRY(const auto a, take(args, {"precision", "method"}));
  TRY(const i64 precision, integer_or(a[0], 0));
  TRY(const std::string method, text_or(a[1], "common"));
  TRY_DO(must_be_defined(subject));
  if (!subject.is_number()) return invalid("a number is needed, not ", kind_of(subject));
  if (precision < -18 || precision > 18) return unsupported("a precision of ", precision, " is not from -18 to 18");
  if (method == "common") {
    if (subject.is_integral() && precision >= 0) return Value(subject.integer());
    if (subject.is_integral()) return unsupported("integers can't be rounded to tens");
    return Value(std::isfinite(subject.real()) ? rounded(subject.real(), int(precision)) : subject.real());
  }
  if (method != "ceil" && method != "floor") return invalid("the method must be common, ceil or floor");
  const f64 scale = std::pow(10.0, f64(precision)), scaled = subject.real() * scale;
  return Value((method == "ceil" ? std::ceil(scaled) : std::floor(scaled)) / scale);
}

constexpr NamedBuiltin filters[] = {{"int", to_integer}, {"float", to_real}, {"abs", absolute}, {"round", round}};

}  // namespace

std::span<const NamedBuiltin> number_filters() { return filters; }

}  // namespace pteron::jinja
