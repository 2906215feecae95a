// SPDX-License-Identifier: BSD-3-Clause
// Finds stop strings in text that arrives in pieces.
#pragma once

#include <pteron/result.h>
#include <pteron/types.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pteron {

// What comes out never holds a part of the stop string that was found, nor half a character, and does not depend on how
// the text was cut into pieces. The stop string that is complete first counts; of several that end together, the
// longest.
class StopMatcher {
 public:
  // Stop strings are valid UTF-8 and not empty.
  static Result<StopMatcher> create(std::vector<std::string> stops);

  // The text that can be shown now. What may be the beginning of a stop string is held back.
  std::string feed(std::string_view piece);
  // At the end of the text: what was held back, or nothing if a stop string was found.
  std::string finish();
  void reset();

  // The index of the stop string that was found. Whatever is fed after it is ignored.
  std::optional<u32> found() const { return found_; }

 private:
  struct Stop {
    std::string text;
    std::vector<u32> border;  // of each prefix: the length of its longest proper suffix that is also a prefix
    u32 matched = 0;          // bytes of `text` that the input ends with
  };

  explicit StopMatcher(std::vector<Stop> stops) : stops_(std::move(stops)) {}
  bool advance(char byte);

  std::vector<Stop> stops_;
  std::string held_;
  std::optional<u32> found_;
};

}  // namespace pteron
