// SPDX-License-Identifier: BSD-3-Clause
// Language models and encoders from files: the tokenizer and the chat template are in the program or lie beside it.
#include "base/error.h"
#include "base/os.h"
#include "base/path.h"
#include "llm/json/json.h"

#include <pteron/encoder.h>
#include <pteron/llm.h>

#include <algorithm>
#include <filesystem>

namespace pteron {
namespace {

namespace fs = std::filesystem;

constexpr u64 largest_template = 16 << 20;

std::string_view as_text(Bytes bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

// The first of these files that is there.
std::optional<fs::path> find_beside(const fs::path& file, std::initializer_list<const char*> names) {
  std::error_code ignored;
  for (const char* name : names)
    if (fs::path path = file.parent_path() / name; fs::is_regular_file(path, ignored)) return path;
  return std::nullopt;
}

// Where the parts of a model come from.
struct Sources {
  const Program& program;
  fs::path model;
  const LanguageModelOptions& options;

  Result<std::optional<Tokenizer>> tokenizer() const;
  Result<std::optional<ChatTemplate>> chat_template() const;

 private:
  fs::path beside() const { return options.tokenizer.empty() ? model : os::path(options.tokenizer); }
  Result<Tokenizer> tokenizer_in(const fs::path& file) const;
  Result<std::optional<std::string>> template_text() const;
  Result<std::optional<std::string>> template_in_config() const;
};

Result<Tokenizer> Sources::tokenizer_in(const fs::path& file) const {
  TRY(const auto bytes, os::read_file(os::text(file)));
  TokenizerOptions with;
  std::vector<std::byte> config;
  if (const auto path = find_beside(file, {"tokenizer_config.json"}); path && file.extension() == ".json") {
    TRY(config, os::read_file(os::text(*path)));
    with.config = config;
  }
  return within(Tokenizer::load(bytes, with), os::text(file));
}

Result<std::optional<Tokenizer>> Sources::tokenizer() const {
  if (!options.tokenizer.empty()) return tokenizer_in(os::path(options.tokenizer));
  if (const auto bytes = program.named_data("pteron.tokenizer.json")) {
    TRY(Tokenizer inside, within(Tokenizer::load(*bytes), os::text(model)));
    return inside;
  }
  if (const auto file = find_beside(model, {"tokenizer.json", "tokenizer.model"})) return tokenizer_in(*file);
  return std::nullopt;
}

Result<std::optional<std::string>> Sources::template_in_config() const {
  const auto path = find_beside(beside(), {"tokenizer_config.json"});
  if (!path) return std::nullopt;
  TRY(const auto config, os::read_file(os::text(*path)));
  TRY(const Json root, within(Json::parse(as_text(config), Json::BigIntegers::round), os::text(*path)));
  const Json& entry = root["chat_template"];
  if (entry.text()) return *entry.text();
  for (const Json& named : entry.items())
    if (named["name"].string() == "default") return std::string(named["template"].string());
  return std::nullopt;
}

Result<std::optional<std::string>> Sources::template_text() const {
  std::optional<fs::path> file;
  if (!options.chat_template.empty()) file = os::path(options.chat_template);
  if (!file) {
    if (const auto bytes = program.named_data("pteron.chat_template")) return std::string(as_text(*bytes));
    file = find_beside(beside(), {"chat_template.jinja"});
  }
  if (!file) return template_in_config();
  TRY(const auto bytes, within(os::read_file(os::text(*file), largest_template), "the chat template"));
  return std::string(as_text(bytes));
}

Result<std::optional<ChatTemplate>> Sources::chat_template() const {
  TRY(const auto text, template_text());
  if (!text) return std::nullopt;
  TRY(ChatTemplate parsed, within(ChatTemplate::parse(*text), "the chat template"));
  return parsed;
}

}  // namespace

Result<LanguageModel> LanguageModel::load(const std::string& path, LanguageModelOptions options) {
  TRY(Program program, Program::load(path, std::move(options.load)));
  const Sources sources{program, os::path(path), options};
  TRY(auto tokenizer, sources.tokenizer());
  TRY(auto chat_template, sources.chat_template());
  return within(create(std::move(program), std::move(tokenizer), std::move(chat_template)), path);
}

Result<std::optional<Encoder>> Encoder::load(const std::string& path, LoadOptions options,
                                             const std::string& tokenizer) {
  TRY(Program program, Program::load(path, std::move(options)));
  if (!is_one(program)) return std::nullopt;
  const LanguageModelOptions files{.tokenizer = tokenizer};
  const Sources sources{program, os::path(path), files};
  TRY(auto words, sources.tokenizer());
  TRY(Encoder encoder, within(create(std::move(program), std::move(words)), path));
  return encoder;
}

}  // namespace pteron
