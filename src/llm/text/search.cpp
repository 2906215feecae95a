// SPDX-License-Identifier: BSD-3-Clause
#include "llm/text/search.h"

namespace pteron {
namespace {

// Up to this size the library's search is fast, and not slow enough in its worst case to matter.
constexpr size_t short_size = 32;

template <class Found>
void search(std::string_view text, std::string_view wanted, size_t from, const Found& found) {
  const std::vector<u32> border = borders(wanted);
  size_t matched = 0;
  for (size_t i = from; i < text.size(); ++i) {
    while (matched > 0 && (matched == wanted.size() || wanted[matched] != text[i])) matched = border[matched];
    if (wanted[matched] == text[i]) ++matched;
    if (matched == wanted.size() && !found(i + 1 - matched)) return;
  }
}

}  // namespace

std::vector<u32> borders(std::string_view text) {
  std::vector<u32> border(text.size() + 1, 0);
  for (u32 i = 1, k = 0; i < text.size(); ++i) {
    while (k > 0 && text[i] != text[k]) k = border[k];
    if (text[i] == text[k]) ++k;
    border[i + 1] = k;
  }
  return border;
}

size_t find_text(std::string_view text, std::string_view wanted, size_t from) {
  if (wanted.size() <= short_size) return text.find(wanted, from);
  size_t place = std::string_view::npos;
  search(text, wanted, from, [&](size_t at) {
    place = at;
    return false;
  });
  return place;
}

size_t find_last_text(std::string_view text, std::string_view wanted) {
  if (wanted.size() <= short_size) return text.rfind(wanted);
  size_t place = std::string_view::npos;
  search(text, wanted, 0, [&](size_t at) {
    place = at;
    return true;
  });
  return place;
}

}  // namespace pteron
