// SPDX-License-Identifier: BSD-3-Clause
#include "llm/tokenizer/normalizer.h"

#include "base/error.h"
#include "base/utf8.h"
#include "llm/tokenizer/bert_text.h"

namespace pteron::tokenizer {
namespace {

constexpr std::string_view lower_block = "\xE2\x96\x81";  // U+2581, which stands for a space

std::string_view strip(std::string_view text, const Strip& sides) {
  const auto space_at = [&](size_t at) { return unicode::is_space(utf8::peek(text, at).code); };
  while (sides.left && !text.empty() && space_at(0)) text.remove_prefix(utf8::peek(text, 0).size);
  while (sides.right && !text.empty() && space_at(utf8::before(text, text.size())))
    text = text.substr(0, utf8::before(text, text.size()));
  return text;
}

Result<std::string> replace_matches(std::string_view text, const Pattern& pattern, std::string_view with) {
  std::string out;
  PatternBudget budget(text.size());
  Pattern::Search search(pattern, text, budget);
  u32 done = 0;
  while (true) {
    TRY(const auto match, search.next());
    if (!match) break;
    out += text.substr(done, match->begin - done);
    out += with;
    done = match->end;
  }
  return out += text.substr(done);
}

}  // namespace

std::string replace_all(std::string_view text, std::string_view from, std::string_view to) {
  std::string out;
  if (from.empty()) return out = text;
  out.reserve(text.size());
  size_t done = 0;
  for (size_t at = text.find(from); at != std::string_view::npos; at = text.find(from, done)) {
    out += text.substr(done, at - done);
    out += to;
    done = at + from.size();
  }
  return out += text.substr(done);
}

Result<Normalizer::Step> Normalizer::build_step(const NormalizerStep& step, const Definition& definition) {
  const auto replace = [](const Replace& s) -> Result<Step> {
    if (!s.what.regex) return s;
    TRY(Pattern pattern, Pattern::compile(s.what.text));
    return RegexReplace{std::move(pattern), s.with};
  };
  const auto sentence_piece = [&](const SentencePieceRules& s) -> Result<Step> {
    TRY(Charsmap charsmap, Charsmap::parse(s.charsmap));
    std::vector<Trie::Entry> spared;
    for (u32 id = 0; id < definition.model.types.size(); ++id)
      if (definition.model.types[id] == PieceType::user_defined) spared.push_back({definition.vocabulary.text(id), id});
    return SentencePiece{s, std::move(charsmap), Trie::build(std::move(spared))};
  };
  return std::visit(Overloaded{replace, sentence_piece, [](const auto& s) -> Result<Step> { return s; }}, step);
}

Result<Normalizer> Normalizer::build(const Definition& definition) {
  Normalizer out;
  for (const NormalizerStep& step : definition.normalizer) {
    TRY(Step built, build_step(step, definition));
    out.steps_.push_back(std::move(built));
  }
  return out;
}

Result<std::string> Normalizer::run(std::string_view text) const {
  Result<std::string> out = std::string(text);
  const Overloaded apply{
      [&](const NormalForm& s) { out = unicode::normalize(*out, s.form); },
      [&](const Lowercase&) { out = unicode::to_lowercase(*out); },
      [&](const Strip& s) { out = std::string(strip(*out, s)); },
      [&](const Prepend& s) { out = out->empty() ? "" : s.text + *out; },
      [&](const Replace& s) { out = replace_all(*out, s.what.text, s.with); },
      [&](const RegexReplace& s) { out = replace_matches(*out, s.pattern, s.with); },
      [&](const BertText& s) { out = bert_text(*out, s); },
      [&](const SentencePiece& s) { out = s.run(*out); },
  };
  for (const Step& step : steps_) {
    std::visit(apply, step);
    if (!out) break;
  }
  return out;
}

// The next bit of text and how many bytes of the original it stands for.
Normalizer::SentencePiece::Step Normalizer::SentencePiece::next(std::string_view text, size_t at) const {
  if (const Trie::Match m = spared.longest(text, at); m.length > 0) return {text.substr(at, m.length), m.length};
  if (const Charsmap::Match m = charsmap.longest(text, at); m.length > 0) return {m.replacement, m.length};
  const u32 size = utf8::peek(text, at).size;
  return {text.substr(at, size), size};
}

std::string Normalizer::SentencePiece::run(std::string_view text) const {
  const std::string_view space = rules.escape_whitespaces ? lower_block : " ";
  size_t at = 0;
  if (rules.remove_extra_whitespaces)
    while (at < text.size()) {
      const Step step = next(text, at);
      if (step.text != " ") break;
      at += step.taken;
    }
  std::string out;
  if (at >= text.size()) return out;
  out.reserve(text.size() * 2);
  if (rules.add_dummy_prefix && !rules.whitespace_as_suffix) out += space;
  bool after_space = rules.remove_extra_whitespaces;
  while (at < text.size()) {
    const Step step = next(text, at);
    std::string_view bit = step.text;
    while (after_space && bit.starts_with(' ')) bit.remove_prefix(1);
    for (const char c : bit) {
      if (c == ' ')
        out += space;
      else
        out += c;
    }
    if (!bit.empty()) after_space = rules.remove_extra_whitespaces && bit.ends_with(' ');
    at += step.taken;
  }
  if (rules.remove_extra_whitespaces)
    while (out.ends_with(space)) out.erase(out.size() - space.size());
  if (rules.add_dummy_prefix && rules.whitespace_as_suffix) out += space;
  return out;
}

}  // namespace pteron::tokenizer
