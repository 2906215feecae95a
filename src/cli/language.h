// SPDX-License-Identifier: BSD-3-Clause
// What the commands for language models share.
#pragma once

#include "cli/cli.h"
#include "cli/interrupts.h"

#include <pteron/chat.h>

#include <nlohmann/json.hpp>

#include <chrono>

namespace pteron::cli {

struct LanguageOptions : Common {
  std::string model, tokenizer, chat_template, system;
  std::optional<std::string> regex, json_schema;  // at most one of them
  std::string on_full = "error";
  std::optional<u64> seed;
  bool stats = false;
  GenerationOptions generation;

  bool slide() const { return on_full == "slide"; }
};

void add_language_flags(Command& command, LanguageOptions& options);

// Announces the GPU.
Result<LanguageModel> load_language_model(const LanguageOptions& options);
// With the grammar and the seed set; a seed that was not given is chosen now.
Result<GenerationOptions> generation_options(LanguageOptions& options);

// Prints an answer while it is made, and measures it.
class Narrator {
 public:
  explicit Narrator(bool print) : print_(print) {}

  // Until the answer is done or Ctrl-C was pressed.
  Status follow(Generation& answer, Interrupts& interrupts);
  // "12 tokens; first after 40.0 ms, then 20.1 tok/s"
  std::string summary(const Generation& answer) const;
  // How it was made, over several lines.
  std::string details(const Generation& answer, const Session& session, u64 seed) const;
  nlohmann::json report(const Generation& answer, const Session& session) const;

 private:
  using Clock = std::chrono::steady_clock;
  f64 first_ms() const;
  f64 rate() const;

  bool print_;
  Clock::time_point start_, first_, end_;
  f64 first_cpu_ = 0, end_cpu_ = 0;  // seconds
  u64 tokens_ = 0;
  nlohmann::json logprobs_ = nlohmann::json::array();
};

}  // namespace pteron::cli
