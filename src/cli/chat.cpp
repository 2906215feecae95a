// SPDX-License-Identifier: BSD-3-Clause
#include "base/os.h"
#include "base/path.h"
#include "cli/editor/line_editor.h"
#include "cli/editor/terminal.h"
#include "cli/language.h"

#include <cstdio>
#include <fstream>

namespace pteron::cli {
namespace {

constexpr const char* help =
    "Type a message; Alt-Enter starts a new line of it. Ctrl-C stops an answer, Ctrl-D or /quit ends the program.\n"
    "/reset      start again         /back       take the last question back\n"
    "/history    what was said       /save FILE  write it as JSON\n"
    "/stats      how the last answer was made    /help   this text";

std::string history_file() {
  const std::string folder = os::cache_directory();
  return folder.empty() ? "" : folder + "/chat_history";
}

class Conversation {
 public:
  Conversation(Chat chat, GenerationOptions generation, LanguageOptions& options)
      : chat_(std::move(chat)), generation_(std::move(generation)), options_(options) {
    if (terminal::available()) editor_.emplace(history_file());
  }

  void run() {
    if (interactive()) std::fprintf(stderr, "%s\n", help);
    while (const auto line = next_line()) {
      if (line->empty()) continue;
      if (*line == "/quit" || *line == "/exit") break;
      if (line->front() == '/')
        command(*line);
      else if (auto status = answer(*line); !status)
        report(status.error());
    }
    if (interactive()) std::fprintf(stderr, "\n");
  }

 private:
  static bool interactive() { return os::stderr_is_terminal(); }

  std::optional<std::string> next_line() {
    for (;;) {
      if (interactive()) std::fprintf(stderr, editor_ ? "\n" : "\n> ");
      auto [end, line] = editor_ ? editor_->read("> ") : read_plain();
      if (end == LineEditor::End::entered) return std::move(line);
      if (end == LineEditor::End::end_of_input) return std::nullopt;
      std::fprintf(stderr, "(Ctrl-D or /quit ends the program)");
    }
  }

  LineEditor::Typed read_plain() {
    if (auto line = terminal::read_line()) return {LineEditor::End::entered, *std::move(line)};
    if (!interrupts_.take()) return {LineEditor::End::end_of_input, ""};
    std::clearerr(stdin);
    std::fprintf(stderr, "\n");
    return {LineEditor::End::interrupted, ""};
  }

  Status answer(const std::string& text) {
    interrupts_.take();  // one that came too late for the answer before
    TRY(Generation answer, chat_.ask(text, generation_));
    Narrator narrator(true);
    const Status status = narrator.follow(answer, interrupts_);
    std::printf("\n");
    std::fflush(stdout);
    chat_.keep(answer);  // as far as it came
    TRY_DO(status);
    last_ = narrator.details(answer, chat_.session(), *options_.seed);
    if (!options_.quiet) std::fprintf(stderr, "[%s]\n", narrator.summary(answer).c_str());
    if (options_.stats) std::fprintf(stderr, "%s\n", last_.c_str());
    if (answer.reason() == StopReason::context_full)
      std::fprintf(stderr, "pteron: the context of %u tokens is full; /reset, or start with --on-full slide\n",
                   chat_.session().info().context);
    return {};
  }

  void command(const std::string& line) {
    const size_t space = std::min(line.find(' '), line.size());
    const std::string name = line.substr(0, space), argument = line.substr(std::min(space + 1, line.size()));
    if (name == "/reset")
      chat_.reset();
    else if (name == "/back")
      back();
    else if (name == "/stats")
      std::fprintf(stderr, "%s\n", last_.empty() ? "There was no answer yet." : last_.c_str());
    else if (name == "/history")
      for (const ChatMessage& m : chat_.messages()) std::fprintf(stderr, "%s: %s\n", m.role.c_str(), m.content.c_str());
    else if (name == "/save")
      save(argument);
    else if (name == "/help")
      std::fprintf(stderr, "%s\n", help);
    else
      std::fprintf(stderr, "There is no command '%s'; a message may start with a space.\n%s\n", name.c_str(), help);
  }

  void back() {
    size_t count = chat_.messages().size();
    while (count > 0 && chat_.messages()[count - 1].role != "user") --count;
    if (count == 0)
      std::fprintf(stderr, "There is no question to take back.\n");
    else if (auto status = chat_.rewind(count - 1); !status)
      report(status.error());
  }

  void save(const std::string& path) {
    std::ofstream file(os::path(path), std::ios::binary);
    file << chat_.to_json() << '\n';
    file.close();
    std::fprintf(stderr, file ? "Saved in '%s'.\n" : "pteron: cannot write '%s'; use /save FILE\n", path.c_str());
  }

  Chat chat_;
  GenerationOptions generation_;
  LanguageOptions& options_;
  Interrupts interrupts_;
  std::optional<LineEditor> editor_;  // at a terminal
  std::string last_;
};

Status run(LanguageOptions& options) {
  if (options.json) return invalid("chat has no JSON to print; use 'generate --json', or /save FILE in a chat");
  TRY(const LanguageModel model, load_language_model(options));
  TRY(GenerationOptions generation, generation_options(options));
  TRY(Chat chat, Chat::create(model, {.system = options.system, .slide = options.slide()}));
  Conversation(std::move(chat), std::move(generation), options).run();
  return {};
}

}  // namespace

void add_chat(Command& app, int& exit_code) {
  auto* command = app.add_subcommand("chat", "Talk with a language model");
  auto options = std::make_shared<LanguageOptions>();
  options->generation.sampling = {.temperature = 0.7f, .top_k = 40, .top_p = 0.9f};
  options->generation.max_tokens = 1024;
  command->add_option("MODEL", &options->model, "Program (.pte)")->required();
  add_language_flags(*command, *options);
  on_call(*command, options, exit_code, run);
}

}  // namespace pteron::cli
