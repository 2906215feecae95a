// SPDX-License-Identifier: BSD-3-Clause
#include "llm/jinja/string_literal.h"

#include "base/error.h"
#include "base/utf8.h"

#include <algorithm>

namespace pteron::jinja {
namespace {

int digit_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  const char lower = char(c | 0x20);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : 99;
}

// Up to `count` digits at `at`, which moves behind them.
struct Digits {
  u32 value = 0, count = 0;
};
Digits read_digits(std::string_view text, size_t& at, u32 count, int base) {
  Digits out;
  for (; out.count < count && at < text.size() && digit_value(text[at]) < base; ++at, ++out.count)
    out.value = out.value * u32(base) + u32(digit_value(text[at]));
  return out;
}

// Python spells a character that is not ASCII as an escape first, so a backslash in front of it takes that one's away.
void append_spelled_out(std::string& out, u32 c) {
  const u32 width = c < 0x100 ? 2 : c < 0x1'0000 ? 4 : 8;
  out += width == 2 ? "\\x" : width == 4 ? "\\u" : "\\U";
  for (u32 i = width; i-- > 0;) out += "0123456789abcdef"[c >> 4 * i & 15];
}

Status append_code(std::string& out, u32 code) {
  if (code > utf8::last_code_point || utf8::is_surrogate(code))
    return invalid("a string has an escape that is not a character");
  utf8::append(out, code);
  return {};
}

// `at` is behind the backslash.
Status append_escape(std::string& out, std::string_view text, size_t& at) {
  static constexpr std::string_view letters = "abfnrtv\\'\"", meanings = "\a\b\f\n\r\t\v\\'\"";
  const char c = text[at];
  if (const size_t i = letters.find(c); i != std::string_view::npos) {
    out += meanings[i];
    ++at;
    return {};
  }
  if (c == '\n') {  // goes on in the next line
    ++at;
    return {};
  }
  if (digit_value(c) < 8) return append_code(out, read_digits(text, at, 3, 8).value);
  if (c == 'x' || c == 'u' || c == 'U') {
    const u32 wanted = c == 'x' ? 2 : c == 'u' ? 4 : 8;
    const Digits digits = read_digits(text, ++at, wanted, 16);
    if (digits.count != wanted) return invalid("a string has a \\", c, " with too few digits");
    return append_code(out, digits.value);
  }
  if (c == 'N') return unsupported("a string names a character with \\N{…}; write the character itself");
  const u32 code = utf8::next(text, at);
  if (code >= 0x80) {
    append_spelled_out(out, code);
  } else {
    out += '\\';
    out += char(code);
  }
  return {};
}

}  // namespace

Result<std::string> unescape(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    if (text[at] != '\\') {
      out += text[at++];
      continue;
    }
    if (++at == text.size()) return invalid("a string ends with a backslash");
    TRY_DO(append_escape(out, text, at));
  }
  return out;
}

NumberLiteral number_literal(std::string_view text, bool integers_only) {
  // Digits, with single underscores between them.
  const auto run = [&](size_t at, int base) {
    while (at < text.size() && (digit_value(text[at]) < base ||
                                (text[at] == '_' && at + 1 < text.size() && digit_value(text[at + 1]) < base)))
      ++at;
    return at;
  };
  const auto is_digit = [&](size_t at) { return at < text.size() && digit_value(text[at]) < 10; };
  NumberLiteral out;
  const char prefix = text.size() > 2 && text[0] == '0' ? char(text[1] | 0x20) : '\0';
  const int base = prefix == 'x' ? 16 : prefix == 'o' ? 8 : prefix == 'b' ? 2 : 10;
  if (base != 10 && digit_value(text[2]) < base) {
    out.length = run(2, base);
  } else {
    out.length = run(0, 10);
    if (!integers_only) {
      size_t at = out.length;
      if (at < text.size() && text[at] == '.' && is_digit(at + 1)) {
        at = run(at + 1, 10);
        out.is_real = true;
      }
      if (at < text.size() && (text[at] | 0x20) == 'e') {
        const size_t sign = at + 1 < text.size() && (text[at + 1] == '+' || text[at + 1] == '-') ? 1 : 0;
        if (is_digit(at + 1 + sign)) {
          at = run(at + 1 + sign, 10);
          out.is_real = true;
        }
      }
      out.length = at;
    }
  }
  out.digits = text.substr(0, out.length);
  std::erase(out.digits, '_');
  return out;
}

}  // namespace pteron::jinja
