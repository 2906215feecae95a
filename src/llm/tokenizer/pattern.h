// SPDX-License-Identifier: BSD-3-Clause
// Regular expressions, as far as tokenizers use them to cut text into words. Meanings are those of the reference
// package (Oniguruma): the first alternative that matches wins, repetitions back off, ^ and $ are about lines.
#pragma once

#include "llm/regex/regex.h"

#include <optional>
#include <string>

namespace pteron::tokenizer {

class PatternBudget;

class Pattern {
 public:
  struct Match {
    u32 begin, end;
  };
  class Search;

  static Result<Pattern> compile(std::string_view expression);
  // Matches this text and nothing else.
  static Result<Pattern> literal(std::string_view text);

 private:
  class Compiler;

  struct Instruction {
    enum Op : u8 { run, fork, jump, look_ahead, atomic, line_start, line_end, word_boundary, done };
    Op op = done;
    regex::Greed greed = regex::Greed::greedy;
    bool negated = false;
    u32 set = 0;
    u32 min = 1, max = 1;
    u32 target = 0;  // fork: the second choice; look_ahead and atomic: behind the inner part
  };
  // An alternative of the outermost level and the bytes that it can start with.
  struct Branch {
    u32 start = 0;
    bool can_be_empty = false;
    std::array<bool, 256> starts{};
  };

  std::string expression_;
  std::vector<Instruction> code_;
  std::vector<CharTable> sets_;
  std::vector<Branch> branches_;
};

// How long matching may take. Backing off can go on forever with some expressions on some texts; ordinary ones take
// under ten steps per byte.
class PatternBudget {
 public:
  explicit PatternBudget(size_t text_bytes) : steps_(about_a_second + 64 * u64(text_bytes)) {}
  void spend(u64 steps) { steps_ -= steps < steps_ ? steps : steps_; }
  bool spent() const { return steps_ == 0; }

 private:
  static constexpr u64 about_a_second = u64(1) << 28;
  u64 steps_;
};

// Goes through one text, which must be valid UTF-8 of less than 2^31 bytes.
class Pattern::Search {
 public:
  Search(const Pattern& pattern, std::string_view text, PatternBudget& budget)
      : pattern_(pattern), text_(text), budget_(budget) {}

  // The next match behind the last one. An empty one counts unless it touches that. An error if the budget is spent.
  Result<std::optional<Match>> next();

 private:
  struct Choice {
    u32 instruction;
    u32 low;  // how far a greedy run may still give back; how many characters a lazy one has taken
    u32 at;
  };

  Result<std::optional<Match>> find(u32 from);
  bool match(u32 instruction, u32& at);
  bool step(u32& instruction, u32& at);
  bool run(const Instruction& in, u32 instruction, u32& at);
  bool back_off(size_t bottom, u32& instruction, u32& at);
  bool take(const CharTable& set, u32& at) const;
  bool word_boundary(const CharTable& word, u32 at) const;

  const Pattern& pattern_;
  std::string_view text_;
  PatternBudget& budget_;
  std::vector<Choice> choices_;
  u32 from_ = 0;
  std::optional<u32> last_end_;
};

}  // namespace pteron::tokenizer
