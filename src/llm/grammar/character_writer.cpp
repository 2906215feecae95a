// SPDX-License-Identifier: BSD-3-Clause
#include "llm/grammar/character_writer.h"

#include "base/utf8.h"
#include "llm/json/json.h"

#include <algorithm>

namespace pteron::grammar {
namespace {

struct ByteRange {
  u8 first, last;
  auto operator<=>(const ByteRange&) const = default;
};
using BytePath = std::vector<ByteRange>;

// A range of characters as runs of byte ranges: all combinations of a run's bytes are characters of the range.
void add_paths(u32 first, u32 last, std::vector<BytePath>& paths) {
  for (u32 end : {0x7Fu, 0x7FFu, 0xFFFFu})
    if (first <= end && last > end) {
      add_paths(first, end, paths);
      return add_paths(end + 1, last, paths);
    }
  for (u32 i = 1; i < utf8::length_of(first); ++i) {
    const u32 low = (1u << 6 * i) - 1;  // the bits of the last i bytes
    if ((first & ~low) == (last & ~low)) break;
    if ((first & low) != 0) {
      add_paths(first, first | low, paths);
      return add_paths((first | low) + 1, last, paths);
    }
    if ((last & low) != low) {
      add_paths(first, (last & ~low) - 1, paths);
      return add_paths(last & ~low, last, paths);
    }
  }
  std::string from, to;
  utf8::append(from, first);
  utf8::append(to, last);
  BytePath path;
  for (size_t i = 0; i < from.size(); ++i) path.push_back({u8(from[i]), u8(to[i])});
  paths.push_back(std::move(path));
}

CharSet characters() { return CharSet{{0xD800, 0xDFFF}}.complement(); }
CharSet escaped_in_json() { return {{0, 0x1F}, {'"', '"'}, {'\\', '\\'}}; }

}  // namespace

void CharacterWriter::write_utf8(StateId from, StateId to, const CharSet& set) {
  std::vector<BytePath> paths;
  const CharSet valid = set.intersection(characters());
  for (const auto& [first, last] : valid.ranges()) add_paths(first, last, paths);
  std::map<BytePath, StateId> tails;  // states from which the rest of a path leads to the end
  for (const BytePath& path : paths) {
    StateId next = to;
    for (size_t i = path.size(); i-- > 1;) {
      const auto [at, added] = tails.try_emplace(BytePath(path.begin() + i64(i), path.end()));
      if (added) {
        at->second = builder_.state();
        builder_.read(at->second, next, path[i].first, path[i].last);
      }
      next = at->second;
    }
    builder_.read(from, next, path[0].first, path[0].last);
  }
}

void CharacterWriter::write_escapes(StateId from, StateId to, const CharSet& set) {
  std::vector<std::string> escapes;
  for (const auto& [first, last] : set.ranges())
    for (u32 c = first; c <= last; ++c) {
      std::string character, quoted;
      utf8::append(character, c);
      quoted = json_quoted(character);
      escapes.push_back(quoted.substr(1, quoted.size() - 2));
    }
  builder_.any_of(from, to, escapes);
}

void CharacterWriter::write(StateId from, StateId to, const CharSet& set) {
  const bool escapes = form_ == in_json_string && !set.intersection(escaped_in_json()).empty();
  if (set.is_ascii() && set.ranges().size() <= 4 && !escapes)
    write_utf8(from, to, set);
  else
    builder_.call(from, to, rule_of(set));
}

RuleId CharacterWriter::rule_of(const CharSet& set) {
  std::vector<std::pair<u32, u32>> key;
  for (const auto& [first, last] : set.ranges()) key.emplace_back(first, last);
  const auto found = rules_.find(key);
  if (found != rules_.end()) return found->second;
  const RuleId rule = builder_.rule();
  rules_.emplace(std::move(key), rule);
  const auto [start, end] = builder_[rule];
  if (form_ == plain) {
    write_utf8(start, end, set);
    return rule;
  }
  write_utf8(start, end, set.intersection(escaped_in_json().complement()));
  const CharSet escaped = set.intersection(escaped_in_json());
  if (escaped == escaped_in_json() && set != escaped)
    builder_.call(start, end, rule_of(escaped));
  else
    write_escapes(start, end, escaped);
  return rule;
}

}  // namespace pteron::grammar
