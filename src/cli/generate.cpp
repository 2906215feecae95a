// SPDX-License-Identifier: BSD-3-Clause
#include "base/os.h"
#include "cli/editor/terminal.h"
#include "cli/language.h"
#include "cli/print_json.h"

#include <cstdio>
#include <iostream>
#include <iterator>

namespace pteron::cli {
namespace {

struct Options : LanguageOptions {
  std::optional<std::string> prompt;
  std::vector<u32> token_ids;
  bool raw = false;
};

std::string read_standard_input() {
  if (!os::stdin_is_terminal()) return {std::istreambuf_iterator<char>(std::cin), std::istreambuf_iterator<char>()};
  std::fprintf(stderr, "Type the prompt; %s at the start of a line ends it.\n", terminal::end_keys);
  std::string out;
  while (const auto line = terminal::read_line()) out += *line + '\n';
  return out;
}

// The oldest quarter of a text that is no conversation goes, except for the token that begins a text.
GenerationOptions sliding(GenerationOptions options, const ModelInfo& info, const std::vector<u32>& prompt) {
  if (info.context < 4) return options;
  options.shorten = [context = info.context, bos = info.bos, prompt](std::span<const u32> answer) {
    std::vector<u32> text = prompt;
    text.insert(text.end(), answer.begin(), answer.end());
    const size_t start = bos && text[0] == *bos ? 1 : 0, kept = context - context / 4;
    text.erase(text.begin() + std::ptrdiff_t(start), text.end() - std::ptrdiff_t(std::min(kept, text.size()) - start));
    return text;
  };
  return options;
}

Status finish(Generation& answer, const Session& session, const Device& device, Options& options) {
  Interrupts interrupts;
  const bool ids = !options.token_ids.empty();
  Narrator narrator(!options.json && !ids);
  TRY_DO(narrator.follow(answer, interrupts));
  if (options.json) {
    nlohmann::json report = narrator.report(answer, session);
    report["adapter"] = device.adapter().name;
    report["seed"] = *options.seed;
    print_json(report);
    return {};
  }
  std::printf("%s\n", ids ? join(answer.tokens(), " ").c_str() : "");
  if (!options.quiet) std::fprintf(stderr, "%s\n", narrator.summary(answer).c_str());
  if (options.stats) std::fprintf(stderr, "%s\n", narrator.details(answer, session, *options.seed).c_str());
  if (answer.reason() == StopReason::context_full)
    std::fprintf(stderr, "pteron: the context of %u tokens is full\n", session.info().context);
  return {};
}

Status run(Options& options) {
  TRY(const LanguageModel model, load_language_model(options));
  TRY(const Device device, model.device());
  TRY(GenerationOptions generation, generation_options(options));
  if (options.token_ids.empty() && options.prompt.value_or("-") == "-") options.prompt = read_standard_input();
  if (options.token_ids.empty() && !options.raw && model.chat_template()) {
    TRY(Chat chat, Chat::create(model, {.system = options.system, .slide = options.slide()}));
    TRY(Generation answer, chat.ask(*options.prompt, std::move(generation)));
    return finish(answer, chat.session(), device, options);
  }
  std::vector<u32> prompt = options.token_ids;
  if (prompt.empty()) {
    TRY(prompt, model.encode(*options.prompt));
  }
  if (options.slide()) generation = sliding(std::move(generation), model.info(), prompt);
  TRY(Session session, model.session());
  TRY(Generation answer, Generation::start(model, session, std::move(prompt), std::move(generation)));
  return finish(answer, session, device, options);
}

}  // namespace

void add_generate(Command& app, int& exit_code) {
  auto* command = app.add_subcommand("generate", "Let a language model answer once");
  auto options = std::make_shared<Options>();
  command->add_option("MODEL", &options->model, "Program (.pte)")->required();
  const Option prompt =
      command->add_option("-p,--prompt", &options->prompt, "The question; - or nothing: standard input");
  command->add_option("--token-ids", &options->token_ids, "The prompt as token ids; the answer is printed as such too")
      ->separated_by(',')
      ->check(check_whole_number<u32>)
      ->excludes(prompt);
  command->add_flag("--raw", &options->raw, "Go on with the prompt as it is, without the chat template");
  command
      ->add_option("--logprobs", &options->generation.sampling.logprobs,
                   "With --json: log-probabilities of each token and this many of the best")
      ->check(check_whole_number<u32>);
  add_language_flags(*command, *options);
  on_call(*command, options, exit_code, run);
}

}  // namespace pteron::cli
