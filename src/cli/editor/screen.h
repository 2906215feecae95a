// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "cli/editor/line.h"

#include <vector>

namespace pteron::cli {

struct ScreenSize {
  u32 columns = 80, rows = 24;
};

// How a prompt and a line are laid out in rows, and where the cursor is.
struct Layout {
  std::vector<std::string> rows;
  size_t row = 0, column = 0;
};
Layout lay_out(std::string_view prompt, const Line& line, u32 columns);

// The rows of a terminal that a line takes while it is edited.
class Screen {
 public:
  // What to print to show the line instead of what was shown before.
  std::string show(std::string_view prompt, const Line& line, ScreenSize size);
  // The cursor goes below the line, which stays.
  std::string leave(std::string_view prompt, const Line& line, ScreenSize size);

 private:
  std::string draw(const Layout& layout, ScreenSize size);

  size_t cursor_row_ = 0;  // of what is shown
};

}  // namespace pteron::cli
