// SPDX-License-Identifier: BSD-3-Clause
// Lines of a token in base64 and its rank. The file says neither how words are cut nor which special tokens there are;
// its number of tokens tells whose it is.
#include "base/error.h"
#include "llm/tokenizer/byte_alphabet.h"
#include "llm/tokenizer/patterns.h"
#include "llm/tokenizer/reader.h"
#include "llm/tokenizer/vocabulary_merges.h"

#include <array>
#include <charconv>

namespace pteron::tokenizer {
namespace {

struct Special {
  std::string text;
  u32 id;
};

// As ExecuTorch's runner adds them to the file of a Llama 3 model.
std::vector<Special> llama3_tokens(u32 first) {
  std::vector<Special> out;
  for (const char* name :
       {"begin_of_text", "end_of_text", "reserved_special_token_0", "reserved_special_token_1", "finetune_right_pad_id",
        "step_id", "start_header_id", "end_header_id", "eom_id", "eot_id", "python_tag", "image"})
    out.push_back({str("<|", name, "|>"), first + u32(out.size())});
  for (u32 i = 2; out.size() < 256; ++i)
    out.push_back({str("<|reserved_special_token_", i, "|>"), first + u32(out.size())});
  return out;
}

std::vector<Special> qwen_tokens(u32 first) {
  std::vector<Special> out{{"<|endoftext|>", first}, {"<|im_start|>", first + 1}, {"<|im_end|>", first + 2}};
  for (u32 i = 0; i < 205; ++i) out.push_back({str("<|extra_", i, "|>"), first + 3 + i});
  return out;
}

struct Known {
  std::string_view pattern;
  std::vector<Special> special;
  const char* bos = nullptr;
  const char* eos = "<|endoftext|>";
};

Known known_by_size(u32 size) {
  switch (size) {
    case 50256:
    case 50281: return {gpt2_pattern, {{"<|endoftext|>", 50256}}};
    case 100256:
      return {cl100k_pattern,
              {{"<|endoftext|>", 100257},
               {"<|fim_prefix|>", 100258},
               {"<|fim_middle|>", 100259},
               {"<|fim_suffix|>", 100260},
               {"<|endofprompt|>", 100276}}};
    case 199998: return {o200k_pattern, {{"<|endoftext|>", 199999}, {"<|endofprompt|>", 200018}}};
    case 151643: return {qwen2_pattern, qwen_tokens(size)};
    default: return {cl100k_pattern, llama3_tokens(size), "<|begin_of_text|>", "<|end_of_text|>"};
  }
}

constexpr auto base64_values = [] {
  constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::array<i8, 256> out{};
  out.fill(-1);
  for (size_t i = 0; i < digits.size(); ++i) out[u8(digits[i])] = i8(i);
  return out;
}();

// Nothing if it is not well formed.
std::optional<std::string> from_base64(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  const size_t padding = text.ends_with("==") ? 2 : text.ends_with("=") ? 1 : 0;
  std::string out;
  out.reserve(text.size() / 4 * 3);
  u32 group = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool pad = i + padding >= text.size();
    const i8 value = pad ? 0 : base64_values[u8(text[i])];
    if (value < 0) return std::nullopt;
    group = group << 6 | u32(value);
    if (i % 4 != 3) continue;
    for (int shift : {16, 8, 0}) out += char(group >> shift);
    group = 0;
  }
  out.resize(out.size() - padding);
  return out;
}

Status read_line(std::string_view line, u32 number, Vocabulary& out) {
  const size_t space = line.find(' ');
  const auto bytes = from_base64(line.substr(0, space));
  if (space == std::string_view::npos || !bytes || bytes->empty())
    return invalid("line ", number, " of the tiktoken file is not a token in base64 and its rank");
  u32 rank = 0;
  const char* end = line.data() + line.size();
  const auto [stop, code] = std::from_chars(line.data() + space + 1, end, rank);
  if (code != std::errc() || stop != end)
    return invalid("line ", number, " of the tiktoken file has the rank '", line.substr(space + 1),
                   "', which is no number");
  return within(out.add(rank, bytes_to_letters(*bytes)), "line ", number, " of the tiktoken file");
}

}  // namespace

Result<Definition> read_tiktoken(std::string_view file) {
  Definition d;
  u32 number = 0;
  while (!file.empty()) {
    const size_t end = file.find('\n');
    std::string_view line = file.substr(0, end);
    file.remove_prefix(end == std::string_view::npos ? file.size() : end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    ++number;
    if (!line.empty()) TRY_DO(read_line(line, number, d.vocabulary));
  }
  for (u32 b = 0; b < 256; ++b)
    if (!d.vocabulary.find(bytes_to_letters(std::string(1, char(b)))))
      return invalid("the tiktoken file has no token for byte ", b, "; it is truncated or damaged");
  std::vector<f32> scores;
  scores.reserve(d.vocabulary.size());
  for (u32 id = 0; id < d.vocabulary.size(); ++id) scores.push_back(-f32(id));
  TRY_DO(merge_by_vocabulary(d.vocabulary, scores, d.model));
  d.model.ignore_merges = true;

  const Known known = known_by_size(d.vocabulary.size());
  for (const auto& [text, id] : known.special) {
    d.added.push_back({.id = id, .text = text, .special = true});
    if (known.bos && text == known.bos) d.roles.bos = id;
    if (text == known.eos) d.roles.eos = id;
  }
  if (d.roles.bos) d.surroundings.before = {*d.roles.bos};
  d.pre_tokenizer = {Split{{std::string(known.pattern), true}, Joining::isolated}, ByteLevel{.use_regex = false}};
  d.decoder = {DecodeByteLevel{}};
  return d;
}

}  // namespace pteron::tokenizer
