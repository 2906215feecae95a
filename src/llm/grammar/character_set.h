// SPDX-License-Identifier: BSD-3-Clause
// Sets of characters and how they are written in bytes.
#pragma once

#include "llm/grammar/automaton.h"
#include "llm/text/characters.h"

#include <map>

namespace pteron::grammar {

// Sorted, disjoint, without surrogates.
class CharacterSet {
 public:
  CharacterSet() = default;
  CharacterSet(std::initializer_list<CharacterRange> ranges) { add(ranges); }
  static CharacterSet all();

  void add(u32 first, u32 last);
  void add(std::span<const CharacterRange> ranges);
  CharacterSet complement() const;
  CharacterSet intersection(const CharacterSet& other) const;

  std::span<const CharacterRange> ranges() const { return ranges_; }
  bool empty() const { return ranges_.empty(); }
  bool is_ascii() const { return empty() || ranges_.back().last < 0x80; }
  bool operator==(const CharacterSet&) const = default;

 private:
  std::vector<CharacterRange> ranges_;
};

// Adds one character of a set to a grammar: as UTF-8, or as it stands inside of a JSON string. There each character has
// one form: itself, or the shortest escape if it needs one.
class CharacterWriter {
 public:
  enum Form { plain, in_json_string };
  CharacterWriter(Builder& builder, Form form) : builder_(builder), form_(form) {}

  void write(StateId from, StateId to, const CharacterSet& set);
  // The same as a rule; equal sets share it.
  RuleId rule_of(const CharacterSet& set);

 private:
  void write_utf8(StateId from, StateId to, const CharacterSet& set);
  void write_escapes(StateId from, StateId to, const CharacterSet& set);

  Builder& builder_;
  Form form_;
  std::map<std::vector<std::pair<u32, u32>>, RuleId> rules_;
};

}  // namespace pteron::grammar
