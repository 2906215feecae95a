// SPDX-License-Identifier: BSD-3-Clause
#include "cli/editor/line_editor.h"

#include "cli/editor/terminal.h"

#include <cstdio>

namespace pteron::cli {

using terminal::screen_size;

LineEditor::Typed LineEditor::read(std::string_view prompt) {
  std::optional<terminal::RawMode> raw(std::in_place);
  Screen screen;
  line_.set("");
  recalled_ = history_.size();
  for (;;) {
    std::fputs(screen.show(prompt, line_, screen_size()).c_str(), stderr);
    std::fflush(stderr);
    const auto key = keys_.next();
    if (key && key->kind == KeyKind::clear_screen) {
      std::fputs("\x1b[H\x1b[2J", stderr);
      screen = {};
      continue;
    }
    if (key && key->kind == KeyKind::suspend) {
      raw.reset();
      terminal::suspend();
      raw.emplace();
      screen = {};
      continue;
    }
    const auto end = key ? press(*key) : End::end_of_input;
    if (!end) continue;
    std::fputs(screen.leave(prompt, line_, screen_size()).c_str(), stderr);
    if (*end == End::entered && !line_.text().empty()) history_.add(line_.text());
    return {*end, line_.text()};
  }
}

std::optional<LineEditor::End> LineEditor::press(const Key& key) {
  switch (key.kind) {
    case KeyKind::text: line_.insert(key.text); break;
    case KeyKind::unknown:
    case KeyKind::clear_screen:
    case KeyKind::suspend: break;
    case KeyKind::enter: return End::entered;
    case KeyKind::new_line: line_.insert("\n"); break;
    case KeyKind::left: line_.left(); break;
    case KeyKind::right: line_.right(); break;
    case KeyKind::up:
      if (!line_.up()) recall(true);
      break;
    case KeyKind::down:
      if (!line_.down()) recall(false);
      break;
    case KeyKind::home: line_.home(); break;
    case KeyKind::end: line_.end(); break;
    case KeyKind::word_left: line_.word_left(); break;
    case KeyKind::word_right: line_.word_right(); break;
    case KeyKind::backspace: line_.erase_before(); break;
    case KeyKind::erase: line_.erase_behind(); break;
    case KeyKind::kill_to_end: line_.kill_to_end(); break;
    case KeyKind::kill_to_start: line_.kill_to_start(); break;
    case KeyKind::kill_word_before: line_.kill_word_before(); break;
    case KeyKind::kill_word_behind: line_.kill_word_behind(); break;
    case KeyKind::yank: line_.yank(); break;
    case KeyKind::swap: line_.swap_characters(); break;
    case KeyKind::interrupt:
      if (line_.text().empty()) return End::interrupted;
      line_.set("");
      recalled_ = history_.size();
      break;
    case KeyKind::end_of_input:
      if (line_.text().empty()) return End::end_of_input;
      line_.erase_behind();
      break;
  }
  return std::nullopt;
}

void LineEditor::recall(bool older) {
  if (older ? recalled_ == 0 : recalled_ == history_.size()) return;
  if (recalled_ == history_.size()) draft_ = line_.text();
  recalled_ += older ? size_t(-1) : 1;
  line_.set(recalled_ == history_.size() ? draft_ : history_[recalled_]);
}

}  // namespace pteron::cli
