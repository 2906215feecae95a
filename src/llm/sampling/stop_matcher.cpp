// SPDX-License-Identifier: BSD-3-Clause
#include <pteron/stop_matcher.h>

#include "base/error.h"
#include "base/utf8.h"
#include "llm/text/search.h"

#include <algorithm>
#include <utility>

namespace pteron {
namespace {

constexpr size_t max_stops = 64, max_stop_bytes = 4096;

}  // namespace

Result<StopMatcher> StopMatcher::create(std::vector<std::string> stops) {
  if (stops.size() > max_stops) return invalid(stops.size(), " stop strings are given; at most ", max_stops, " can be");
  std::vector<Stop> built;
  for (std::string& stop : stops) {
    if (stop.empty()) return invalid("stop string ", built.size(), " is empty");
    if (stop.size() > max_stop_bytes)
      return invalid("stop string ", built.size(), " has ", stop.size(), " bytes; at most ", max_stop_bytes,
                     " are possible");
    if (!utf8::valid(stop)) return invalid("stop string ", built.size(), " is not valid UTF-8");
    auto border = borders(stop);
    built.push_back({std::move(stop), std::move(border)});
  }
  return StopMatcher(std::move(built));
}

// Whether a stop string ends with this byte; found_ then says which.
bool StopMatcher::advance(char byte) {
  for (u32 i = 0; i < stops_.size(); ++i) {
    Stop& stop = stops_[i];
    while (stop.matched > 0 && stop.text[stop.matched] != byte) stop.matched = stop.border[stop.matched];
    if (stop.text[stop.matched] == byte) ++stop.matched;
    if (stop.matched == stop.text.size() && (!found_ || stop.text.size() > stops_[*found_].text.size())) found_ = i;
  }
  return found_.has_value();
}

std::string StopMatcher::feed(std::string_view piece) {
  if (found_) return {};
  for (char byte : piece) {
    held_ += byte;
    if (!advance(byte)) continue;
    held_.resize(held_.size() - stops_[*found_].text.size());
    return std::exchange(held_, {});
  }
  size_t hold = utf8::unfinished(held_);
  for (const Stop& stop : stops_) hold = std::max<size_t>(hold, stop.matched);
  std::string shown = held_.substr(0, held_.size() - hold);
  held_.erase(0, shown.size());
  return shown;
}

std::string StopMatcher::finish() { return std::exchange(held_, {}); }

void StopMatcher::reset() {
  held_.clear();
  found_.reset();
  for (Stop& stop : stops_) stop.matched = 0;
}

}  // namespace pteron
