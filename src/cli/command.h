// SPDX-License-Identifier: BSD-3-Clause
// Commands and their options. CLI11 does the work, behind this header because a file that sees it takes 15 seconds to
// compile.
#pragma once

#include <pteron/types.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace pteron::cli {

// What an option is stored in. Lists take several values, optional ones know whether they were given.
using OptionValue = std::variant<std::string*, std::optional<std::string>*, std::vector<std::string>*,
                                 std::vector<u32>*, u32*, u64*, std::optional<u32>*, std::optional<u64>*, f32*>;

class Option {
 public:
  explicit Option(CLI::Option* option) : option_(option) {}
  Option* operator->() { return this; }

  Option& required();
  Option& check(std::function<std::string(const std::string&)> problem_of);  // empty: it is fine
  Option& one_of(std::vector<std::string> words);
  Option& separated_by(char delimiter);
  Option& once_each();  // a list's option takes one value each time
  Option& excludes(const Option& other);
  Option& show_default();

 private:
  CLI::Option* option_;
};

class Command {
 public:
  explicit Command(CLI::App& app) : app_(app) {}
  Command* add_subcommand(const std::string& name, const std::string& help);
  Option add_option(const std::string& names, OptionValue value, const std::string& help);
  void add_flag(const std::string& names, bool* value, const std::string& help);
  void callback(std::function<void()> run);

 private:
  CLI::App& app_;
  std::vector<std::unique_ptr<Command>> subcommands_;
};

}  // namespace pteron::cli
