// SPDX-License-Identifier: BSD-3-Clause
// Runs an automaton over bytes. What the automaton may be doing at one point of the text is a set of stacks of states;
// equal sets get the same number, and where each byte leads from a set is worked out once.
#pragma once

#include "llm/grammar/automaton.h"

#include <array>
#include <memory>
#include <unordered_map>

namespace pteron::grammar {

class Machine {
 public:
  using SetId = u32;
  static constexpr SetId dead = 0;  // no text goes on from here
  static constexpr SetId unknown = ~u32(0);

  explicit Machine(std::shared_ptr<const Automaton> automaton);

  Result<SetId> start();
  Result<SetId> step(SetId from, u8 byte) {
    const SetId to = known_step(from, byte);
    return to != unknown ? Result<SetId>(to) : work_out(from, byte);
  }
  SetId known_step(SetId from, u8 byte) const { return sets_[from].next[byte]; }
  bool accepts(SetId set) const { return sets_[set].accepts; }          // the text may end here
  bool goes_on(SetId set) const { return !sets_[set].stacks.empty(); }  // some byte may follow

  // What may be spent until the next call of this function. Forgets all sets but one if there are too many, and
  // returns that one's number.
  SetId begin_work(SetId keep);
  // Changes when the numbers change.
  u32 generation() const { return generation_; }

 private:
  using StackId = u32;
  static constexpr StackId bottom = 0;

  // A state and what lies below it; the state below is where to go on when the rule of this one ends.
  struct Stack {
    StateId state = 0;
    StackId below = bottom;
  };
  struct Set {
    std::vector<StackId> stacks;  // that read a byte; sorted
    bool accepts = false;
    std::array<SetId, 256> next;
  };

  StackId push(StateId state, StackId below);
  void visit(StackId stack);
  void visit(StateId state, StackId below) { visit(push(state, below)); }
  Result<SetId> work_out(SetId from, u8 byte);
  // The set of everything that can be reached from the visited stacks without reading.
  Result<SetId> close();
  SetId number_of(std::vector<StackId> stacks, bool accepts);
  void clear();

  std::shared_ptr<const Automaton> automaton_;
  std::vector<Stack> stacks_;
  std::unordered_map<u64, StackId> stack_ids_;
  std::vector<u32> visited_;  // by stack: the round of its last visit
  std::vector<StackId> pending_;
  u32 round_ = 0;
  u64 work_ = 0;
  std::vector<Set> sets_;
  std::unordered_multimap<u64, SetId> set_ids_;  // by hash
  u32 generation_ = 0;
};

}  // namespace pteron::grammar
