// SPDX-License-Identifier: BSD-3-Clause
#include "cli/editor/history.h"

#include "base/utf8.h"

#include <fcntl.h>
#include <unistd.h>
#include <filesystem>
#include <fstream>

namespace pteron::cli {
namespace {

namespace fs = std::filesystem;

constexpr size_t most_entries = 1000;
constexpr u64 largest_file = 1 << 20;

// One line in the file.
std::string escaped(const std::string& text) {
  std::string out;
  for (char c : text) {
    if (c == '\n')
      out += "\\n";
    else
      out += c == '\\' ? "\\\\" : std::string(1, c);
  }
  return out;
}

std::string unescaped(const std::string& line) {
  std::string out;
  for (size_t i = 0; i < line.size(); ++i) {
    const bool special = line[i] == '\\' && i + 1 < line.size();
    const char c = special ? line[++i] : line[i];
    out += special && c == 'n' ? '\n' : c;
  }
  return out;
}

// Only the user may read it.
void write(const std::string& path, const std::string& text, int how) {
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | how, 0600);
  if (file < 0) return;
  // A history that lacks a line is no harm.
  [[maybe_unused]] const ssize_t written = ::write(file, text.data(), text.size());
  close(file);
}

}  // namespace

History::History(std::string file) : file_(std::move(file)) {
  std::error_code none;
  if (file_.empty()) return;
  fs::create_directories(fs::path(file_).parent_path(), none);
  const u64 size = fs::is_regular_file(file_, none) ? fs::file_size(file_, none) : 0;
  std::ifstream in(file_, std::ios::binary);
  std::string line;
  if (size > largest_file) {
    in.seekg(-std::streamoff(largest_file), std::ios::end);
    std::getline(in, line);  // a part of one
  }
  while (size > 0 && std::getline(in, line))
    if (utf8::valid(line)) entries_.push_back(unescaped(line));
  if (entries_.size() <= 2 * most_entries && size <= largest_file) return;
  if (entries_.size() > most_entries) entries_.erase(entries_.begin(), entries_.end() - most_entries);
  std::string text;
  for (const std::string& entry : entries_) text += escaped(entry) + '\n';
  write(file_, text, O_TRUNC);
}

void History::add(const std::string& text) {
  if (!entries_.empty() && entries_.back() == text) return;
  entries_.push_back(text);
  if (!file_.empty()) write(file_, escaped(text) + '\n', O_APPEND);
}

}  // namespace pteron::cli
