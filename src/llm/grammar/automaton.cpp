// SPDX-License-Identifier: BSD-3-Clause
#include "llm/grammar/automaton.h"

#include "base/error.h"

#include <algorithm>
#include <map>

namespace pteron::grammar {
namespace {

constexpr u32 max_edges = 400'000;

}  // namespace

bool Builder::room() {
  if (edges_.size() >= max_edges || states_ >= max_edges) full_ = true;
  return !full_;
}

StateId Builder::state() { return room() ? states_++ : 0; }

RuleId Builder::rule() {
  const StateId start = state(), end = state();
  rules_.push_back({start, end});
  return RuleId(rules_.size() - 1);
}

void Builder::jump(StateId from, StateId to) {
  if (from != to && room()) edges_.push_back({.from = from, .to = to, .kind = Edge::jump});
}

void Builder::read(StateId from, StateId to, u8 first, u8 last) {
  if (room()) edges_.push_back({.from = from, .to = to, .first = first, .last = last, .kind = Edge::read});
}

void Builder::call(StateId from, StateId to, RuleId rule) {
  if (room()) edges_.push_back({.from = from, .to = to, .rule = rule, .kind = Edge::call});
}

void Builder::text(StateId from, StateId to, std::string_view bytes) {
  if (bytes.empty()) return jump(from, to);
  for (size_t i = 0; i + 1 < bytes.size(); ++i) {
    const StateId next = state();
    read(from, next, u8(bytes[i]), u8(bytes[i]));
    from = next;
  }
  read(from, to, u8(bytes.back()), u8(bytes.back()));
}

void Builder::any_of(StateId from, StateId to, std::span<const std::string> texts) {
  std::map<std::pair<StateId, char>, StateId> next;
  for (const std::string& text : texts) {
    StateId at = from;
    for (char byte : text) {
      auto [found, added] = next.try_emplace({at, byte});
      if (added) {
        found->second = state();
        read(at, found->second, u8(byte), u8(byte));
      }
      at = found->second;
    }
    jump(at, to);
  }
}

void Builder::repeat(StateId from, StateId to, RuleId rule, u32 minimum, u32 maximum) {
  for (u32 i = 0; i < minimum && !full_; ++i) {
    const StateId next = i + 1 == maximum ? to : state();
    call(from, next, rule);
    from = next;
  }
  if (maximum == unbounded) {
    const StateId loop = state();
    jump(from, loop);
    call(loop, loop, rule);
    jump(loop, to);
    return;
  }
  for (u32 i = minimum; i < maximum && !full_; ++i) {
    const StateId next = i + 1 == maximum ? to : state();
    jump(from, to);
    call(from, next, rule);
    from = next;
  }
  if (maximum == 0) jump(from, to);
}

// The states from which their rule's end can be reached. An edge counts once its target does and, if it calls a rule,
// once that rule's start does.
std::vector<bool> Builder::productive() const {
  std::vector<std::vector<u32>> into(states_);  // edges by the states they wait for
  for (u32 i = 0; i < edges_.size(); ++i) {
    into[edges_[i].to].push_back(i);
    if (edges_[i].kind == Edge::call) into[rules_[edges_[i].rule].start].push_back(i);
  }
  std::vector<bool> good(states_, false);
  std::vector<StateId> pending;
  const auto reach = [&](StateId s) {
    if (!good[s]) pending.push_back(s);
    good[s] = true;
  };
  for (const Rule& r : rules_) reach(r.end);
  while (!pending.empty()) {
    const StateId s = pending.back();
    pending.pop_back();
    for (u32 i : into[s]) {
      const Edge& e = edges_[i];
      if (good[e.to] && (e.kind != Edge::call || good[rules_[e.rule].start])) reach(e.from);
    }
  }
  return good;
}

Result<Automaton> Builder::build(RuleId main) && {
  if (full_)
    return unsupported("the grammar needs more than ", max_edges,
                       " transitions; use smaller repetition counts or fewer alternatives");
  const std::vector<bool> good = productive();
  if (!good[rules_[main].start]) return invalid("no text at all matches this grammar");
  std::erase_if(edges_,
                [&](const Edge& e) { return !good[e.to] || (e.kind == Edge::call && !good[rules_[e.rule].start]); });
  std::ranges::stable_sort(edges_, {}, &Edge::from);

  Automaton a;
  a.first_.assign(states_ + 1, 0);
  a.ends_.assign(states_, false);
  a.reads_.assign(states_, false);
  for (const Edge& e : edges_) {
    ++a.first_[e.from + 1];
    if (e.kind == Edge::read) a.reads_[e.from] = true;
  }
  for (u32 s = 0; s < states_; ++s) a.first_[s + 1] += a.first_[s];
  for (const Rule& r : rules_) a.ends_[r.end] = true;
  a.edges_ = std::move(edges_);
  a.rules_ = std::move(rules_);
  a.main_ = main;
  return a;
}

}  // namespace pteron::grammar
