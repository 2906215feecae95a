// SPDX-License-Identifier: BSD-3-Clause
#include "cli/command.h"

#include <CLI/CLI.hpp>

namespace pteron::cli {

Option& Option::required() { return option_->required(), *this; }
Option& Option::check(std::function<std::string(const std::string&)> problem_of) {
  return option_->check(std::move(problem_of)), *this;
}
Option& Option::one_of(std::vector<std::string> words) {
  return option_->check(CLI::IsMember(std::move(words))), *this;
}
Option& Option::separated_by(char delimiter) { return option_->delimiter(delimiter), *this; }
Option& Option::once_each() { return option_->allow_extra_args(false), *this; }
Option& Option::excludes(const Option& other) { return option_->excludes(other.option_), *this; }
Option& Option::show_default() { return option_->capture_default_str(), *this; }

Command* Command::add_subcommand(const std::string& name, const std::string& help) {
  return subcommands_.emplace_back(std::make_unique<Command>(*app_.add_subcommand(name, help))).get();
}

Option Command::add_option(const std::string& names, OptionValue value, const std::string& help) {
  return Option(std::visit([&](auto* target) { return app_.add_option(names, *target, help); }, value));
}

void Command::add_flag(const std::string& names, bool* value, const std::string& help) {
  app_.add_flag(names, *value, help);
}

void Command::callback(std::function<void()> run) { app_.callback(std::move(run)); }

}  // namespace pteron::cli
