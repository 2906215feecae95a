// SPDX-License-Identifier: BSD-3-Clause
// Lines typed at a terminal, with the usual keys and a history.
#pragma once

#include "cli/editor/history.h"
#include "cli/editor/keys.h"
#include "cli/editor/screen.h"

#include <optional>

namespace pteron::cli {

class LineEditor {
 public:
  explicit LineEditor(std::string history_file) : history_(std::move(history_file)) {}

  // Ctrl-C clears the line; with nothing to clear it is `interrupted`. Ctrl-D on an empty line ends the input.
  enum class End { entered, interrupted, end_of_input };
  struct Typed {
    End end = End::entered;
    std::string text;
  };
  Typed read(std::string_view prompt);

 private:
  std::optional<End> press(const Key& key);
  void recall(bool older);

  History history_;
  KeyReader keys_;
  Line line_;
  std::string draft_;  // what was typed before going through the history
  size_t recalled_ = 0;
};

}  // namespace pteron::cli
