// SPDX-License-Identifier: BSD-3-Clause
#include "llm/text/unicode.h"

#include "base/utf8.h"

#include <algorithm>
#include <vector>

namespace pteron::unicode {
namespace {

constexpr u32 hangul_first = 0xAC00, hangul_last = 0xD7A3;
constexpr u32 lead_first = 0x1100, vowel_first = 0x1161, tail_first = 0x11A7;
constexpr u32 leads = 19, vowels = 21, tails = 28;

struct Unit {
  u32 code;
  u8 combining_class;
};

template <class Run>
const Run* find_run(std::span<const Run> runs, u32 code) {
  auto after = std::upper_bound(runs.begin(), runs.end(), code, [](u32 c, const Run& run) { return c < run.first; });
  if (after == runs.begin()) return nullptr;
  const Run& run = *--after;
  return code - run.first < run.count ? &run : nullptr;
}

u8 combining_class(u32 code) {
  const CombiningRun* run = find_run(combining_runs, code);
  return run ? run->combining_class : 0;
}

void decompose(u32 code, bool compatibly, std::vector<Unit>& out) {
  if (code < 0xA0) return out.push_back({code, 0});
  if (code >= hangul_first && code <= hangul_last) {
    const u32 s = code - hangul_first;
    out.push_back({lead_first + s / (vowels * tails), 0});
    out.push_back({vowel_first + s % (vowels * tails) / tails, 0});
    if (s % tails != 0) out.push_back({tail_first + s % tails, 0});
    return;
  }
  const Mapping* m = find_run(canonical, code);
  if (!m && compatibly) m = find_run(compatible, code);
  if (!m) return out.push_back({code, combining_class(code)});
  if (m->length == 1) return decompose(m->to + (code - m->first), compatibly, out);
  for (u32 c : mapping_pool.subspan(m->to, m->length)) decompose(c, compatibly, out);
}

// Marks behind a letter go in the order of their classes.
void order_marks(std::vector<Unit>& units) {
  for (auto it = units.begin(); it != units.end();) {
    if (it->combining_class == 0) {
      ++it;
      continue;
    }
    const auto end = std::find_if(it, units.end(), [](const Unit& u) { return u.combining_class == 0; });
    std::stable_sort(it, end, [](const Unit& a, const Unit& b) { return a.combining_class < b.combining_class; });
    it = end;
  }
}

u32 composed(u32 a, u32 b) {
  if (a - lead_first < leads && b - vowel_first < vowels)
    return hangul_first + ((a - lead_first) * vowels + (b - vowel_first)) * tails;
  if (a >= hangul_first && a <= hangul_last && (a - hangul_first) % tails == 0 && b > tail_first &&
      b < tail_first + tails)
    return a + (b - tail_first);
  const auto less = [](const Composition& x, const Composition& y) {
    return x.first != y.first ? x.first < y.first : x.second < y.second;
  };
  const Composition wanted{a, b, 0};
  const auto it = std::lower_bound(compositions.begin(), compositions.end(), wanted, less);
  return it != compositions.end() && it->first == a && it->second == b ? it->composed : 0;
}

void compose(std::vector<Unit>& units) {
  size_t size = 0, starter = SIZE_MAX;
  for (const Unit u : units) {
    // A mark reaches the letter unless one of its own class or higher stands between them.
    const bool blocked =
        starter == SIZE_MAX || (size > starter + 1 && units[size - 1].combining_class >= u.combining_class);
    if (!blocked)
      if (const u32 c = composed(units[starter].code, u.code)) {
        units[starter].code = c;
        continue;
      }
    if (u.combining_class == 0) starter = size;
    units[size++] = u;
  }
  units.resize(size);
}

// Below these, every character is its own normal form and joins with nothing before it.
bool is_plain(std::string_view text, Form form) {
  const u8 limit = form == Form::nfc ? 0xCC : 0x80;  // 0xCC starts U+0300, the first combining mark
  return std::all_of(text.begin(), text.end(), [&](char c) { return u8(c) < limit; });
}

}  // namespace

std::string normalize(std::string_view text, Form form) {
  if (is_plain(text, form)) return std::string(text);
  std::vector<Unit> units;
  units.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    const utf8::Char c = utf8::peek(text, at);
    decompose(c.code, form == Form::nfkd || form == Form::nfkc, units);
    at += c.size;
  }
  order_marks(units);
  if (form == Form::nfc || form == Form::nfkc) compose(units);
  std::string out;
  out.reserve(text.size());
  for (const Unit& u : units) utf8::append(out, u.code);
  return out;
}

bool append_mapped(std::string& out, u32 code, std::span<const Mapping> table) {
  const Mapping* m = find_run(table, code);
  if (!m) return false;
  if (m->length == 1)
    utf8::append(out, m->to + (code - m->first));
  else
    for (u32 c : mapping_pool.subspan(m->to, m->length)) utf8::append(out, c);
  return true;
}

std::string to_lowercase(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    const u32 code = utf8::next(text, at);
    if (!append_mapped(out, code, lowercase)) utf8::append(out, code);
  }
  return out;
}

std::string_view category(u32 code) {
  const auto behind = std::upper_bound(category_runs.begin(), category_runs.end(), code << 5 | 31);
  return category_names[*std::prev(behind) & 31];
}

bool is_space(u32 code) {
  return (code >= 0x09 && code <= 0x0D) || code == 0x20 || code == 0x85 || code == 0xA0 || code == 0x1680 ||
         (code >= 0x2000 && code <= 0x200A) || code == 0x2028 || code == 0x2029 || code == 0x202F || code == 0x205F ||
         code == 0x3000;
}

}  // namespace pteron::unicode
