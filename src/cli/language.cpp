// SPDX-License-Identifier: BSD-3-Clause
#include "cli/language.h"

#include "base/os.h"
#include "cli/tuning.h"

#include <cstdio>
#include <random>

namespace pteron::cli {

void add_language_flags(Command& command, LanguageOptions& options) {
  GenerationOptions& g = options.generation;
  SamplerOptions& s = g.sampling;
  command.add_option("--tokenizer", &options.tokenizer,
                     "tokenizer.json, tokenizer.model or tiktoken file; else the program's own or one beside it");
  command.add_option("--chat-template", &options.chat_template, "Jinja file; else the program's own or one beside it");
  command.add_option("--system", &options.system, "First message of the conversation");
  command.add_option("--max-tokens", &g.max_tokens, "End an answer after this many tokens")
      ->check(check_whole_number<u64>)
      ->show_default();
  command.add_option("--temperature", &s.temperature, "0: always the best token")->show_default();
  command.add_option("--top-k", &s.top_k, "Choose from the k best tokens; 0: from all")
      ->check(check_whole_number<u32>)
      ->show_default();
  command.add_option("--top-p", &s.top_p, "Choose from the best tokens that have this probability together")
      ->show_default();
  command.add_option("--min-p", &s.min_p, "Choose from tokens at least so probable, relative to the best")
      ->show_default();
  command.add_option("--repetition-penalty", &s.repetition_penalty, "Above 1: avoid what was said")->show_default();
  command.add_option("--seed", &options.seed, "Of the random choices; the same seed gives the same answer")
      ->check(check_whole_number<u64>);
  command.add_option("--stop", &g.stops, "End an answer before this text (may be repeated)")->once_each();
  const Option regex = command.add_option("--regex", &options.regex, "The answer matches this regular expression");
  command
      .add_option("--json-schema", &options.json_schema, "The answer is JSON of this schema (a file, or the schema)")
      ->excludes(regex);
  command.add_flag("--ignore-eos", &g.ignore_end, "Go on behind tokens that end an answer");
  command.add_flag("--speculate", &g.speculate,
                   "Draft what the text said before and verify several tokens in a run (convert --all-logits)");
  command.add_option("--on-full", &options.on_full, "When the context is full: an error, or drop the oldest turns")
      ->one_of({"error", "slide"})
      ->show_default();
  command.add_flag("--stats", &options.stats, "Say how the answer was made");
  add_device_flags(command, options);
  add_program_flags(command, options);
}

Result<LanguageModel> load_language_model(const LanguageOptions& options) {
  TRY(LoadOptions load, options.load_options());
  TRY_DO(apply_tuning(options, options.model, load));
  TRY(LanguageModel model, LanguageModel::load(options.model, {.load = std::move(load),
                                                               .tokenizer = options.tokenizer,
                                                               .chat_template = options.chat_template}));
  if (!options.quiet) {
    TRY(const Device device, model.device());
    announce(device);
  }
  return model;
}

namespace {

Result<std::optional<Grammar>> grammar_of(const LanguageOptions& options) {
  if (options.regex) return Grammar::regex(*options.regex);
  if (!options.json_schema) return std::nullopt;
  const std::string& schema = *options.json_schema;
  if (schema.find('{') != std::string::npos) return Grammar::json_schema(schema);
  TRY(const auto bytes, os::read_file(schema));
  return within(Grammar::json_schema({reinterpret_cast<const char*>(bytes.data()), bytes.size()}), schema);
}

}  // namespace

Result<GenerationOptions> generation_options(LanguageOptions& options) {
  if (!options.seed) options.seed = std::random_device()();
  GenerationOptions out = options.generation;
  out.sampling.seed = *options.seed;
  TRY(out.grammar, grammar_of(options));
  return out;
}

Status Narrator::follow(Generation& answer, Interrupts& interrupts) {
  start_ = first_ = end_ = Clock::now();
  while (!answer.done()) {
    TRY_DO(answer.begin());
    TRY_DO(answer.finish());
    const GeneratedPiece piece = answer.piece();
    if (interrupts.take()) answer.cancel();
    if (!piece.token && !answer.done()) continue;  // the prompt is being read
    end_ = Clock::now();
    end_cpu_ = os::cpu_seconds();
    if (++tokens_ == 1) first_ = end_, first_cpu_ = end_cpu_;
    if (print_) {
      std::fputs((answer.done() ? answer.piece() : piece).text.c_str(), stdout);
      std::fflush(stdout);
    }
    if (!piece.token || answer.tokens().size() < tokens_) continue;
    nlohmann::json top = nlohmann::json::array();
    for (const TokenLogprob& t : piece.top) top.push_back({{"token_id", t.token}, {"logprob", t.logprob}});
    logprobs_.push_back({{"token_id", *piece.token}, {"logprob", piece.logprob}, {"top", std::move(top)}});
  }
  return {};
}

f64 Narrator::first_ms() const { return std::chrono::duration<f64, std::milli>(first_ - start_).count(); }

f64 Narrator::rate() const {
  const f64 seconds = std::chrono::duration<f64>(end_ - first_).count();
  return tokens_ > 1 && seconds > 0 ? f64(tokens_ - 1) / seconds : 0;
}

std::string Narrator::summary(const Generation& answer) const {
  char times[80];
  std::snprintf(times, sizeof times, "; first after %.1f ms, then %.1f tok/s", first_ms(), rate());
  return str(answer.stats().answer_tokens, " tokens", times);
}

std::string Narrator::details(const Generation& answer, const Session& session, u64 seed) const {
  const GenerationStats& stats = answer.stats();
  return str("prompt: ", stats.prompt_tokens, " tokens, ", stats.reused_tokens, " of them known from before\n",
             "context: ", session.tokens().size(), " of ", session.info().context, " tokens\n",
             "end: ", name_of(answer.reason()), "\n", "read back per token: ", name_of(stats.readback), " (",
             human_bytes(stats.read_back_bytes), ")\n", "runs: ", stats.runs, ", drafts: ", stats.held_tokens, " of ",
             stats.drafted_tokens, " tokens held\n", "dispatches per token: ", session.stats().dispatches, "\n",
             "seed: ", seed);
}

nlohmann::json Narrator::report(const Generation& answer, const Session& session) const {
  const GenerationStats& stats = answer.stats();
  nlohmann::json out{{"text", answer.text()},
                     {"token_ids", std::vector<u32>(answer.tokens().begin(), answer.tokens().end())},
                     {"stop_reason", name_of(answer.reason())},
                     {"prompt_tokens", stats.prompt_tokens},
                     {"reused_tokens", stats.reused_tokens},
                     {"first_token_ms", first_ms()},
                     {"decode_tok_s", rate()},
                     {"decode_cpu_ms", tokens_ > 1 ? (end_cpu_ - first_cpu_) * 1e3 / f64(tokens_ - 1) : 0},
                     {"runs", stats.runs},
                     {"drafted_tokens", stats.drafted_tokens},
                     {"held_tokens", stats.held_tokens},
                     {"readback", name_of(stats.readback)},
                     {"read_back_bytes", stats.read_back_bytes},
                     {"dispatches_per_token", session.stats().dispatches}};
  if (!logprobs_.empty() && !answer.piece().top.empty()) out["logprobs"] = logprobs_;
  return out;
}

}  // namespace pteron::cli
