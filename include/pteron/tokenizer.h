// SPDX-License-Identifier: BSD-3-Clause
// Text to tokens and back, from the files that models come with.
//
//   auto tokenizer = pteron::Tokenizer::load(bytes_of_tokenizer_json);
//   auto ids       = tokenizer->encode("Hello!");
//   auto text      = tokenizer->decode(*ids);
#pragma once

#include <pteron/result.h>
#include <pteron/types.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pteron {

struct TokenizerOptions {
  // The tokenizer_config.json that lies beside a tokenizer.json, if there is one: it says which tokens begin and end
  // a text.
  Bytes config;
};

struct EncodeOptions {
  bool add_special = true;    // the tokens that the model expects around a text, such as one for its beginning
  bool parse_special = true;  // "<|im_end|>" in the text is that token; else it is only text
};

// Copies are the same tokenizer. Safe for several threads at once.
class Tokenizer {
 public:
  // A Hugging Face tokenizer.json, a SentencePiece tokenizer.model, a tiktoken file, or the metadata of a GGUF file as
  // the converter writes it (JSON with keys such as "ggml.tokens"); it is seen from the bytes which.
  static Result<Tokenizer> load(Bytes file, const TokenizerOptions& options = {});

  Result<std::vector<u32>> encode(std::string_view text, const EncodeOptions& options = {}) const;
  Result<std::string> decode(std::span<const u32> ids, bool skip_special = true) const;

  u32 vocab_size() const;                               // the highest number of a token + 1
  std::optional<std::string_view> token(u32 id) const;  // as the file spells it, e.g. "Ġhello" or "▁hello"
  std::optional<u32> id(std::string_view token) const;
  // What the token adds to a text that is under way: often not whole characters. Empty for special tokens.
  std::string bytes(u32 id) const;
  bool is_special(u32 id) const;
  std::optional<u32> bos() const;
  std::optional<u32> eos() const;
  std::optional<u32> unk() const;
  std::optional<u32> pad() const;
  // Tokens after which a model has nothing more to say: eos and those that end a turn of a chat.
  const std::vector<u32>& end_tokens() const;

  // Whether a model with so many rows of logits can go with this tokenizer.
  Status check_model_vocabulary(u64 rows) const;

 private:
  friend class StreamDecoder;
  struct Impl;
  explicit Tokenizer(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}
  std::shared_ptr<const Impl> impl_;
};

// Decodes tokens as they come, without ever giving half a character.
class StreamDecoder {
 public:
  explicit StreamDecoder(const Tokenizer& tokenizer, bool skip_special = true);
  StreamDecoder(StreamDecoder&&) noexcept;
  StreamDecoder& operator=(StreamDecoder&&) noexcept;
  ~StreamDecoder();

  // The text that has become complete; often none.
  Result<std::string> push(u32 id);
  // The rest, with U+FFFD for what was never completed.
  std::string finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace pteron
