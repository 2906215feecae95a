// SPDX-License-Identifier: BSD-3-Clause
#include "base/error.h"
#include "llm/tokenizer/pattern.h"

#include <algorithm>
#include <map>

namespace pteron::tokenizer {

using regex::Greed;
using regex::Node;

class Pattern::Compiler {
 public:
  explicit Compiler(Pattern& out) : out_(out) {}

  Status all(const Node& root) {
    const std::span<const Node> branches =
        root.kind == Node::alternation ? std::span(root.children) : std::span(&root, 1);
    for (const Node& node : branches) {
      Branch branch{.start = here()};
      branch.can_be_empty = starts(node, branch.starts);
      if (branch.can_be_empty) branch.starts.fill(true);
      TRY_DO(emit(node));
      add({.op = Instruction::done});
      out_.branches_.push_back(branch);
    }
    return {};
  }

 private:
  static constexpr u32 max_instructions = 4096;

  u32 here() const { return u32(out_.code_.size()); }
  u32 add(const Instruction& in) {
    out_.code_.push_back(in);
    return here() - 1;
  }
  void point(u32 instruction, u32 target) { out_.code_[instruction].target = target; }

  u32 set(const CharSet& chars) {
    std::vector<u32> key;
    for (const CharSet::Range& r : chars.ranges()) key.insert(key.end(), {r.first, r.last});
    const auto [it, added] = known_.emplace(std::move(key), u32(out_.sets_.size()));
    if (added) out_.sets_.emplace_back(chars);
    return it->second;
  }

  Status emit(const Node& node) {
    if (here() > max_instructions)
      return unsupported("the regular expression '", out_.expression_, "' of the tokenizer is too large");
    switch (node.kind) {
      case Node::set: add({.op = Instruction::run, .set = set(node.chars)}); return {};
      case Node::sequence:
        for (const Node& child : node.children) TRY_DO(emit(child));
        return {};
      case Node::alternation: return alternation(node);
      case Node::repeat: return repeat(node);
      case Node::look_ahead: return inner(Instruction::look_ahead, node.children[0], node.negated);
      case Node::atomic: return inner(Instruction::atomic, node.children[0], false);
      case Node::line_start: add({.op = Instruction::line_start}); return {};
      case Node::line_end: add({.op = Instruction::line_end}); return {};
      case Node::word_boundary:
        add({.op = Instruction::word_boundary, .negated = node.negated, .set = set(CharSet::word())});
        return {};
    }
    return {};
  }

  Status inner(Instruction::Op op, const Node& node, bool negated) {
    const u32 at = add({.op = op, .negated = negated});
    TRY_DO(emit(node));
    add({.op = Instruction::done});
    point(at, here());
    return {};
  }

  Status alternation(const Node& node) {
    std::vector<u32> ends;
    for (size_t i = 0; i < node.children.size(); ++i) {
      const bool last = i + 1 == node.children.size();
      const u32 fork = last ? 0 : add({.op = Instruction::fork});
      TRY_DO(emit(node.children[i]));
      if (last) break;
      ends.push_back(add({.op = Instruction::jump}));
      point(fork, here());
    }
    for (u32 end : ends) point(end, here());
    return {};
  }

  Status repeat(const Node& node) {
    const Node& item = node.children[0];
    std::array<bool, 256> unused{};
    if (node.max > 1 && starts(item, unused))
      return regex::refuse(out_.expression_, node.at, "a repetition of something that can be empty");
    if (item.kind == Node::set) {
      add({.op = Instruction::run, .greed = node.greed, .set = set(item.chars), .min = node.min, .max = node.max});
      return {};
    }
    if (node.greed == Greed::possessive) {
      Node greedy = node;
      greedy.greed = Greed::greedy;
      return inner(Instruction::atomic, greedy, false);
    }
    for (u32 i = 0; i < node.min; ++i) TRY_DO(emit(item));
    const bool endless = node.max == Node::unlimited;
    std::vector<u32> exits;
    const u32 start = here();
    for (u32 i = node.min; i < (endless ? node.min + 1 : node.max); ++i) {
      // The first choice is the next instruction: another item, or for a lazy repetition the way out.
      const u32 fork = add({.op = Instruction::fork});
      if (node.greed == Greed::lazy) {
        exits.push_back(add({.op = Instruction::jump}));
        point(fork, here());
      } else {
        exits.push_back(fork);
      }
      TRY_DO(emit(item));
    }
    if (endless) point(add({.op = Instruction::jump}), start);
    for (u32 exit : exits) point(exit, here());
    return {};
  }

  // Marks the bytes that a match can start with; true if there may be none.
  static bool starts(const Node& node, std::array<bool, 256>& bytes) {
    switch (node.kind) {
      case Node::set:
        for (const CharSet::Range& r : node.chars.ranges()) {
          for (u32 c = r.first; c <= std::min(r.last, 127u); ++c) bytes[c] = true;
          if (r.last >= 128) std::fill(bytes.begin() + 128, bytes.end(), true);
        }
        return false;
      case Node::sequence:
        for (const Node& child : node.children)
          if (!starts(child, bytes)) return false;
        return true;
      case Node::alternation: {
        bool empty = false;
        for (const Node& child : node.children) empty |= starts(child, bytes);
        return empty;
      }
      case Node::repeat: return starts(node.children[0], bytes) || node.min == 0;
      case Node::atomic: return starts(node.children[0], bytes);
      case Node::look_ahead:
      case Node::line_start:
      case Node::line_end:
      case Node::word_boundary: return true;
    }
    return true;
  }

  Pattern& out_;
  std::map<std::vector<u32>, u32> known_;
};

Result<Pattern> Pattern::compile(std::string_view expression) {
  Pattern out;
  out.expression_ = expression;
  TRY(const Node root, regex::parse(expression, regex::Dialect::oniguruma));
  TRY_DO(Compiler(out).all(root));
  return out;
}

Result<Pattern> Pattern::literal(std::string_view text) {
  std::string escaped;
  for (char c : text) {
    if (std::string_view("\\^$.|?*+()[]{}").find(c) != std::string_view::npos) escaped += '\\';
    escaped += c;
  }
  return compile(escaped);
}

}  // namespace pteron::tokenizer
