// SPDX-License-Identifier: BSD-3-Clause
#include "llm/tokenizer/pattern_syntax.h"

#include "base/error.h"
#include "llm/text/utf8.h"

#include <algorithm>
#include <utility>

namespace pteron::llm::syntax {
namespace {

constexpr u32 max_depth = 32;
constexpr u32 max_repeats = 1000;

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Result<Node> all() {
    TRY(Node node, alternation());
    if (!done()) return refuse("an unmatched )");
    return node;
  }

 private:
  bool done() const { return at_ == text_.size(); }
  char peek() const { return done() ? '\0' : text_[at_]; }
  bool take(std::string_view s) {
    if (!text_.substr(at_).starts_with(s)) return false;
    at_ += s.size();
    return true;
  }
  Failure refuse(std::string_view what) const {
    return unsupported("the regular expression '", text_, "' has ", what, " at character ", at_,
                       ", which this tokenizer does not understand");
  }

  Result<Node> alternation() {
    if (++depth_ > max_depth) return refuse("groups nested too deeply");
    Node out{.kind = Node::alternation};
    do {
      TRY(Node branch, sequence());
      out.children.push_back(std::move(branch));
    } while (take("|"));
    --depth_;
    if (out.children.size() == 1) return std::move(out.children[0]);
    return out;
  }

  Result<Node> sequence() {
    Node out{.kind = Node::sequence};
    while (!done() && peek() != '|' && peek() != ')') {
      TRY(Node item, atom());
      TRY(item, repeated(std::move(item)));
      out.children.push_back(std::move(item));
    }
    if (out.children.size() == 1) return std::move(out.children[0]);
    return out;
  }

  Result<Node> repeated(Node item) {
    Node out{.kind = Node::repeat};
    if (take("?"))
      out.min = 0;
    else if (take("*"))
      out.min = 0, out.max = Node::unlimited;
    else if (take("+"))
      out.max = Node::unlimited;
    else if (peek() == '{') {
      TRY_DO(counts(out));
    } else {
      return item;
    }
    if (take("?"))
      out.greed = Greed::lazy;
    else if (take("+"))
      out.greed = Greed::possessive;
    if (out.max > 1 && can_be_empty(item)) return refuse("a repetition of something that can be empty");
    if (!done() && std::string_view("?*+{").find(peek()) != std::string_view::npos)
      return refuse("a double repetition");
    out.children.push_back(std::move(item));
    return out;
  }

  Status counts(Node& out) {  // {3}, {1,3}, {2,}
    take("{");
    TRY(out.min, number());
    out.max = out.min;
    if (take(",")) {
      out.max = Node::unlimited;
      if (peek() != '}') {
        TRY(out.max, number());
      }
    }
    if (!take("}") || out.max < out.min) return refuse("a malformed {}");
    return {};
  }

  Result<u32> number() {
    const size_t start = at_;
    u32 value = 0;
    while (peek() >= '0' && peek() <= '9' && value <= max_repeats) value = value * 10 + u32(text_[at_++] - '0');
    if (at_ == start || value > max_repeats) return refuse("a count that is missing or too large");
    return value;
  }

  Result<Node> atom() {
    if (take("(")) return group();
    if (take("^")) return Node{.kind = Node::line_start};
    if (take("$")) return Node{.kind = Node::line_end};
    if (take("\\b")) return Node{.kind = Node::word_boundary};
    if (take("\\B")) return Node{.kind = Node::word_boundary, .negated = true};
    if (take(".")) return Node{.kind = Node::set, .chars = CharSet{{'\n', '\n'}}.complement()};
    if (std::string_view("?*+{").find(peek()) != std::string_view::npos) return refuse("a repetition of nothing");
    if (peek() == '[') {
      TRY(CharSet chars, char_class());
      return Node{.kind = Node::set, .chars = std::move(chars)};
    }
    TRY(CharSet chars, character());
    return Node{.kind = Node::set, .chars = ignore_case_ ? chars.case_insensitive() : std::move(chars)};
  }

  Result<Node> group() {
    const bool outer_case = ignore_case_;
    Node::Kind kind = Node::sequence;
    bool negated = false;
    if (take("?i:"))
      ignore_case_ = true;
    else if (take("?>"))
      kind = Node::atomic;
    else if (take("?="))
      kind = Node::look_ahead;
    else if (take("?!"))
      kind = Node::look_ahead, negated = true;
    else if (!take("?:") && peek() == '?')
      return refuse("an unknown kind of group");
    TRY(Node inner, alternation());
    ignore_case_ = outer_case;
    if (!take(")")) return refuse("a group without end");
    if (kind == Node::sequence) return inner;
    Node out{.kind = kind, .negated = negated};
    out.children.push_back(std::move(inner));
    return out;
  }

  // [...] with ranges, escapes, nested classes and && between parts that must all hold.
  Result<CharSet> char_class() {
    if (++depth_ > max_depth) return refuse("classes nested too deeply");
    take("[");
    const bool negated = take("^");
    if (peek() == ']' || peek() == ':') return refuse("a class of this form");
    std::optional<CharSet> others;
    CharSet part;
    while (!take("]")) {
      if (done()) return refuse("a class without end");
      if (take("&&")) {
        others = others ? others->intersection(part) : part;
        part = {};
      } else if (peek() == '[') {
        TRY(const CharSet nested, char_class());
        part.add(nested);
      } else {
        TRY_DO(class_item(part));
      }
    }
    --depth_;
    if (others) part = others->intersection(part);
    if (ignore_case_) part = part.case_insensitive();
    return negated ? part.complement() : part;
  }

  Status class_item(CharSet& part) {
    TRY(CharSet item, character());
    const bool range = peek() == '-' && at_ + 1 < text_.size() && text_[at_ + 1] != ']';
    if (!range) {
      part.add(item);
      return {};
    }
    take("-");
    if (peek() == '[') return refuse("a range to a class");
    TRY(const CharSet last, character());
    if (!single(item) || !single(last) || code_of(last) < code_of(item)) return refuse("a bad range");
    part.add(code_of(item), code_of(last));
    return {};
  }

  static bool single(const CharSet& s) { return s.ranges().size() == 1 && s.ranges()[0].first == s.ranges()[0].last; }
  static u32 code_of(const CharSet& s) { return s.ranges()[0].first; }

  // One character, or the set that an escape stands for.
  Result<CharSet> character() {
    if (take("\\")) return escape();
    const utf8::Char c = utf8::peek(text_, at_);
    at_ += c.size;
    return literal(c.code);
  }

  Result<CharSet> literal(u32 code) {
    if (ignore_case_ && code >= 128) return refuse("a letter beyond ASCII that ignores case");
    return CharSet{{code, code}};
  }

  Result<CharSet> escape() {
    if (done()) return refuse("a backslash at its end");
    const char c = text_[at_++];
    switch (c) {
      case 's': return CharSet::space();
      case 'S': return CharSet::space().complement();
      case 'd': return CharSet::digit();
      case 'D': return CharSet::digit().complement();
      case 'w': return CharSet::word();
      case 'W': return CharSet::word().complement();
      case 'p': return property(false);
      case 'P': return property(true);
      case 'n': return literal('\n');
      case 'r': return literal('\r');
      case 't': return literal('\t');
      case 'f': return literal('\f');
      case 'v': return literal('\v');
      case 'x': return hexadecimal(2);
      case 'u': return hexadecimal(4);
      default: break;
    }
    const bool other = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || u8(c) >= 128;
    if (other) return refuse(str("the escape \\", c));
    return literal(u32(c));
  }

  Result<CharSet> property(bool negated) {
    const size_t end = text_.find('}', at_);
    if (!take("{") || end == std::string_view::npos) return refuse("a property without name");
    if (take("^")) negated = !negated;
    const std::string_view name = text_.substr(at_, end - at_);
    const bool cased = name == "Lu" || name == "Ll" || name == "Lt";
    auto set = CharSet::property(name);
    if (!set || (cased && ignore_case_)) return refuse(str("the property '", name, "'"));
    at_ = end + 1;
    return negated ? set->complement() : *std::move(set);
  }

  Result<CharSet> hexadecimal(u32 digits) {  // \x41, A, \x{1F600}
    const bool braced = take("{");
    u32 code = 0, count = 0;
    while (count < (braced ? 8 : digits)) {
      const size_t value = std::string_view("0123456789abcdef").find(char(peek() | 0x20));
      if (done() || value == std::string_view::npos) break;
      code = code << 4 | u32(value);
      ++at_, ++count;
    }
    if (count == 0 || (!braced && count < digits) || (braced && !take("}")) || code >= unicode::code_points)
      return refuse("a malformed character code");
    return literal(code);
  }

  std::string_view text_;
  size_t at_ = 0;
  u32 depth_ = 0;
  bool ignore_case_ = false;
};

}  // namespace

bool can_be_empty(const Node& node) {
  switch (node.kind) {
    case Node::set: return false;
    case Node::sequence: return std::ranges::all_of(node.children, can_be_empty);
    case Node::alternation: return std::ranges::any_of(node.children, can_be_empty);
    case Node::repeat: return node.min == 0 || can_be_empty(node.children[0]);
    case Node::atomic: return can_be_empty(node.children[0]);
    case Node::look_ahead:
    case Node::line_start:
    case Node::line_end:
    case Node::word_boundary: return true;
  }
  return true;
}

Result<Node> parse(std::string_view expression) {
  if (utf8::find_invalid(expression) != expression.size())
    return invalid("a regular expression of the tokenizer is not valid UTF-8");
  return Parser(expression).all();
}

}  // namespace pteron::llm::syntax
