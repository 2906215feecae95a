// SPDX-License-Identifier: BSD-3-Clause
// Options of a load by their names: for command lines, plugins, other languages and pages, which all have the same.
#pragma once

#include <pteron/program.h>

#include <variant>

namespace pteron {

struct OptionInfo {
  std::string_view name;  // "disable_passes"; "disable-passes" and "disablePasses" are the same
  enum Kind { flag, text, list, number } kind = text;
  std::string_view what;  // for a help text
  std::string_view also;  // other names, separated by spaces
  // How a command line has it: "--adapter"; a flag that is "--no-…" switches off; a flag with words takes one of them.
  std::string_view argument;
  std::string_view off = "false", on = "true";  // the words of a flag
};
// In the order in which a help text should have them.
std::span<const OptionInfo> load_option_names();

// A text stands for a flag if it is one of its words, and for a list if its items are separated by commas.
using OptionValue = std::variant<bool, i64, std::string, std::vector<std::string>>;
// Unknown names and values of a wrong kind are errors that say what is possible.
Status set_option(LoadOptions& options, std::string_view name, const OptionValue& value);

}  // namespace pteron
