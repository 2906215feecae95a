// SPDX-License-Identifier: BSD-3-Clause
// What a terminal sends, as keys.
#pragma once

#include <optional>
#include <string>

namespace pteron::cli {

enum class KeyKind {
  text,  // typed or pasted
  unknown,
  enter,
  new_line,
  left,
  right,
  up,
  down,
  home,
  end,
  word_left,
  word_right,
  backspace,
  erase,
  kill_to_end,
  kill_to_start,
  kill_word_before,
  kill_word_behind,
  yank,
  swap,
  clear_screen,
  interrupt,
  end_of_input,
  suspend,
};

struct Key {
  KeyKind kind = KeyKind::unknown;
  std::string text;  // valid UTF-8; lines end with \n
};

class KeyReader {
 public:
  // Waits for a key; nothing if the terminal is gone. Text that came at once is one key.
  std::optional<Key> next();

 private:
  bool fill(int timeout_ms);
  std::optional<char> byte(int timeout_ms);
  Key text();
  Key pasted();
  Key escape();
  Key sequence();

  std::string waiting_;
  size_t at_ = 0;
};

}  // namespace pteron::cli
