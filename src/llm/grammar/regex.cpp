// SPDX-License-Identifier: BSD-3-Clause
#include "llm/grammar/regex.h"

#include "base/error.h"

#include <pteron/grammar.h>

namespace pteron::grammar {

using regex::Node;

static_assert(Builder::unbounded == Node::unlimited);

namespace {

Status check_regular(const Node& node, std::string_view pattern) {
  const auto refuse = [&](std::string_view what) { return regex::refuse(pattern, node.at, what); };
  switch (node.kind) {
    case Node::look_ahead: return refuse("a look at what follows");
    case Node::atomic: return refuse("an atomic group");
    case Node::word_boundary: return refuse("a word boundary");
    case Node::line_start:
    case Node::line_end: return refuse("an anchor that is not at an end");
    case Node::repeat:
      if (node.greed == regex::Greed::possessive) return refuse("a possessive repetition");
      break;
    case Node::set:
    case Node::sequence:
    case Node::alternation: break;
  }
  for (const Node& child : node.children) TRY_DO(check_regular(child, pattern));
  return {};
}

}  // namespace

Result<std::vector<RegexBranch>> parse_regex(std::string_view pattern) {
  TRY(Node root, regex::parse(pattern, regex::Dialect::python));
  std::vector<Node> alternatives;
  if (root.kind == Node::alternation)
    alternatives = std::move(root.children);
  else
    alternatives.push_back(std::move(root));
  std::vector<RegexBranch> branches;
  for (Node& node : alternatives) {
    RegexBranch branch;
    std::vector<Node>& parts = branch.body.children;
    if (node.kind == Node::sequence)
      parts = std::move(node.children);
    else
      parts.push_back(std::move(node));
    branch.from_start = !parts.empty() && parts.front().kind == Node::line_start;
    if (branch.from_start) parts.erase(parts.begin());
    branch.to_end = !parts.empty() && parts.back().kind == Node::line_end;
    if (branch.to_end) parts.pop_back();
    TRY_DO(check_regular(branch.body, pattern));
    branches.push_back(std::move(branch));
  }
  return branches;
}

void RegexWriter::write(StateId from, StateId to, const Node& node) {
  switch (node.kind) {
    case Node::set: return characters_.write(from, to, node.chars);
    case Node::repeat: return write_repeat(from, to, node);
    case Node::alternation:
      for (const Node& part : node.children) write(from, to, part);
      return;
    case Node::sequence:
      if (node.children.empty()) return builder_.jump(from, to);
      for (size_t i = 0; i < node.children.size(); ++i) {
        const StateId next = i + 1 == node.children.size() ? to : builder_.state();
        write(from, next, node.children[i]);
        from = next;
      }
      return;
    default: return;  // parse_regex has refused it
  }
}

void RegexWriter::write_repeat(StateId from, StateId to, const Node& node) {
  const Node& part = node.children[0];
  if (node.max == 1 && node.min == 0) {
    builder_.jump(from, to);
    return write(from, to, part);
  }
  if (node.max == Builder::unbounded && node.min <= 1) {
    const StateId before = builder_.state(), behind = node.min == 1 ? builder_.state() : before;
    builder_.jump(from, before);
    write(before, behind, part);
    builder_.jump(behind, before);
    return builder_.jump(behind, to);
  }
  // Counted: each time is one edge that calls the part, so that counts inside of counts add up and don't multiply.
  const RuleId rule = builder_.rule();
  write(builder_[rule].start, builder_[rule].end, part);
  builder_.repeat(from, to, rule, node.min, node.max);
}

void RegexWriter::match(StateId from, StateId to, const std::vector<RegexBranch>& branches) {
  for (const RegexBranch& branch : branches) write(from, to, branch.body);
}

void RegexWriter::search(StateId from, StateId to, const std::vector<RegexBranch>& branches) {
  for (const RegexBranch& branch : branches) {
    const StateId end = builder_.state();
    write(branch.from_start ? from : anything(from), end, branch.body);
    builder_.jump(branch.to_end ? end : anything(end), to);
  }
}

StateId RegexWriter::anything(StateId from) {
  const StateId loop = builder_.state();
  builder_.jump(from, loop);
  characters_.write(loop, loop, CharSet::all());
  return loop;
}

}  // namespace pteron::grammar

namespace pteron {

Result<Grammar> Grammar::regex(std::string_view pattern) {
  TRY(const auto branches, grammar::parse_regex(pattern));
  grammar::Builder builder;
  grammar::CharacterWriter characters(builder, grammar::CharacterWriter::plain);
  const auto main = builder.rule();
  grammar::RegexWriter(builder, characters).match(builder[main].start, builder[main].end, branches);
  TRY(auto automaton, within(std::move(builder).build(main), "the regular expression '", pattern, "'"));
  return Grammar(std::make_shared<const grammar::Automaton>(std::move(automaton)));
}

}  // namespace pteron
