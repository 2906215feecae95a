// SPDX-License-Identifier: BSD-3-Clause
// Reads {"name": "…", "arguments": {…}} as it arrives.
#pragma once

#include <pteron/types.h>

#include <optional>
#include <string>
#include <string_view>

namespace pteron::server {

class CallReader {
 public:
  enum class State { reading, complete, malformed };

  // Reads as far as the object goes; the number of bytes taken.
  size_t feed(std::string_view text);
  State state() const { return state_; }

  // Once it is known; a call without one is malformed.
  const std::optional<std::string>& name() const { return name_; }
  // What has arrived of the arguments and was not taken yet, as it stands in the text. Nothing before the name is
  // known.
  std::string take_arguments();

 private:
  enum class Place { before, key_or_end, key, in_key, colon, before_value, value, after_value };

  void step(char c);
  void begin_value(char c);
  void step_value(char c);
  void end_value();

  State state_ = State::reading;
  Place place_ = Place::before;
  std::string key_, value_, arguments_;
  u32 depth_ = 0;
  bool quoted_ = false, escaped_ = false, is_arguments_ = false, has_arguments_ = false;
  std::optional<std::string> name_;
};

}  // namespace pteron::server
