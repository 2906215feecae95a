// SPDX-License-Identifier: BSD-3-Clause
// A grammar as a set of rules. A rule is a non-deterministic automaton over bytes whose edges read a byte, read
// nothing, or call a rule; so regular expressions and nested structure are the same thing.
#pragma once

#include <pteron/result.h>
#include <pteron/types.h>

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pteron::grammar {

using StateId = u32;
using RuleId = u32;

struct Edge {
  enum Kind : u8 { read, jump, call };
  StateId from = 0, to = 0;
  RuleId rule = 0;         // call
  u8 first = 0, last = 0;  // read
  Kind kind = read;
};

struct Rule {
  StateId start = 0, end = 0;
};

// Ready to run: edges by state, and only those from which the end of the text can be reached.
class Automaton {
 public:
  std::span<const Edge> edges(StateId s) const { return {edges_.data() + first_[s], first_[s + 1] - first_[s]}; }
  StateId start_of(RuleId r) const { return rules_[r].start; }
  bool ends_rule(StateId s) const { return ends_[s]; }
  // The end of a rule and nothing else: returning to it is returning from it.
  bool only_ends(StateId s) const { return ends_[s] && edges(s).empty(); }
  bool reads(StateId s) const { return reads_[s]; }
  RuleId main() const { return main_; }

 private:
  friend class Builder;
  std::vector<Edge> edges_;
  std::vector<u32> first_;
  std::vector<Rule> rules_;
  std::vector<bool> ends_, reads_;
  RuleId main_ = 0;
};

// Every function adds a way from one state to another.
class Builder {
 public:
  StateId state();
  RuleId rule();
  const Rule& operator[](RuleId r) const { return rules_[r]; }

  void jump(StateId from, StateId to);
  void read(StateId from, StateId to, u8 first, u8 last);
  void call(StateId from, StateId to, RuleId rule);
  void text(StateId from, StateId to, std::string_view bytes);
  // One of several texts; common beginnings share states.
  void any_of(StateId from, StateId to, std::span<const std::string> texts);
  // `minimum` to `maximum` times a rule.
  static constexpr u32 unbounded = ~u32(0);
  void repeat(StateId from, StateId to, RuleId rule, u32 minimum, u32 maximum);

  // Set when the grammar has grown beyond what is reasonable; nothing is added from then on.
  bool full() const { return full_; }

  Result<Automaton> build(RuleId main) &&;

 private:
  bool room();
  std::vector<bool> productive() const;

  std::vector<Edge> edges_;
  std::vector<Rule> rules_;
  u32 states_ = 0;
  bool full_ = false;
};

}  // namespace pteron::grammar
