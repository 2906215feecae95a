// SPDX-License-Identifier: BSD-3-Clause
#include "cli/editor/line.h"

#include "base/utf8.h"
#include "cli/editor/text_width.h"
#include "llm/text/characters.h"

#include <algorithm>

namespace pteron::cli {
namespace {

bool space_at(std::string_view text, size_t at) { return is_space(utf8::peek(text, at).code); }
bool word_at(std::string_view text, size_t at) { return is_word(utf8::peek(text, at).code); }

// Where the last run of characters of a kind in front of `at` starts.
template <class Kind>
size_t run_before(std::string_view text, size_t at, Kind kind) {
  size_t start = 0;
  bool inside = false;
  for (size_t i = 0; i < at; i += cluster_at(text, i).size) {
    const bool belongs = kind(text, i);
    if (belongs && !inside) start = i;
    inside = belongs;
  }
  return start;
}

size_t word_end_behind(std::string_view text, size_t at) {
  while (at < text.size() && !word_at(text, at)) at += cluster_at(text, at).size;
  while (at < text.size() && word_at(text, at)) at += cluster_at(text, at).size;
  return at;
}

}  // namespace

void Line::set(std::string text) {
  text_ = std::move(text);
  cursor_ = text_.size();
}

void Line::insert(std::string_view text) {
  text_.insert(cursor_, text);
  cursor_ += text.size();
}

void Line::left() { cursor_ = cluster_before(text_, cursor_); }
void Line::right() {
  if (cursor_ < text_.size()) cursor_ += cluster_at(text_, cursor_).size;
}
void Line::word_left() { cursor_ = run_before(text_, cursor_, word_at); }
void Line::word_right() { cursor_ = word_end_behind(text_, cursor_); }
void Line::home() { cursor_ = line_start(cursor_); }
void Line::end() { cursor_ = line_end(cursor_); }

bool Line::up() {
  const size_t start = line_start(cursor_);
  if (start == 0) return false;
  cursor_ = forward(line_start(start - 1), clusters_between(start, cursor_), start - 1);
  return true;
}

bool Line::down() {
  const size_t end = line_end(cursor_);
  if (end == text_.size()) return false;
  cursor_ = forward(end + 1, clusters_between(line_start(cursor_), cursor_), line_end(end + 1));
  return true;
}

void Line::erase_before() { cut(cluster_before(text_, cursor_), cursor_, false); }
void Line::erase_behind() {
  if (cursor_ < text_.size()) cut(cursor_, cursor_ + cluster_at(text_, cursor_).size, false);
}
void Line::kill_to_end() {
  const size_t end = line_end(cursor_);
  cut(cursor_, end == cursor_ ? std::min(end + 1, text_.size()) : end, true);
}
void Line::kill_to_start() { cut(line_start(cursor_), cursor_, true); }
void Line::kill_word_before() {
  cut(run_before(text_, cursor_, [](auto text, size_t at) { return !space_at(text, at); }), cursor_, true);
}
void Line::kill_word_behind() { cut(cursor_, word_end_behind(text_, cursor_), true); }

void Line::swap_characters() {
  if (cursor_ == text_.size()) left();
  if (cursor_ == 0 || text_.empty()) return;
  const size_t first = cluster_before(text_, cursor_), size = cluster_at(text_, cursor_).size;
  std::rotate(text_.begin() + std::ptrdiff_t(first), text_.begin() + std::ptrdiff_t(cursor_),
              text_.begin() + std::ptrdiff_t(cursor_ + size));
  cursor_ += size;
}

void Line::cut(size_t from, size_t to, bool keep) {
  if (from == to) return;
  if (keep) killed_ = text_.substr(from, to - from);
  text_.erase(from, to - from);
  cursor_ = from;
}

size_t Line::line_start(size_t at) const { return text_.substr(0, at).rfind('\n') + 1; }
size_t Line::line_end(size_t at) const { return std::min(text_.find('\n', at), text_.size()); }

size_t Line::clusters_between(size_t from, size_t to) const {
  size_t count = 0;
  for (; from < to; ++count) from += cluster_at(text_, from).size;
  return count;
}

size_t Line::forward(size_t from, size_t clusters, size_t limit) const {
  for (; clusters > 0 && from < limit; --clusters) from += cluster_at(text_, from).size;
  return from;
}

}  // namespace pteron::cli
