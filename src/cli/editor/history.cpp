// SPDX-License-Identifier: BSD-3-Clause
#include "cli/editor/history.h"

#include "base/os.h"
#include "base/path.h"
#include "base/utf8.h"

#include <array>
#include <filesystem>
#include <fstream>
#include <tuple>

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

}  // namespace

History::History(std::string file) : file_(std::move(file)) {
  std::error_code none;
  if (file_.empty()) return;
  const fs::path path = os::path(file_);
  fs::create_directories(path.parent_path(), none);
  const u64 size = fs::is_regular_file(path, none) ? fs::file_size(path, none) : 0;
  std::ifstream in(path, std::ios::binary);
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
  in.close();
  std::ignore = os::write_private_file(file_, std::array{std::as_bytes(std::span(text))});
}

void History::add(const std::string& text) {
  if (!entries_.empty() && entries_.back() == text) return;
  entries_.push_back(text);
  const std::string line = escaped(text) + '\n';
  if (!file_.empty()) std::ignore = os::append_private_file(file_, std::as_bytes(std::span(line)));
}

}  // namespace pteron::cli
