// SPDX-License-Identifier: BSD-3-Clause
// Runs the host side of chat for tests that compare it with Python: one JSON request per line in, one answer out.
#include <pteron/chat_template.h>
#include <pteron/grammar.h>
#include <pteron/sampler.h>

#include <nlohmann/json.hpp>

#include <chrono>
#include <iostream>
#include <random>

namespace {

using namespace pteron;
using nlohmann::json;

json failure(const Error& error) { return {{"error", error.to_string()}, {"kind", name_of(error.kind)}}; }

class Driver {
 public:
  json answer(const json& request) {
    const std::string what = request.at("do");
    if (what == "render") return render(request);
    if (what == "vocabulary") return vocabulary(request);
    if (what == "grammar") return grammar(request);
    if (what == "match") return match(request);
    if (what == "walk") return walk(request);
    if (what == "masks") return masks(request);
    if (what == "sample") return sample(request);
    return {{"error", "unknown request '" + what + "'"}};
  }

 private:
  // The messages and variables come as JSON text, so that the order of members is kept.
  json render(const json& request) {
    TemplateLimits limits;
    limits.steps = request.value("steps", limits.steps);
    const auto parsed = ChatTemplate::parse(request.at("template").get<std::string>(), limits);
    if (!parsed) return failure(parsed.error());
    const std::string messages = request.at("messages"), tools = request.value("tools", ""),
                      variables = request.value("variables", ""), bos = request.value("bos_token", ""),
                      eos = request.value("eos_token", "");
    ChatInputs inputs;
    inputs.messages = messages;
    inputs.tools = tools;
    inputs.variables = variables;
    inputs.bos_token = bos;
    inputs.eos_token = eos;
    inputs.add_generation_prompt = request.value("add_generation_prompt", true);
    inputs.local_time = request.value("local_time", i64(0));
    const auto text = parsed->render(inputs);
    if (!text) return failure(text.error());
    return {{"text", *text}};
  }

  // Tokens as lists of bytes.
  json vocabulary(const json& request) {
    std::vector<std::string> tokens;
    for (const json& bytes : request.at("tokens")) {
      tokens.emplace_back();
      for (int byte : bytes) tokens.back() += char(byte);
    }
    end_tokens_ = request.at("end_tokens").get<std::vector<u32>>();
    auto trie = TokenTrie::build(tokens, end_tokens_);
    if (!trie) return failure(trie.error());
    trie_ = *trie;
    tokens_ = std::move(tokens);
    return json::object();
  }

  json grammar(const json& request) {
    JsonFormat format;
    format.max_whitespace = request.value("max_whitespace", format.max_whitespace);
    auto made = request.contains("regex")    ? Grammar::regex(request["regex"].get<std::string>())
                : request.contains("schema") ? Grammar::json_schema(request["schema"].get<std::string>(), format)
                                             : Grammar::json(format);
    if (!made) return failure(made.error());
    matcher_.emplace(*made, *trie_);
    return json::object();
  }

  // For each text: "no", "begins" or "matches".
  json match(const json& request) {
    json answers = json::array();
    for (const json& text : request.at("texts")) {
      matcher_->reset();
      const bool fits = matcher_->advance(std::string_view(text.get_ref<const std::string&>())).has_value();
      answers.push_back(!fits ? "no" : matcher_->can_end() ? "matches" : "begins");
    }
    return {{"answers", answers}};
  }

  // Random texts, token by token. After `length` tokens, tokens of `closing` are taken where possible.
  json walk(const json& request) {
    std::mt19937_64 random(request.at("seed").get<u64>());
    const u32 length = request.at("length");
    const std::vector<u32> closing = request.at("closing");
    json texts = json::array();
    for (u32 i = 0; i < request.at("count"); ++i) {
      matcher_->reset();
      std::string text;
      for (u32 step = 0; !matcher_->is_complete(); ++step) {
        if (step > 100 * length) return {{"error", "the walk does not end: " + text.substr(0, 500)}};
        const auto mask = matcher_->allowed();
        if (!mask) return failure(mask.error());
        const u32 token = pick(*mask, step > length ? closing : std::vector<u32>(), random);
        if (const auto status = matcher_->advance(token); !status) return failure(status.error());
        text += tokens_[token];
      }
      texts.push_back(text);
    }
    return {{"texts", texts}};
  }

  u32 pick(TokenMask mask, const std::vector<u32>& preferred, std::mt19937_64& random) const {
    std::vector<u32> allowed, better;
    for (u32 t = 0; t < tokens_.size(); ++t)
      if (mask[t / 64] >> t % 64 & 1) allowed.push_back(t);
    for (u32 t : preferred)
      if (mask[t / 64] >> t % 64 & 1) better.push_back(t);
    if (!better.empty() && random() % 4) return better[random() % better.size()];
    return allowed[random() % allowed.size()];
  }

  // How long masks take along a text: the first time, and when they are known.
  json masks(const json& request) {
    using Clock = std::chrono::steady_clock;
    const std::string text = request.at("text");
    json times = json::array();
    for (int round = 0; round < 2; ++round) {
      matcher_->reset();
      std::vector<f64> took;
      for (size_t i = 0; i <= text.size(); ++i) {
        const auto start = Clock::now();
        const auto mask = matcher_->allowed();
        took.push_back(std::chrono::duration<f64, std::milli>(Clock::now() - start).count());
        if (!mask) return failure(mask.error());
        if (i == text.size()) break;
        if (const auto status = matcher_->advance(text.substr(i, 1)); !status) return failure(status.error());
      }
      times.push_back(took);
    }
    return {{"milliseconds", times}};
  }

  // A run of steps with one sampler; each accepts its token.
  json sample(const json& request) {
    SamplerOptions options;
    options.temperature = request.value("temperature", options.temperature);
    options.top_k = request.value("top_k", options.top_k);
    options.top_p = request.value("top_p", options.top_p);
    options.min_p = request.value("min_p", options.min_p);
    options.repetition_penalty = request.value("repetition_penalty", options.repetition_penalty);
    options.presence_penalty = request.value("presence_penalty", options.presence_penalty);
    options.frequency_penalty = request.value("frequency_penalty", options.frequency_penalty);
    options.seed = request.value("seed", options.seed);
    for (const json& bias : request.value("logit_bias", json::array()))
      options.logit_bias.push_back({bias[0], bias[1]});
    if (request.contains("logprobs")) options.logprobs = request["logprobs"].get<u32>();
    auto sampler = Sampler::create(options);
    if (!sampler) return failure(sampler.error());
    sampler->add_prompt(request.value("prompt", std::vector<u32>()));
    json steps = json::array();
    for (const json& step : request.at("steps")) {
      const std::vector<f32> logits = step.at("logits");
      const std::vector<u64> mask = step.value("mask", std::vector<u64>());
      std::optional<Sample> chosen;
      if (step.contains("tokens")) {
        const std::vector<i32> tokens = step["tokens"];
        auto result = sampler->sample(Candidates{logits, tokens}, mask);
        if (!result) return failure(result.error());
        chosen = *result;
      } else {
        auto result = sampler->sample(logits, mask);
        if (!result) return failure(result.error());
        chosen = *result;
      }
      if (!chosen) {
        steps.push_back(nullptr);
        continue;
      }
      json top = json::array();
      for (const TokenLogprob& t : chosen->top) top.push_back({t.token, t.logprob});
      steps.push_back({{"token", chosen->token}, {"logprob", chosen->logprob}, {"top", top}});
      sampler->accept(chosen->token);
    }
    return {{"steps", steps}};
  }

  std::vector<std::string> tokens_;
  std::vector<u32> end_tokens_;
  std::optional<TokenTrie> trie_;
  std::optional<GrammarMatcher> matcher_;
};

}  // namespace

int main() try {
  Driver driver;
  for (std::string line; std::getline(std::cin, line);) {
    const json request = json::parse(line);
    std::cout << driver.answer(request).dump(-1, ' ', false, json::error_handler_t::replace) << '\n' << std::flush;
  }
} catch (const std::exception& e) {
  std::cerr << e.what() << '\n';
  return 1;
}
