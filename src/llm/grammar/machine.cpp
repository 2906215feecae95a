// SPDX-License-Identifier: BSD-3-Clause
#include "llm/grammar/machine.h"

#include "base/error.h"

#include <algorithm>
#include <utility>

namespace pteron::grammar {
namespace {

// A set costs about a kilobyte. Half of the sets are there for one mask, which needs a few hundred at most.
constexpr size_t max_sets = 8192, max_stacks = 1'000'000, max_stacks_in_set = 4096;
constexpr u64 max_work = 8'000'000;  // edges looked at for one mask: a fraction of a second

u64 hash_of(const std::vector<u32>& values, bool accepts) {
  u64 h = accepts ? 0x9E37'79B9'7F4A'7C15 : 0;
  for (u32 v : values) h = (h ^ v) * 0x1000'0000'01B3;
  return h;
}

}  // namespace

Machine::Machine(std::shared_ptr<const Automaton> automaton) : automaton_(std::move(automaton)) { clear(); }

void Machine::clear() {
  stacks_.assign(1, {});
  visited_.assign(1, 0);
  round_ = 0;
  stack_ids_.clear();
  sets_.clear();
  set_ids_.clear();
  number_of({}, false);  // the dead one
  sets_[dead].next.fill(dead);
}

Result<Machine::SetId> Machine::start() {
  ++round_;
  visit(automaton_->start_of(automaton_->main()), bottom);
  return close();
}

Result<Machine::SetId> Machine::work_out(SetId from, u8 byte) {
  ++round_;
  for (StackId id : std::as_const(sets_[from].stacks)) {
    const auto [state, below] = stacks_[id];
    const auto edges = automaton_->edges(state);
    work_ += edges.size();
    for (const Edge& e : edges)
      if (e.kind == Edge::read && e.first <= byte && byte <= e.last) visit(e.to, below);
  }
  TRY(const SetId to, close());
  sets_[from].next[byte] = to;
  return to;
}

Result<Machine::SetId> Machine::close() {
  std::vector<StackId> reading;
  bool accepts = false;
  while (!pending_.empty()) {
    const StackId id = pending_.back();
    pending_.pop_back();
    const auto [state, below] = stacks_[id];
    const auto edges = automaton_->edges(state);
    work_ += edges.size() + 1;
    if (automaton_->reads(state)) reading.push_back(id);
    if (reading.size() > max_stacks_in_set || work_ > max_work || stacks_.size() > max_stacks ||
        sets_.size() > max_sets) {
      pending_.clear();
      return unsupported(
          "the grammar is too ambiguous: too many of its parts match the same text at once; "
          "make alternatives and repetitions begin differently");
    }
    if (automaton_->ends_rule(state)) {
      if (below == bottom)
        accepts = true;
      else
        visit(below);
    }
    for (const Edge& e : edges) {
      if (e.kind == Edge::jump) visit(e.to, below);
      if (e.kind == Edge::call)
        visit(automaton_->start_of(e.rule), automaton_->only_ends(e.to) ? below : push(e.to, below));
    }
  }
  std::ranges::sort(reading);
  return number_of(std::move(reading), accepts);
}

Machine::StackId Machine::push(StateId state, StackId below) {
  const auto [at, added] = stack_ids_.try_emplace(u64(state) << 32 | below, StackId(stacks_.size()));
  if (added) {
    stacks_.push_back({state, below});
    visited_.push_back(0);
  }
  return at->second;
}

void Machine::visit(StackId stack) {
  if (std::exchange(visited_[stack], round_) != round_) pending_.push_back(stack);
}

Machine::SetId Machine::number_of(std::vector<StackId> stacks, bool accepts) {
  const u64 hash = hash_of(stacks, accepts);
  const auto [first, last] = set_ids_.equal_range(hash);
  for (auto it = first; it != last; ++it)
    if (const Set& s = sets_[it->second]; s.accepts == accepts && s.stacks == stacks) return it->second;
  const SetId id = SetId(sets_.size());
  set_ids_.emplace(hash, id);
  sets_.push_back({std::move(stacks), accepts, {}});
  sets_.back().next.fill(unknown);
  return id;
}

Machine::SetId Machine::begin_work(SetId keep) {
  work_ = 0;
  if (sets_.size() < max_sets / 2 && stacks_.size() < max_stacks / 2) return keep;
  ++generation_;
  const std::vector<Stack> old = std::exchange(stacks_, {});
  const std::vector<StackId> tops = std::move(sets_[keep].stacks);
  const bool accepts = sets_[keep].accepts;
  // What lies below a stack was made before it, so one way down marks and one way up renumbers.
  std::vector<bool> needed(old.size(), false);
  for (StackId id : tops) needed[id] = true;
  for (size_t id = old.size(); id-- > 1;)
    if (needed[id]) needed[old[id].below] = true;
  clear();
  std::vector<StackId> renumbered(old.size(), bottom);
  for (size_t id = 1; id < old.size(); ++id)
    if (needed[id]) renumbered[id] = push(old[id].state, renumbered[old[id].below]);
  std::vector<StackId> stacks;
  stacks.reserve(tops.size());
  for (StackId id : tops) stacks.push_back(renumbered[id]);
  std::ranges::sort(stacks);
  return number_of(std::move(stacks), accepts);
}

}  // namespace pteron::grammar
