// SPDX-License-Identifier: BSD-3-Clause
// Every decision of a generator, recorded: a graph is a list of numbers, and a shorter list or smaller numbers give a
// simpler graph that is as valid.
#pragma once

#include <pteron/types.h>

#include <random>
#include <vector>

namespace pteron::differential {

class Choices {
 public:
  explicit Choices(u64 seed) : random_(seed), replays_(false) {}
  // What is not in the list is 0, the simplest choice.
  explicit Choices(std::vector<u32> made) : replays_(true), given_(std::move(made)) {}

  u32 below(u32 count) {
    const u32 drawn = replays_ ? (made_.size() < given_.size() ? given_[made_.size()] : 0) : u32(random_());
    made_.push_back(drawn % count);
    return made_.back();
  }
  bool percent(u32 chance) { return below(100) >= 100 - chance; }
  template <class T, size_t n>
  const T& of(const T (&list)[n]) {
    return list[below(n)];
  }

  // Decisions that belong together, such as those of one op, can be left out together.
  struct Span {
    size_t begin, end;
  };
  // Calls fn(i) once, and again as long as it wants to and chance does.
  template <class Fn>
  void repeat(u32 chance, Fn fn) {
    bool more = true;
    for (u32 i = 0; more; ++i) {
      const size_t begin = made_.size();
      more = percent(chance) || i == 0;  // drawn also for the first, so that any one can be left out
      if (more) more = fn(i);
      spans_.push_back({begin, made_.size()});
    }
  }

  const std::vector<u32>& made() const { return made_; }
  const std::vector<Span>& spans() const { return spans_; }

 private:
  std::mt19937_64 random_;
  bool replays_;
  std::vector<u32> given_, made_;
  std::vector<Span> spans_;
};

}  // namespace pteron::differential
