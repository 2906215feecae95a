// SPDX-License-Identifier: BSD-3-Clause
#include "llm/grammar/json_rules.h"

#include "base/utf8.h"

#include <map>

namespace pteron::grammar {

void JsonRules::space(StateId from, StateId to) {
  if (format_.max_whitespace == 0) return builder_.jump(from, to);
  if (!space_) {
    space_ = builder_.rule();
    const auto [start, end] = builder_[*space_];
    StateId at = start;
    for (u32 i = 0; i < format_.max_whitespace && !builder_.full(); ++i) {
      const StateId next = builder_.state();
      for (u8 c : {' ', '\n', '\t', '\r'}) builder_.read(at, next, c, c);
      builder_.jump(at, end);
      at = next;
    }
    builder_.jump(at, end);
  }
  builder_.call(from, to, *space_);
}

void JsonRules::separator(StateId from, StateId to, std::string_view text) {
  const StateId before = builder_.state(), behind = builder_.state();
  space(from, before);
  builder_.text(before, behind, text);
  space(behind, to);
}

// \n and the like, or \u with a character of four digits or a pair of them.
void JsonRules::escape(StateId from, StateId to) {
  const StateId letter = builder_.state();
  builder_.text(from, letter, "\\");
  for (char c : std::string_view("\"\\/bfnrt")) builder_.read(letter, to, u8(c), u8(c));
  const auto hex = [&](StateId a, StateId b, std::string_view ranges) {  // pairs of first and last
    for (size_t i = 0; i < ranges.size(); i += 2) builder_.read(a, b, u8(ranges[i]), u8(ranges[i + 1]));
  };
  static constexpr std::string_view any = "09afAF";
  StateId last[4] = {builder_.state(), builder_.state(), builder_.state(), to};  // behind one, two, three, four digits
  const StateId digits = builder_.state(), d = builder_.state(), high = builder_.state(),
                pair[] = {builder_.state(), builder_.state(), builder_.state(), builder_.state(), builder_.state()};
  builder_.read(letter, digits, 'u', 'u');
  hex(digits, last[0], "09acefACEF");
  hex(digits, d, "ddDD");
  hex(d, last[1], "07");
  hex(last[0], last[1], any);
  hex(last[1], last[2], any);
  hex(last[2], last[3], any);
  // \uD8.. to \uDB.. must be followed by \uDC.. to \uDF..
  hex(d, high, "89abAB");
  hex(high, pair[0], any);
  hex(pair[0], pair[1], any);
  builder_.text(pair[1], pair[2], "\\u");
  hex(pair[2], pair[3], "ddDD");
  hex(pair[3], pair[4], "cfCF");
  hex(pair[4], last[2], any);
}

RuleId JsonRules::character() {
  if (character_) return *character_;
  character_ = builder_.rule();
  const auto [start, end] = builder_[*character_];
  const CharSet plain{{0x20, 0x21}, {0x23, 0x5B}, {0x5D, utf8::last_code_point}};
  characters_.write(start, end, plain);
  escape(start, end);
  return *character_;
}

void JsonRules::string(StateId from, StateId to, u32 min_length, u32 max_length) {
  const StateId inside = builder_.state(), end = builder_.state();
  builder_.text(from, inside, "\"");
  builder_.repeat(inside, end, character(), min_length, max_length);
  builder_.text(end, to, "\"");
}

void JsonRules::string_except(StateId from, StateId to, std::span<const std::string> names) {
  struct Node {
    StateId state;
    bool is_name = false;
    std::map<u32, size_t> next;
  };
  std::vector<Node> nodes{{builder_.state(), false, {}}};
  for (const std::string& name : names) {
    size_t at = 0;
    for (size_t i = 0; i < name.size();) {
      const auto [found, added] = nodes[at].next.try_emplace(utf8::next(name, i), nodes.size());
      at = found->second;
      if (added) nodes.push_back({builder_.state(), false, {}});
    }
    nodes[at].is_name = true;
  }
  const StateId free = builder_.state();  // no name can come of it any more
  characters_.write(free, free, CharSet::all());
  builder_.text(free, to, "\"");
  builder_.text(from, nodes[0].state, "\"");
  for (const Node& node : nodes) {
    CharSet known;
    for (const auto& [c, next] : node.next) {
      known.add(c, c);
      characters_.write(node.state, nodes[next].state, {{c, c}});
    }
    characters_.write(node.state, free, known.complement());
    if (!node.is_name) builder_.text(node.state, to, "\"");
  }
}

RuleId JsonRules::integer() {
  if (integer_) return *integer_;
  integer_ = builder_.rule();
  const auto [start, end] = builder_[*integer_];
  const StateId unsigned_part = builder_.state(), digits = builder_.state();
  builder_.jump(start, unsigned_part);
  builder_.text(start, unsigned_part, "-");
  builder_.text(unsigned_part, end, "0");
  builder_.read(unsigned_part, digits, '1', '9');
  builder_.read(digits, digits, '0', '9');
  builder_.jump(digits, end);
  return *integer_;
}

RuleId JsonRules::number() {
  if (number_) return *number_;
  number_ = builder_.rule();
  const auto [start, end] = builder_[*number_];
  const StateId whole = builder_.state(), point = builder_.state(), fraction = builder_.state(),
                letter = builder_.state(), sign = builder_.state(), exponent = builder_.state();
  builder_.call(start, whole, integer());
  builder_.jump(whole, end);
  builder_.text(whole, point, ".");
  builder_.read(point, fraction, '0', '9');
  builder_.read(fraction, fraction, '0', '9');
  builder_.jump(fraction, end);
  for (StateId s : {whole, fraction})
    for (u8 e : {'e', 'E'}) builder_.read(s, letter, e, e);
  builder_.jump(letter, sign);
  for (u8 c : {'+', '-'}) builder_.read(letter, sign, c, c);
  builder_.read(sign, exponent, '0', '9');
  builder_.read(exponent, exponent, '0', '9');
  builder_.jump(exponent, end);
  return *number_;
}

void JsonRules::any_object(StateId from, StateId to) {
  const StateId open = builder_.state(), first = builder_.state(), name = builder_.state(), colon = builder_.state(),
                before = builder_.state(), behind = builder_.state(), next = builder_.state();
  builder_.text(from, open, "{");
  space(open, first);
  builder_.text(first, to, "}");
  builder_.jump(first, name);
  string(name, colon);
  separator(colon, before, ":");
  builder_.call(before, behind, value());
  space(behind, next);
  builder_.text(next, to, "}");
  const StateId comma = builder_.state();
  builder_.text(next, comma, ",");
  space(comma, name);
}

void JsonRules::any_array(StateId from, StateId to) {
  const StateId open = builder_.state(), first = builder_.state(), item = builder_.state(), behind = builder_.state(),
                next = builder_.state(), comma = builder_.state();
  builder_.text(from, open, "[");
  space(open, first);
  builder_.text(first, to, "]");
  builder_.jump(first, item);
  builder_.call(item, behind, value());
  space(behind, next);
  builder_.text(next, to, "]");
  builder_.text(next, comma, ",");
  space(comma, item);
}

RuleId JsonRules::value() {
  if (value_) return *value_;
  value_ = builder_.rule();
  const auto [start, end] = builder_[*value_];
  any_object(start, end);
  any_array(start, end);
  string(start, end);
  builder_.call(start, end, number());
  for (const char* word : {"true", "false", "null"}) builder_.text(start, end, word);
  return *value_;
}

void JsonRules::constant(StateId from, StateId to, const Json& value) {
  const auto list = [&](char open, char close, const auto& items, const auto& write) {
    const StateId inside = builder_.state();
    builder_.text(from, inside, std::string(1, open));
    StateId at = builder_.state();
    space(inside, at);
    for (size_t i = 0; i < items.size(); ++i) {
      const StateId behind = builder_.state(), next = builder_.state();
      write(at, behind, items[i]);
      i + 1 < items.size() ? separator(behind, next, ",") : space(behind, next);
      at = next;
    }
    builder_.text(at, to, std::string(1, close));
  };
  if (const auto* items = value.array())
    return list('[', ']', *items, [&](StateId a, StateId b, const Json& item) { constant(a, b, item); });
  if (const auto* members = value.object())
    return list('{', '}', *members, [&](StateId a, StateId b, const JsonMember& m) {
      const StateId colon = builder_.state(), before = builder_.state();
      builder_.text(a, colon, json_quoted(m.name));
      separator(colon, before, ":");
      constant(before, b, m.value);
    });
  builder_.text(from, to, json_scalar(value));
}

}  // namespace pteron::grammar
