// SPDX-License-Identifier: BSD-3-Clause
#include "llm/jinja/lexer.h"

#include "base/error.h"
#include "base/utf8.h"
#include "llm/jinja/string_literal.h"
#include "llm/text/characters.h"

#include <algorithm>

namespace pteron::jinja {
namespace {

bool is_ascii_digit(char c) { return c >= '0' && c <= '9'; }

// All line ends as \n, and without one at the very end.
std::string with_plain_newlines(std::string_view source) {
  std::string out;
  out.reserve(source.size());
  for (size_t i = 0; i < source.size(); ++i) {
    if (source[i] == '\r') {
      out += '\n';
      if (i + 1 < source.size() && source[i + 1] == '\n') ++i;
    } else {
      out += source[i];
    }
  }
  if (out.ends_with('\n')) out.pop_back();
  return out;
}

class Lexer {
 public:
  explicit Lexer(std::string_view source) : source_(source) {}

  Result<std::vector<Token>> run() {
    while (at_ < source_.size()) TRY_DO(text_and_tag());
    add(Token::end, "");
    return std::move(tokens_);
  }

 private:
  std::string_view rest() const { return source_.substr(at_); }
  bool starts(std::string_view s) const { return rest().starts_with(s); }
  void add(Token::Kind kind, std::string value) { tokens_.push_back({kind, std::move(value), line_}); }
  Failure wrong(std::string_view what) const { return invalid(at_line(line_), what); }

  void advance(size_t bytes) {
    const std::string_view passed = source_.substr(at_, bytes);
    line_ += u32(std::ranges::count(passed, '\n'));
    if (!passed.empty()) at_line_start_ = passed.back() == '\n';
    at_ += bytes;
  }
  void skip_space() {
    const std::string_view behind = strip(rest(), Side::left);
    advance(rest().size() - behind.size());
  }

  // The text up to the next tag, as that tag's sign and kind say; and the tag.
  Status text_and_tag() {
    size_t tag = at_;
    while (tag < source_.size() && !(source_[tag] == '{' && tag + 1 < source_.size() &&
                                     std::string_view("{%#").find(source_[tag + 1]) != std::string_view::npos))
      ++tag;
    std::string_view text = source_.substr(at_, tag - at_);
    if (tag == source_.size()) {
      add(Token::data, std::string(text));
      advance(text.size());
      return {};
    }
    const char kind = source_[tag + 1];
    const char sign = tag + 2 < source_.size() ? source_[tag + 2] : 0;
    add_data(text, sign, kind != '{');
    advance(text.size() + 2 + (sign == '-' || sign == '+' ? 1 : 0));
    if (kind == '#') return comment();
    if (kind == '%' && raw_begins()) return raw();
    add(kind == '{' ? Token::output_begin : Token::block_begin, "");
    return tag_content(kind == '{');
  }

  void add_data(std::string_view text, char sign, bool strips_its_line) {
    if (sign == '-') {
      text = strip(text, Side::right);
    } else if (sign != '+' && strips_its_line) {
      const size_t line = text.rfind('\n') + 1;  // 0 if there is none
      if ((line > 0 || at_line_start_) && strip(text.substr(line)).empty()) text = text.substr(0, line);
    }
    if (!text.empty()) add(Token::data, std::string(text));
  }

  // Behind the end of a block or comment: "-" takes all white space, otherwise one newline goes.
  void trim_behind(char sign, bool is_output) {
    if (sign == '-')
      skip_space();
    else if (sign != '+' && !is_output && starts("\n"))
      advance(1);
  }

  Status comment() {
    const size_t length = rest().find("#}");
    if (rest().empty()) return {};  // Jinja forgives it at the very end
    if (length == std::string_view::npos) return wrong("a comment has no '#}'");
    const char sign = length > 0 ? rest()[length - 1] : 0;
    advance(length + 2);
    trim_behind(sign, false);
    return {};
  }

  // {% raw %}, behind its sign. Moves behind it if it is one.
  bool raw_begins() {
    std::string_view text = strip(rest(), Side::left);
    if (!text.starts_with("raw")) return false;
    text = strip(text.substr(3), Side::left);
    if (!text.starts_with("%}") && !text.starts_with("-%}")) return false;
    const bool strips = text[0] == '-';
    text.remove_prefix(strips ? 3 : 2);
    if (strips) text = strip(text, Side::left);
    advance(rest().size() - text.size());
    return true;
  }

  Status raw() {
    for (size_t begin = rest().find("{%"); begin != std::string_view::npos; begin = rest().find("{%", begin + 1)) {
      std::string_view tag = rest().substr(begin + 2);
      const char sign = tag.empty() ? '\0' : tag[0];
      if (sign == '-' || sign == '+') tag.remove_prefix(1);
      tag = strip(tag, Side::left);
      if (!tag.starts_with("endraw")) continue;
      tag = strip(tag.substr(6), Side::left);
      const char end_sign = tag.empty() ? '\0' : tag[0];
      if (end_sign == '-' || end_sign == '+') tag.remove_prefix(1);
      if (!tag.starts_with("%}")) continue;
      add_data(rest().substr(0, begin), sign, true);
      advance(rest().size() - tag.size() + 2);
      trim_behind(end_sign, false);
      return {};
    }
    if (rest().empty()) return {};
    return wrong("a raw block has no '{% endraw %}'");
  }

  Status tag_content(bool is_output) {
    const std::string_view close = is_output ? "}}" : "%}";
    std::string open;  // brackets that must be closed before the tag can end
    while (true) {
      skip_space();
      if (at_ >= source_.size()) return wrong(is_output ? "a '{{' has no '}}'" : "a '{%' has no '%}'");
      const bool signed_end = (starts("-") || (starts("+") && !is_output)) && rest().substr(1).starts_with(close);
      if (open.empty() && (signed_end || starts(close))) {
        const char sign = signed_end ? rest()[0] : '\0';
        add(is_output ? Token::output_end : Token::block_end, "");
        advance(close.size() + (signed_end ? 1 : 0));
        trim_behind(sign, is_output);
        return {};
      }
      TRY_DO(word(open));
    }
  }

  Status word(std::string& open) {
    const char c = rest()[0];
    if (is_ascii_digit(c)) return number();
    if (c == '"' || c == '\'') return quoted();
    const size_t length = name_length();
    if (length > 0) {
      add(Token::name, std::string(rest().substr(0, length)));
      advance(length);
      return {};
    }
    return symbol(open);
  }

  size_t name_length() const {
    size_t at = at_;
    while (at < source_.size()) {
      size_t next = at;
      if (!is_word(utf8::next(source_, next))) break;
      at = next;
    }
    return at - at_;
  }

  Status symbol(std::string& open) {
    static constexpr std::string_view symbols[] = {"//", "**", "==", "!=", ">=", "<=", "+", "-", "/",
                                                   "*",  "%",  "~",  "[",  "]",  "(",  ")", "{", "}",
                                                   ">",  "<",  "=",  ".",  ":",  "|",  ",", ";"};
    for (std::string_view s : symbols) {
      if (!starts(s)) continue;
      if (s == "(" || s == "[" || s == "{") open += s == "(" ? ')' : s == "[" ? ']' : '}';
      if (s == ")" || s == "]" || s == "}") {
        if (open.empty() || open.back() != s[0]) return wrong(str("a '", s, "' closes nothing"));
        open.pop_back();
      }
      add(Token::symbol, std::string(s));
      advance(s.size());
      return {};
    }
    return wrong(str("there is an unexpected '", rest().substr(0, utf8::length_from(rest()[0])), "'"));
  }

  Status quoted() {
    const char quote = rest()[0];
    size_t end = 1;
    while (end < rest().size() && rest()[end] != quote) end += rest()[end] == '\\' ? 2 : 1;
    if (end >= rest().size()) return wrong("a string has no end");
    TRY(std::string value, within(unescape(rest().substr(1, end - 1)), "line ", line_));
    add(Token::text, std::move(value));
    advance(end + 1);
    return {};
  }

  Status number() {
    // Behind a dot it is an index: items.0
    const bool is_index = !tokens_.empty() && tokens_.back().is(Token::symbol, ".");
    const NumberLiteral literal = number_literal(rest(), is_index);
    add(literal.is_real ? Token::real : Token::integer, literal.digits);
    advance(literal.length);
    return {};
  }

  std::string_view source_;
  size_t at_ = 0;
  u32 line_ = 1;
  bool at_line_start_ = true;
  std::vector<Token> tokens_;
};

}  // namespace

std::string at_line(u32 line) { return str("line ", line, ": "); }

Result<std::vector<Token>> tokenize(std::string_view source) {
  if (!utf8::valid(source)) return invalid("the template is not valid UTF-8");
  const std::string text = with_plain_newlines(source);
  return Lexer(text).run();
}

}  // namespace pteron::jinja
