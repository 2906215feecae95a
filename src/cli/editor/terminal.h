// SPDX-License-Identifier: BSD-3-Clause
// The terminal that lines are typed at; one implementation file per system.
#pragma once

#include "cli/editor/screen.h"

#include <memory>
#include <optional>
#include <string>

namespace pteron::cli::terminal {

// Whether standard input and standard error are a terminal that can move its cursor.
bool available();

// What ends the input of a terminal.
extern const char* const end_keys;

// Where `available` says no: a line of any length, as it was typed or as it stands in a file. Nothing at the end of the
// input or if Ctrl-C broke it off.
std::optional<std::string> read_line();

// While it lives, the terminal gives keys as they are pressed, and marks what is pasted.
class RawMode {
 public:
  RawMode();
  ~RawMode();
  RawMode(const RawMode&) = delete;
  RawMode& operator=(const RawMode&) = delete;

 private:
  struct Before;
  std::unique_ptr<Before> before_;
};

// What was typed: UTF-8, with the sequences that terminals send for keys. Empty if nothing came in time, or if the
// terminal is gone.
constexpr int for_ever = -1;
std::string read(int timeout_ms);

ScreenSize screen_size();

// Gives the terminal back to the shell until the user goes on, where shells can do that.
void suspend();

}  // namespace pteron::cli::terminal
