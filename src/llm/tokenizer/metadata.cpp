// SPDX-License-Identifier: BSD-3-Clause
// The metadata of a GGUF file. It names the way to cut words instead of giving it.
#include "llm/tokenizer/metadata.h"

#include "base/error.h"
#include "base/utf8.h"
#include "llm/tokenizer/patterns.h"
#include "llm/tokenizer/sentence_piece.h"
#include "llm/tokenizer/vocabulary_merges.h"

#include <algorithm>

namespace pteron::tokenizer {
namespace {

// Numbers or anything else first, then as GPT-2.
constexpr std::string_view single_digits = R"(\p{N})";
constexpr std::string_view three_digits = R"(\p{N}{1,3})";

struct Way {
  std::vector<std::string_view> names;
  std::vector<std::string_view> patterns;  // one after the other
  bool ignore_merges = false;
  bool add_bos = false;
  bool nfc = false;
};

std::vector<Way> known_ways() {
  return {
      {{"gpt-2", "phi-2", "jina-es", "jina-de", "jina-v2-es", "jina-v2-de", "jina-v2-code", "roberta-bpe", "mpt",
        "olmo", "jais", "trillion", "granite-docling", "exaone4", "modern-bert", "mellum", "gigachat", "a.x-4.0"},
       {gpt2_pattern}},
      {{"llama3", "llama-v3", "llama-bpe", "falcon3", "falcon-h1", "pixtral", "midm-2.0", "lfm2"},
       {cl100k_pattern},
       true,
       true},
      {{"dbrx", "smaug-bpe", "chatglm-bpe", "glm4"}, {cl100k_pattern}},
      {{"qwen2", "deepseek-r1-qwen", "megrez", "hunyuan", "solar-open", "grok-2"}, {qwen2_pattern}, false, false, true},
      {{"stablelm2"}, {qwen2_pattern}},
      {{"smollm", "starcoder", "refact", "command-r", "codeshell", "exaone", "minerva-7b", "mellum2"},
       {single_digits, gpt2_pattern}},
      {{"gpt-4o", "llama4", "kanana2"}, {o200k_pattern}},
      {{"tekken"}, {tekken_pattern}, true, true},
      {{"deepseek-v3", "hunyuan-dense"},
       {three_digits, "[一-龥぀-ゟ゠-ヿ]+",
        R"([!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+)"
        R"(| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)"}},
      {{"deepseek-coder"}, {R"([\r\n])", R"(\s?\p{L}+)", R"(\s?\p{P}+)", "[一-龥ࠀ-一가-퟿]+", single_digits}},
      {{"bloom", "poro-chat", "gpt3-finnish"}, {R"( ?[^(\s|.,!?…。，、।۔،)]+)"}},
      {{"viking"}, {R"( ?[^(\s|.,!?…。，、।۔،)]+)", single_digits}},
      {{"falcon"}, {R"([\p{P}$+<=>\^~|`]+)", gpt2_pattern, "[0-9][0-9][0-9]"}},
      {{"default", ""}, {R"([\p{P}$+<=>\^~|]+)", gpt2_pattern, R"(\p{N}+)", "[0-9][0-9][0-9]"}},
  };
}

Result<Way> find_way(std::string_view name) {
  std::string all;
  for (Way& way : known_ways()) {
    if (std::ranges::find(way.names, name) != way.names.end()) return std::move(way);
    all += str(all.empty() ? "" : ", ", join(way.names));
  }
  return unsupported("the way to cut words 'tokenizer.ggml.pre' is '", name, "', which is not known; known are ", all);
}

Result<PieceType> type_of(const Metadata& parts, u32 id) {
  if (parts.token_type.empty()) return PieceType::normal;
  const i32 type = parts.token_type[id];
  if (type < 1 || type > 6) return invalid("token ", id, " has the unknown type ", type);
  return PieceType(type);
}

Status check_sizes(const Metadata& parts) {
  const size_t count = parts.tokens.size();
  if (count == 0) return invalid("it has no tokens");
  if (!parts.scores.empty() && parts.scores.size() != count)
    return invalid("it has ", count, " tokens but ", parts.scores.size(), " scores");
  if (!parts.token_type.empty() && parts.token_type.size() != count)
    return invalid("it has ", count, " tokens but ", parts.token_type.size(), " types of tokens");
  return {};
}

Result<Definition> read_byte_level(const Metadata& parts) {
  Definition d;
  TRY(const Way way, find_way(parts.pre));
  for (u32 id = 0; id < parts.tokens.size(); ++id) {
    if (utf8::find_invalid(parts.tokens[id]) != parts.tokens[id].size())
      return invalid("token ", id, " is not valid UTF-8");
    TRY_DO(d.vocabulary.add(id, parts.tokens[id]));
    TRY(const PieceType type, type_of(parts, id));
    const bool special = type == PieceType::control || type == PieceType::unknown;
    if ((special || type == PieceType::user_defined) && !parts.tokens[id].empty())
      d.added.push_back({.id = id, .text = parts.tokens[id], .special = special});
  }
  for (const std::string& merge : parts.merges) TRY_DO(add_merge(d, merge));
  d.model.ignore_merges = way.ignore_merges;
  if (way.nfc) d.normalizer.push_back(NormalForm{unicode::Form::nfc});
  for (std::string_view pattern : way.patterns)
    d.pre_tokenizer.push_back(Split{{std::string(pattern), true}, Joining::isolated});
  d.pre_tokenizer.push_back(ByteLevel{.add_prefix_space = parts.add_space_prefix.value_or(false), .use_regex = false});
  d.decoder = {DecodeByteLevel{}};
  d.roles = {parts.bos_token_id, parts.eos_token_id, parts.padding_token_id};
  if (parts.add_bos_token.value_or(way.add_bos) && d.roles.bos) d.surroundings.before.push_back(*d.roles.bos);
  if (parts.add_eos_token.value_or(false) && d.roles.eos) d.surroundings.after.push_back(*d.roles.eos);
  return d;
}

Result<Definition> read_pieces(const Metadata& parts, bool unigram) {
  SentencePieceModel model{.unigram = unigram};
  if (parts.scores.empty() || parts.token_type.empty()) return invalid("it has no scores or no types of tokens");
  for (u32 id = 0; id < parts.tokens.size(); ++id) {
    TRY(const PieceType type, type_of(parts, id));
    model.pieces.push_back({parts.tokens[id], parts.scores[id], type});
    model.byte_fallback |= type == PieceType::byte;
  }
  model.rules = {.charsmap = parts.precompiled_charsmap,
                 .add_dummy_prefix = parts.add_space_prefix.value_or(true),
                 .remove_extra_whitespaces = parts.remove_extra_whitespaces.value_or(unigram)};
  // Absent numbers are those that SentencePiece starts with.
  const auto or_else = [&](std::optional<u32> id, u32 number) {
    if (!id && number < model.pieces.size() && model.pieces[number].type == PieceType::control) id = number;
    return id;
  };
  model.roles = {or_else(parts.bos_token_id, unigram ? UINT32_MAX : 1), or_else(parts.eos_token_id, unigram ? 1 : 2),
                 parts.padding_token_id};
  model.add_bos = parts.add_bos_token.value_or(!unigram);
  model.add_eos = parts.add_eos_token.value_or(unigram);
  return define(model);
}

}  // namespace

Result<Definition> define(const Metadata& parts) {
  TRY_DO(check_sizes(parts));
  if (parts.model == "gpt2") return read_byte_level(parts);
  if (parts.model == "llama") return read_pieces(parts, false);
  if (parts.model == "t5") return read_pieces(parts, true);
  return unsupported("its model is '", parts.model, "'; gpt2, llama and t5 are supported");
}

}  // namespace pteron::tokenizer
