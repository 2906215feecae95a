// SPDX-License-Identifier: BSD-3-Clause
#include "base/error.h"
#include "base/utf8.h"
#include "llm/tokenizer/pattern.h"

namespace pteron::tokenizer {

using regex::Greed;

Result<std::optional<Pattern::Match>> Pattern::Search::next() {
  while (from_ <= text_.size()) {
    TRY(const auto match, find(from_));
    if (!match) break;
    const bool empty = match->begin == match->end;
    from_ = match->end;
    if (empty) from_ += from_ < text_.size() ? utf8::peek(text_, from_).size : 1;
    if (empty && match->begin == last_end_) continue;
    last_end_ = match->end;
    return match;
  }
  return std::nullopt;
}

// The first match that starts at `from` or behind it.
Result<std::optional<Pattern::Match>> Pattern::Search::find(u32 from) {
  const u32 size = u32(text_.size());
  for (u32 begin = from; begin <= size;) {
    for (const Branch& branch : pattern_.branches_) {
      if (begin < size ? !branch.starts[u8(text_[begin])] : !branch.can_be_empty) continue;
      u32 end = begin;
      if (match(branch.start, end)) return Match{begin, end};
      if (budget_.spent())
        return unsupported("the regular expression '", pattern_.expression_,
                           "' of the tokenizer takes too long on this text of ", size, " bytes; encode shorter parts");
    }
    if (begin == size) break;
    begin += utf8::peek(text_, begin).size;
  }
  return std::nullopt;
}

// Runs from an instruction to the end of its part of the program, `at` is then behind the match.
bool Pattern::Search::match(u32 instruction, u32& at) {
  const size_t bottom = choices_.size();
  while (pattern_.code_[instruction].op != Instruction::done) {
    const bool on = step(instruction, at) || back_off(bottom, instruction, at);
    budget_.spend(1);
    if (!on || budget_.spent()) {
      choices_.resize(bottom);
      return false;
    }
  }
  choices_.resize(bottom);
  return true;
}

bool Pattern::Search::step(u32& instruction, u32& at) {
  const Instruction& in = pattern_.code_[instruction];
  switch (in.op) {
    case Instruction::run:
      if (!run(in, instruction, at)) return false;
      break;
    case Instruction::fork: choices_.push_back({instruction, 0, at}); break;
    case Instruction::jump: instruction = in.target; return true;
    case Instruction::look_ahead: {
      u32 ahead = at;
      if (match(instruction + 1, ahead) == in.negated) return false;
      instruction = in.target;
      return true;
    }
    case Instruction::atomic:
      if (!match(instruction + 1, at)) return false;
      instruction = in.target;
      return true;
    case Instruction::line_start:  // which is not behind a newline that ends the text
      if (at > 0 && (text_[at - 1] != '\n' || at == text_.size())) return false;
      break;
    case Instruction::line_end:
      if (at < text_.size() && text_[at] != '\n') return false;
      break;
    case Instruction::word_boundary:
      if (word_boundary(pattern_.sets_[in.set], at) == in.negated) return false;
      break;
    case Instruction::done: break;
  }
  ++instruction;
  return true;
}

bool Pattern::Search::run(const Instruction& in, u32 instruction, u32& at) {
  const CharTable& set = pattern_.sets_[in.set];
  u32 count = 0;
  while (count < in.min && take(set, at)) ++count;
  if (count < in.min) return false;
  const u32 low = at;
  if (in.greed == Greed::lazy) {
    if (in.max > in.min) choices_.push_back({instruction, count, at});
    return true;
  }
  while (count < in.max && take(set, at)) ++count;
  budget_.spend(count);
  if (in.greed == Greed::greedy && at > low) choices_.push_back({instruction, low, at});
  return true;
}

// Takes up the last choice that is still open.
bool Pattern::Search::back_off(size_t bottom, u32& instruction, u32& at) {
  while (choices_.size() > bottom) {
    Choice& choice = choices_.back();
    const Instruction& in = pattern_.code_[choice.instruction];
    if (in.op == Instruction::fork) {
      instruction = in.target;
      at = choice.at;
      choices_.pop_back();
      return true;
    }
    instruction = choice.instruction + 1;
    if (in.greed == Greed::greedy) {
      at = choice.at = u32(utf8::before(text_, choice.at));
      if (choice.at == choice.low) choices_.pop_back();
      return true;
    }
    if (choice.low < in.max && take(pattern_.sets_[in.set], choice.at)) {
      ++choice.low;
      at = choice.at;
      return true;
    }
    choices_.pop_back();
  }
  return false;
}

bool Pattern::Search::take(const CharTable& set, u32& at) const {
  if (at == text_.size()) return false;
  const utf8::Char c = utf8::peek(text_, at);
  if (!set.contains(c.code)) return false;
  at += c.size;
  return true;
}

bool Pattern::Search::word_boundary(const CharTable& word, u32 at) const {
  const bool left = at > 0 && word.contains(utf8::peek(text_, utf8::before(text_, at)).code);
  const bool right = at < text_.size() && word.contains(utf8::peek(text_, at).code);
  return left != right;
}

}  // namespace pteron::tokenizer
