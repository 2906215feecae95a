// SPDX-License-Identifier: BSD-3-Clause
#include "base/utf8.h"
#include "llm/regex/regex.h"
#include "llm/text/characters.h"

#include <algorithm>
#include <optional>

namespace pteron::regex {
namespace {

constexpr size_t max_bytes = 65'536;
constexpr u32 max_depth = 64, max_count = 100'000;

CharSet one(u32 c) { return {{c, c}}; }
bool single(const CharSet& s) { return s.ranges().size() == 1 && s.ranges()[0].first == s.ranges()[0].last; }
bool is_digit_or_letter(char c) {
  const char lower = char(c | 0x20);
  return (lower >= 'a' && lower <= 'z') || (c >= '0' && c <= '9');
}

class Parser {
 public:
  Parser(std::string_view text, Dialect dialect) : text_(text), dialect_(dialect) {}

  Result<Node> all() {
    TRY(Node node, alternation());
    if (!done()) return wrong("there is a ')' without a '('");
    return node;
  }

 private:
  bool done() const { return at_ == text_.size(); }
  char peek(size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  bool take(std::string_view s) {
    if (!text_.substr(at_).starts_with(s)) return false;
    at_ += s.size();
    return true;
  }
  Failure wrong(std::string_view what) const {
    return invalid("the regular expression '", text_, "' is wrong at byte ", at_, ": ", what);
  }
  Failure refused(std::string_view what) const { return refuse(text_, at_, what); }

  Node node(Node::Kind kind) const { return {.kind = kind, .chars = {}, .children = {}, .at = u32(at_)}; }
  static Node unwrapped(Node list) {
    if (list.children.size() != 1) return list;
    Node only = std::move(list.children[0]);
    return only;
  }

  Result<Node> alternation() {
    Node out = node(Node::alternation);
    do {
      TRY(Node branch, sequence());
      out.children.push_back(std::move(branch));
    } while (take("|"));
    return unwrapped(std::move(out));
  }

  Result<Node> sequence() {
    Node out = node(Node::sequence);
    while (!done() && peek() != '|' && peek() != ')') {
      TRY(Node item, atom());
      TRY(item, repeated(std::move(item)));
      out.children.push_back(std::move(item));
    }
    return unwrapped(std::move(out));
  }

  struct Bounds {
    u32 min, max;
    size_t end;
  };
  // {m}, {m,}, {,n} or {m,n} here; other braces stand for themselves.
  std::optional<Bounds> bounds() const {
    if (peek() != '{') return {};
    size_t at = at_ + 1;
    const auto number = [&]() -> std::optional<u32> {
      if (at >= text_.size() || text_[at] < '0' || text_[at] > '9') return {};
      u64 n = 0;
      for (; at < text_.size() && text_[at] >= '0' && text_[at] <= '9'; ++at)
        n = std::min<u64>(n * 10 + u64(text_[at] - '0'), max_count + 1);
      return u32(n);
    };
    const auto min = number();
    auto max = min;
    if (at < text_.size() && text_[at] == ',') {
      ++at;
      max = number();
      if (!max && min) max = Node::unlimited;
    }
    if (!max || at >= text_.size() || text_[at] != '}') return {};
    return Bounds{min.value_or(0), *max, at + 1};
  }
  bool at_repetition() const { return peek() == '*' || peek() == '+' || peek() == '?' || bounds(); }

  Result<Node> repeated(Node item) {
    if (!at_repetition()) return item;
    Node out = node(Node::repeat);
    if (const auto b = bounds()) {
      if (b->min > b->max) return wrong("a repetition's minimum is above its maximum");
      if (b->min > max_count || (b->max > max_count && b->max != Node::unlimited))
        return refused("a repetition of more than 100000 times");
      out.min = b->min;
      out.max = b->max;
      at_ = b->end;
    } else {
      out.min = peek() == '+' ? 1 : 0;
      out.max = peek() == '?' ? 1 : Node::unlimited;
      ++at_;
    }
    out.greed = take("?") ? Greed::lazy : take("+") ? Greed::possessive : Greed::greedy;
    if (at_repetition()) return wrong("there are several repetitions in a row");
    out.children.push_back(std::move(item));
    return out;
  }

  Result<Node> atom() {
    Node out = node(Node::set);
    if (take("(")) return group(std::move(out));
    if (take("^"))
      out.kind = Node::line_start;
    else if (take("$"))
      out.kind = Node::line_end;
    else if (take("\\b") || take("\\B"))
      out.kind = Node::word_boundary, out.negated = text_[at_ - 1] == 'B';
    else if (take("."))
      out.chars = one('\n').complement();
    else if (at_repetition())
      return wrong("there is nothing to repeat");
    else if (take("[")) {
      TRY(out.chars, char_class());
    } else {
      TRY(out.chars, character(false));
      if (ignore_case_) out.chars = out.chars.case_insensitive();
    }
    return out;
  }

  // Behind its bracket.
  Result<Node> group(Node out) {
    if (++depth_ > max_depth) return refused("more than 64 groups or classes inside of each other");
    const bool outer_case = ignore_case_;
    out.kind = Node::sequence;
    if (take("?i:"))
      ignore_case_ = true;
    else if (take("?>"))
      out.kind = Node::atomic;
    else if (take("?=") || take("?!"))
      out.kind = Node::look_ahead, out.negated = text_[at_ - 1] == '!';
    else if (take("?P<") || take("?<")) {
      TRY_DO(group_name());
    } else if (!take("?:") && peek() == '?') {
      return refused("a group that is not (…), (?:…), (?<name>…), (?i:…), (?>…), (?=…) or (?!…)");
    }
    TRY(Node inner, alternation());
    if (!take(")")) return wrong("a group has no ')'");
    ignore_case_ = outer_case;
    --depth_;
    if (out.kind == Node::sequence) return inner;
    out.children.push_back(std::move(inner));
    return out;
  }

  Status group_name() {
    if (peek() == '=' || peek() == '!') return refused("a look at what stands before");
    while (!done() && peek() != '>') ++at_;
    if (!take(">")) return wrong("a group's name has no end");
    return {};
  }

  // [...] behind its bracket, with ranges and escapes; for Oniguruma also classes, and && between parts that must all
  // hold.
  Result<CharSet> char_class() {
    if (++depth_ > max_depth) return refused("more than 64 groups or classes inside of each other");
    const bool nests = dialect_ == Dialect::oniguruma;
    const bool negated = take("^");
    if (nests && peek() == ':') return refused("a class by name");
    std::optional<CharSet> others;
    CharSet part;
    for (bool first = true; first || peek() != ']'; first = false) {
      if (done()) return wrong("a class has no ']'");
      if (nests && take("&&")) {
        others = others ? others->intersection(part) : part;
        part = {};
      } else if (nests && take("[")) {
        TRY(const CharSet nested, char_class());
        part.add(nested);
      } else {
        TRY_DO(class_item(part));
      }
    }
    ++at_;
    --depth_;
    if (others) part = others->intersection(part);
    if (ignore_case_) part = part.case_insensitive();
    return negated ? part.complement() : part;
  }

  Status class_item(CharSet& part) {
    TRY(const CharSet low, character(true));
    if (peek() != '-' || peek(1) == ']' || at_ + 1 >= text_.size()) {
      part.add(low);
      return {};
    }
    ++at_;
    if (dialect_ == Dialect::oniguruma && peek() == '[') return refused("a range to a class");
    TRY(const CharSet high, character(true));
    if (!single(low) || !single(high) || low.ranges()[0].first > high.ranges()[0].first)
      return wrong("a class has a range that does not go from a lower to a higher character");
    part.add(low.ranges()[0].first, high.ranges()[0].first);
    return {};
  }

  // One character, or the set that an escape stands for.
  Result<CharSet> character(bool in_class) {
    if (take("\\")) return escape(in_class);
    return literal(utf8::next(text_, at_));
  }

  Result<CharSet> literal(u32 code) const {
    if (ignore_case_ && code >= 128) return refused("a letter beyond ASCII that ignores case");
    return one(code);
  }

  // Behind the backslash.
  Result<CharSet> escape(bool in_class) {
    if (done()) return wrong("there is nothing behind the backslash");
    if (const auto class_set = shorthand(peek())) return ++at_, *class_set;
    static constexpr std::string_view names = "nrtfva", codes = "\n\r\t\f\v\a";
    const char c = peek();
    if (const size_t i = names.find(c); i != names.npos) return ++at_, one(u32(codes[i]));
    if (c == 'b' && in_class) return ++at_, one('\b');
    if (c == '0' && !(peek(1) >= '0' && peek(1) <= '9')) return ++at_, one(0);
    if (c == 'p' || c == 'P') return ++at_, property(c == 'P');
    if (c == 'x' || c == 'u') return ++at_, hexadecimal(c == 'x' ? 2 : 4);
    if (c == 'U' && dialect_ == Dialect::python) return ++at_, hexadecimal(8);
    if (is_digit_or_letter(c)) return refused(str("the escape '\\", c, "'"));
    return literal(utf8::next(text_, at_));
  }

  std::optional<CharSet> shorthand(char c) const {
    const bool python = dialect_ == Dialect::python;
    switch (c) {
      case 'd': return CharSet::digit();
      case 'D': return CharSet::digit().complement();
      case 'w': return python ? word_characters() : CharSet::word();
      case 'W': return (python ? word_characters() : CharSet::word()).complement();
      case 's': return python ? space_characters() : CharSet::space();
      case 'S': return (python ? space_characters() : CharSet::space()).complement();
      default: return {};
    }
  }

  Result<CharSet> property(bool negated) {
    const size_t end = text_.find('}', at_);
    if (!take("{") || end == std::string_view::npos) return wrong("a property has no {name}");
    if (take("^")) negated = !negated;
    const std::string_view name = text_.substr(at_, end - at_);
    const bool cased = name == "Lu" || name == "Ll" || name == "Lt";
    auto set = CharSet::property(name);
    if (!set || (cased && ignore_case_)) return refused(str("the property '", name, "'"));
    at_ = end + 1;
    return negated ? set->complement() : *std::move(set);
  }

  Result<CharSet> hexadecimal(u32 digits) {  // \x41, \u0041, \x{1F600}
    const bool braced = take("{");
    u32 code = 0, count = 0;
    for (; count < (braced ? 8 : digits); ++count, ++at_) {
      const size_t value = std::string_view("0123456789abcdef").find(char(peek() | 0x20));
      if (done() || value == std::string_view::npos) break;
      code = code << 4 | u32(value);
    }
    if (count == 0 || (!braced && count < digits) || (braced && !take("}")))
      return wrong("an escape needs more hexadecimal digits");
    if (code > utf8::last_code_point || utf8::is_surrogate(code)) return wrong("an escape is not a character");
    return literal(code);
  }

  std::string_view text_;
  Dialect dialect_;
  size_t at_ = 0;
  u32 depth_ = 0;
  bool ignore_case_ = false;
};

}  // namespace

Failure refuse(std::string_view expression, size_t at, std::string_view what) {
  return unsupported("the regular expression '", expression, "' has ", what, " at byte ", at,
                     ", which is not supported here");
}

Result<Node> parse(std::string_view expression, Dialect dialect) {
  if (expression.size() > max_bytes)
    return unsupported("a regular expression has ", expression.size(), " bytes; at most ", max_bytes, " are possible");
  if (!utf8::valid(expression)) return invalid("a regular expression is not valid UTF-8");
  return Parser(expression, dialect).all();
}

}  // namespace pteron::regex
