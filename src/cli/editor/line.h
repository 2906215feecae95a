// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <pteron/types.h>

#include <string>
#include <string_view>

namespace pteron::cli {

// A text that is being typed: valid UTF-8, possibly of several lines, with a cursor between two characters.
class Line {
 public:
  const std::string& text() const { return text_; }
  size_t cursor() const { return cursor_; }  // in bytes

  // The cursor goes to the end.
  void set(std::string text);
  void insert(std::string_view text);

  void left();
  void right();
  void word_left();
  void word_right();
  void home();  // of the line that the cursor is on
  void end();
  // To the same column of the line above or below; false if there is none.
  bool up();
  bool down();

  void erase_before();
  void erase_behind();
  // What these take away comes back with `yank`.
  void kill_to_end();
  void kill_to_start();
  void kill_word_before();  // back to white space
  void kill_word_behind();
  void yank() { insert(killed_); }
  void swap_characters();

 private:
  void cut(size_t from, size_t to, bool keep);
  size_t line_start(size_t at) const;
  size_t line_end(size_t at) const;
  size_t clusters_between(size_t from, size_t to) const;
  size_t forward(size_t from, size_t clusters, size_t limit) const;

  std::string text_, killed_;
  size_t cursor_ = 0;
};

}  // namespace pteron::cli
