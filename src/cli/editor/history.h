// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <pteron/types.h>

#include <string>
#include <vector>

namespace pteron::cli {

// What was typed before, also in earlier sessions. A file that can't be read or written is as good as none.
class History {
 public:
  // An empty path: nothing is kept.
  explicit History(std::string file);

  // Texts that repeat the one before are not added.
  void add(const std::string& text);

  size_t size() const { return entries_.size(); }
  const std::string& operator[](size_t i) const { return entries_[i]; }  // the oldest first

 private:
  std::string file_;
  std::vector<std::string> entries_;
};

}  // namespace pteron::cli
