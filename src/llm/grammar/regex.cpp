// SPDX-License-Identifier: BSD-3-Clause
#include "llm/grammar/regex.h"

#include "base/error.h"

#include <pteron/grammar.h>

namespace pteron::grammar {

void RegexWriter::write(StateId from, StateId to, const Regex& regex) {
  switch (regex.kind) {
    case Regex::set: return characters_.write(from, to, regex.characters);
    case Regex::repeat: return write_repeat(from, to, regex);
    case Regex::choice:
      for (const Regex& part : regex.parts) write(from, to, part);
      return;
    case Regex::sequence:
      if (regex.parts.empty()) return builder_.jump(from, to);
      for (size_t i = 0; i < regex.parts.size(); ++i) {
        const StateId next = i + 1 == regex.parts.size() ? to : builder_.state();
        write(from, next, regex.parts[i]);
        from = next;
      }
  }
}

void RegexWriter::write_repeat(StateId from, StateId to, const Regex& regex) {
  const Regex& part = regex.parts[0];
  if (regex.maximum == 1 && regex.minimum == 0) {
    builder_.jump(from, to);
    return write(from, to, part);
  }
  if (regex.maximum == Builder::unbounded && regex.minimum <= 1) {
    const StateId before = builder_.state(), behind = regex.minimum == 1 ? builder_.state() : before;
    builder_.jump(from, before);
    write(before, behind, part);
    builder_.jump(behind, before);
    return builder_.jump(behind, to);
  }
  // Counted: each time is one edge that calls the part, so that counts inside of counts add up and don't multiply.
  const RuleId rule = builder_.rule();
  write(builder_[rule].start, builder_[rule].end, part);
  builder_.repeat(from, to, rule, regex.minimum, regex.maximum);
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
