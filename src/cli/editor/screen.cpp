// SPDX-License-Identifier: BSD-3-Clause
#include "cli/editor/screen.h"

#include "base/error.h"
#include "cli/editor/text_width.h"

#include <algorithm>

namespace pteron::cli {
namespace {

// Control characters are shown, not sent; a tab is some spaces.
std::pair<std::string, u32> shown(std::string_view cluster, u32 columns) {
  const u8 first = u8(cluster[0]);
  if (first == '\t') return {"    ", 4};
  if (first < ' ' || first == 0x7F) return {{'^', char(first ^ 0x40)}, 2};
  if (first == 0xC2 && cluster.size() == 2 && u8(cluster[1]) < 0xA0) return {"?", 1};  // C1 controls
  return {std::string(cluster), columns};
}

}  // namespace

Layout lay_out(std::string_view prompt, const Line& line, u32 columns) {
  Layout out;
  const std::string_view text = line.text();
  const std::string indent(prompt.size(), ' ');
  out.rows.emplace_back(prompt);
  size_t column = prompt.size();
  const auto mark = [&] { out.row = out.rows.size() - 1, out.column = std::min<size_t>(column, columns - 1); };
  const auto start_row = [&](std::string start) { column = start.size(), out.rows.push_back(std::move(start)); };
  for (size_t at = 0; at < text.size();) {
    const Cluster cluster = cluster_at(text, at);
    const bool here = line.cursor() - at < cluster.size;  // also inside of a cluster
    if (text[at] == '\n') {
      if (here) mark();
      start_row(indent);
    } else {
      const auto [form, width] = shown(text.substr(at, cluster.size), cluster.columns);
      if (column + width > columns) start_row("");
      if (here) mark();
      out.rows.back() += form;
      column += width;
    }
    at += cluster.size;
  }
  if (column >= columns) start_row("");
  if (line.cursor() == text.size()) mark();
  return out;
}

std::string Screen::draw(const Layout& layout, ScreenSize size) {
  std::string out;
  if (cursor_row_ > 0) out += str("\x1b[", cursor_row_, "A");
  out += "\r\x1b[J";
  // Of a text that is too tall, the part around the cursor.
  const size_t height = std::max<size_t>(size.rows, 2) - 1;
  const size_t first = layout.row < height ? 0 : layout.row - height + 1;
  const size_t last = std::min(layout.rows.size(), first + height) - 1;
  for (size_t row = first; row <= last; ++row) out += (row > first ? "\r\n" : "") + layout.rows[row];
  if (last > layout.row) out += str("\x1b[", last - layout.row, "A");
  out += "\r";
  if (layout.column > 0) out += str("\x1b[", layout.column, "C");
  cursor_row_ = layout.row - first;
  return out;
}

std::string Screen::show(std::string_view prompt, const Line& line, ScreenSize size) {
  return draw(lay_out(prompt, line, size.columns), size);
}

std::string Screen::leave(std::string_view prompt, const Line& line, ScreenSize size) {
  Line at_its_end = line;
  at_its_end.set(line.text());
  std::string out = show(prompt, at_its_end, size) + "\r\n";
  cursor_row_ = 0;
  return out;
}

}  // namespace pteron::cli
