// SPDX-License-Identifier: BSD-3-Clause
#include "base/error.h"
#include "llm/grammar/regex.h"
#include "llm/text/characters.h"
#include "llm/text/utf8.h"

#include <optional>

namespace pteron::grammar {
namespace {

constexpr size_t max_pattern_bytes = 64 * 1024;
constexpr u32 max_depth = 64, max_count = 100'000;

CharSet one(u32 c) { return {{c, c}}; }

Regex of_set(CharSet set) { return {Regex::set, std::move(set), {}}; }

class Parser {
 public:
  explicit Parser(std::string_view pattern) : text_(pattern) {}

  Result<std::vector<RegexBranch>> parse() {
    std::vector<RegexBranch> branches;
    do {
      RegexBranch branch;
      branch.from_start = take('^');
      TRY(branch.body, sequence(true));
      branch.to_end = take('$');
      branches.push_back(std::move(branch));
    } while (take('|'));
    if (!at_end()) return wrong("there is a ')' without a '('");
    return branches;
  }

 private:
  bool at_end() const { return at_ == text_.size(); }
  char peek() const { return at_end() ? 0 : text_[at_]; }
  bool take(char c) {
    if (at_end() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  bool take(std::string_view s) {
    if (!text_.substr(at_).starts_with(s)) return false;
    at_ += s.size();
    return true;
  }
  Failure wrong(std::string_view what) const {
    return invalid("the regular expression '", text_, "' is wrong at byte ", at_, ": ", what);
  }
  Failure refused(std::string_view what) const {
    return unsupported("the regular expression '", text_, "' has ", what, " at byte ", at_,
                       ", which a grammar can't express");
  }

  Result<Regex> choice() {
    Regex out{Regex::choice, {}, {}};
    do {
      TRY(Regex branch, sequence(false));
      out.parts.push_back(std::move(branch));
    } while (take('|'));
    return out;
  }

  Result<Regex> sequence(bool top) {
    Regex out{Regex::sequence, {}, {}};
    while (!at_end() && peek() != '|' && peek() != ')') {
      if (peek() == '$' && top && (at_ + 1 == text_.size() || text_[at_ + 1] == '|')) break;
      if (peek() == '^' || peek() == '$') return refused("an anchor that is not at an end");
      TRY(Regex part, atom());
      TRY(part, quantified(std::move(part)));
      out.parts.push_back(std::move(part));
    }
    return out;
  }

  Result<Regex> atom() {
    if (take('(')) return group();
    if (take('[')) return character_class();
    if (take('\\')) {
      TRY(CharSet set, escape(false));
      return of_set(std::move(set));
    }
    if (take('.')) return of_set(one('\n').complement());
    if (std::string_view("*+?").find(peek()) != std::string_view::npos) return wrong("there is nothing to repeat");
    if (peek() == '{' && bounds()) return wrong("there is nothing to repeat");
    return of_set(one(utf8::next(text_, at_)));
  }

  Result<Regex> group() {
    if (++depth_ > max_depth) return refused("more than 64 groups inside of each other");
    if (take("?P<") || take("?<")) {
      if (peek() == '=' || peek() == '!') return refused("look-around");
      while (!at_end() && peek() != '>') ++at_;
      if (!take('>')) return wrong("a group's name has no end");
    } else if (take("?=") || take("?!")) {
      return refused("look-around");
    } else if (peek() == '?' && !take("?:")) {
      return refused("a group that is not (…), (?:…) or (?<name>…)");
    }
    TRY(Regex body, choice());
    if (!take(')')) return wrong("a group has no ')'");
    --depth_;
    return body;
  }

  struct Bounds {
    u32 minimum, maximum;
    size_t end;
  };
  // {m}, {m,}, {,n} or {m,n} here; other braces stand for themselves.
  std::optional<Bounds> bounds() const {
    size_t at = at_ + 1;
    const auto number = [&]() -> std::optional<u32> {
      if (at >= text_.size() || text_[at] < '0' || text_[at] > '9') return {};
      u64 n = 0;
      for (; at < text_.size() && text_[at] >= '0' && text_[at] <= '9'; ++at)
        n = std::min<u64>(n * 10 + u64(text_[at] - '0'), max_count + 1);
      return u32(n);
    };
    const auto minimum = number();
    auto maximum = minimum;
    if (at < text_.size() && text_[at] == ',') {
      ++at;
      maximum = number();
      if (!maximum && minimum) maximum = Builder::unbounded;
    }
    if (!maximum || at >= text_.size() || text_[at] != '}') return {};
    return Bounds{minimum.value_or(0), *maximum, at + 1};
  }

  Result<Regex> quantified(Regex part) {
    u32 minimum = 0, maximum = Builder::unbounded;
    if (take('+')) {
      minimum = 1;
    } else if (take('?')) {
      maximum = 1;
    } else if (peek() == '{' && bounds()) {
      const Bounds b = *bounds();
      if (b.minimum > b.maximum) return wrong("a repetition's minimum is above its maximum");
      if (b.minimum > max_count || (b.maximum > max_count && b.maximum != Builder::unbounded))
        return refused("a repetition of more than 100000 times");
      at_ = b.end;
      minimum = b.minimum;
      maximum = b.maximum;
    } else if (!take('*')) {
      return part;
    }
    if (take('+')) return refused("a possessive quantifier");
    take('?');  // lazy or greedy is the same language
    if (std::string_view("*+?").find(peek()) != std::string_view::npos && !at_end())
      return wrong("there are several quantifiers in a row");
    Regex out{Regex::repeat, {}, {}, minimum, maximum};
    out.parts.push_back(std::move(part));
    return out;
  }

  Result<u32> hex(u32 digits) {
    u32 value = 0;
    for (u32 i = 0; i < digits; ++i) {
      const auto digit = std::string_view("0123456789abcdef").find(char(peek() | 0x20));
      if (at_end() || digit == std::string_view::npos) return wrong("an escape needs more hexadecimal digits");
      value = value * 16 + u32(digit);
      ++at_;
    }
    if (value > utf8::last_code_point || utf8::is_surrogate(value)) return wrong("an escape is not a character");
    return value;
  }

  // Behind the backslash.
  Result<CharSet> escape(bool in_class) {
    if (at_end()) return wrong("there is nothing behind the backslash");
    const u32 c = utf8::next(text_, at_);
    switch (c) {
      case 'd': return digit_characters();
      case 'D': return digit_characters().complement();
      case 'w': return word_characters();
      case 'W': return word_characters().complement();
      case 's': return space_characters();
      case 'S': return space_characters().complement();
      case 'n': return one('\n');
      case 'r': return one('\r');
      case 't': return one('\t');
      case 'f': return one('\f');
      case 'v': return one('\v');
      case 'a': return one('\a');
      case '0': return one(0);
      case 'x':
      case 'u':
      case 'U': {
        TRY(const u32 code, hex(c == 'x' ? 2 : c == 'u' ? 4 : 8));
        return one(code);
      }
      case 'b':
        if (in_class) return one('\b');
        [[fallthrough]];
      default: break;
    }
    if ((c >= '0' && c <= '9') || (c < 0x80 && is_word(c) && c != '_')) {
      --at_;
      return refused("the escape '\\" + std::string(1, char(c)) + "'");
    }
    return one(c);
  }

  Result<Regex> character_class() {
    const bool negated = take('^');
    CharSet set;
    for (bool first = true; first || peek() != ']'; first = false) {
      if (at_end()) return wrong("a class has no ']'");
      TRY(const CharSet low, class_item());
      if (peek() != '-' || at_ + 1 >= text_.size() || text_[at_ + 1] == ']') {
        set.add(low);
        continue;
      }
      ++at_;
      TRY(const CharSet high, class_item());
      const auto single = [](const CharSet& s) {
        return s.ranges().size() == 1 && s.ranges()[0].first == s.ranges()[0].last;
      };
      if (!single(low) || !single(high) || low.ranges()[0].first > high.ranges()[0].first)
        return wrong("a class has a range that does not go from a lower to a higher character");
      set.add(low.ranges()[0].first, high.ranges()[0].first);
    }
    ++at_;
    return of_set(negated ? set.complement() : set);
  }

  Result<CharSet> class_item() {
    if (take('\\')) return escape(true);
    if (at_end()) return wrong("a class has no ']'");
    return one(utf8::next(text_, at_));
  }

  std::string_view text_;
  size_t at_ = 0;
  u32 depth_ = 0;
};

}  // namespace

Result<std::vector<RegexBranch>> parse_regex(std::string_view pattern) {
  if (pattern.size() > max_pattern_bytes)
    return unsupported("a regular expression has ", pattern.size(), " bytes; at most ", max_pattern_bytes,
                       " are possible");
  if (!utf8::valid(pattern)) return invalid("a regular expression is not valid UTF-8");
  return Parser(pattern).parse();
}

}  // namespace pteron::grammar
