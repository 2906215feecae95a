// SPDX-License-Identifier: BSD-3-Clause
#include <pteron/tokenizer.h>

#include "base/error.h"
#include "base/utf8.h"
#include "llm/tokenizer/added_tokens.h"
#include "llm/tokenizer/bpe.h"
#include "llm/tokenizer/decoder.h"
#include "llm/tokenizer/pre_tokenizer.h"
#include "llm/tokenizer/reader.h"
#include "llm/tokenizer/unigram.h"
#include "llm/tokenizer/word_piece.h"

#include <algorithm>

namespace pteron {

using namespace tokenizer;

struct Tokenizer::Impl {
  Definition definition;
  Vocabulary added;           // their texts
  std::vector<bool> special;  // by number
  std::vector<u32> end_tokens;
  Normalizer normalizer;
  AddedTokens in_text, in_normalized;
  PreTokenizer pre_tokenizer;
  std::optional<Bpe> bpe;
  std::optional<Unigram> unigram;
  std::optional<WordPiece> word_piece;

  static Result<std::shared_ptr<const Impl>> build(Definition definition);
  Status check_ids() const;
  std::optional<std::string_view> token(u32 id) const;
  Status decode(u32 id, bool skip_special, Decoding& decoding) const;

  struct Call;
  Status encode_text(std::string_view text, bool first, Call& call) const;
  Status encode_section(std::string_view text, bool first, Call& call) const;
};

struct Tokenizer::Impl::Call {
  bool parse_special;
  std::vector<u32> ids;
  Bpe::Workspace bpe;
  Unigram::Workspace unigram;
};

namespace {

std::string_view as_text(Bytes bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

// Tokens with which models end their turn, by the names that they have in common use.
constexpr std::string_view end_names[] = {"</s>",
                                          "<eos>",
                                          "<|end_of_text|>",
                                          "<|endoftext|>",
                                          "<｜end▁of▁sentence｜>",
                                          "<|eot_id|>",
                                          "<|eom_id|>",
                                          "<|im_end|>",
                                          "<end_of_turn>",
                                          "<|end|>",
                                          "<|return|>",
                                          "<|END_OF_TURN_TOKEN|>",
                                          "<|end_of_turn|>"};

}  // namespace

std::optional<std::string_view> Tokenizer::Impl::token(u32 id) const {
  if (added.contains(id)) return added.text(id);
  if (definition.vocabulary.contains(id)) return definition.vocabulary.text(id);
  return std::nullopt;
}

Status Tokenizer::Impl::check_ids() const {
  const auto check = [&](std::optional<u32> id, std::string_view role) -> Status {
    if (id && !token(*id)) return invalid("the ", role, " token has the number ", *id, ", which no token has");
    return {};
  };
  TRY_DO(check(definition.roles.bos, "beginning-of-text"));
  TRY_DO(check(definition.roles.eos, "end-of-text"));
  TRY_DO(check(definition.roles.pad, "padding"));
  TRY_DO(check(definition.model.unknown, "unknown"));
  for (u32 id : definition.surroundings.before) TRY_DO(check(id, "leading"));
  for (u32 id : definition.surroundings.after) TRY_DO(check(id, "trailing"));
  return {};
}

Result<std::shared_ptr<const Tokenizer::Impl>> Tokenizer::Impl::build(Definition definition) {
  auto impl = std::make_shared<Impl>();
  impl->definition = std::move(definition);
  const Definition& d = impl->definition;
  for (const AddedToken& token : d.added) {
    const auto known = d.vocabulary.find(token.text);
    if ((known && *known != token.id) || (d.vocabulary.contains(token.id) && d.vocabulary.text(token.id) != token.text))
      return invalid("the added token '", token.text, "' with the number ", token.id, " contradicts the vocabulary");
    TRY_DO(impl->added.add(token.id, token.text));
    if (token.id >= impl->special.size()) impl->special.resize(token.id + 1);
    impl->special[token.id] = token.special;
  }
  if (d.vocabulary.size() == 0) return invalid("the tokenizer has no tokens");
  TRY_DO(impl->check_ids());
  TRY_DO(check_decoder(d.decoder));
  TRY(impl->normalizer, Normalizer::build(d));
  TRY(impl->in_text, AddedTokens::build(d, impl->normalizer, false));
  TRY(impl->in_normalized, AddedTokens::build(d, impl->normalizer, true));
  TRY(impl->pre_tokenizer, PreTokenizer::build(d.pre_tokenizer));
  if (d.model.kind == ModelData::bpe)
    impl->bpe.emplace(d.vocabulary, d.model, impl->pre_tokenizer.gives_bytes());
  else if (impl->pre_tokenizer.gives_bytes())
    return unsupported("a model on bytes other than BPE is not supported");
  else if (d.model.kind == ModelData::word_piece)
    impl->word_piece.emplace(d.vocabulary, d.model);
  else
    impl->unigram.emplace(d.vocabulary, d.model);

  if (d.roles.eos) impl->end_tokens.push_back(*d.roles.eos);
  for (std::string_view name : end_names)
    if (const auto id = impl->added.find(name); id && impl->special[*id] && *id != d.roles.eos)
      impl->end_tokens.push_back(*id);
  return impl;
}

Status Tokenizer::Impl::encode_text(std::string_view text, bool first, Call& call) const {
  return pre_tokenizer.run(text, first, [&](std::string_view piece) -> Status {
    if (word_piece) return word_piece->encode(piece, call.ids);
    if (unigram) return unigram->encode(piece, call.unigram, call.ids);
    bpe->encode(piece, call.bpe, call.ids);
    return {};
  });
}

// A part of the text without tokens that are looked for in it as it is.
Status Tokenizer::Impl::encode_section(std::string_view text, bool first, Call& call) const {
  std::string normalized;
  if (!normalizer.empty()) {
    TRY(normalized, normalizer.run(text));
    if (normalized.size() > INT32_MAX) return invalid("the normalized text is longer than 2 GiB");
    text = normalized;
  }
  if (in_normalized.empty()) return encode_text(text, first, call);
  for (const AddedTokens::Part& part : in_normalized.split(text, call.parse_special)) {
    if (part.token)
      call.ids.push_back(*part.token);
    else
      TRY_DO(encode_text(text.substr(part.begin, part.end - part.begin), first && part.begin == 0, call));
  }
  return {};
}

Result<Tokenizer> Tokenizer::load(Bytes file, const TokenizerOptions& options) {
  TRY(Definition definition, within(read_any(as_text(file)), "reading the tokenizer"));
  if (!options.config.empty())
    TRY_DO(within(apply_config(as_text(options.config), definition), "reading the tokenizer's configuration"));
  TRY(auto impl, within(Impl::build(std::move(definition)), "reading the tokenizer"));
  return Tokenizer(std::move(impl));
}

Result<std::vector<u32>> Tokenizer::encode(std::string_view text, const EncodeOptions& options) const {
  if (text.size() > INT32_MAX)
    return invalid("the text has ", text.size(), " bytes; at most 2 GiB can be encoded at once");
  if (const size_t bad = utf8::find_invalid(text); bad != text.size())
    return invalid("the text is not valid UTF-8: byte ", bad, " of ", text.size(), " is ", int(u8(text[bad])),
                   ", which does not belong there");
  const Template& surroundings = impl_->definition.surroundings;
  Impl::Call call{.parse_special = options.parse_special};
  if (options.add_special) call.ids = surroundings.before;
  for (const AddedTokens::Part& part : impl_->in_text.split(text, options.parse_special)) {
    if (part.token)
      call.ids.push_back(*part.token);
    else
      TRY_DO(impl_->encode_section(text.substr(part.begin, part.end - part.begin), part.begin == 0, call));
  }
  if (options.add_special) call.ids.insert(call.ids.end(), surroundings.after.begin(), surroundings.after.end());
  return std::move(call.ids);
}

u32 Tokenizer::vocab_size() const { return std::max(impl_->definition.vocabulary.size(), impl_->added.size()); }
std::optional<std::string_view> Tokenizer::token(u32 id) const { return impl_->token(id); }
std::optional<u32> Tokenizer::id(std::string_view token) const {
  const auto added = impl_->added.find(token);
  return added ? added : impl_->definition.vocabulary.find(token);
}
std::string Tokenizer::bytes(u32 id) const {
  const auto token = impl_->token(id);
  return token && !is_special(id) ? bytes_of_token(impl_->definition.decoder, *token) : std::string();
}
bool Tokenizer::is_special(u32 id) const { return id < impl_->special.size() && impl_->special[id]; }
std::optional<u32> Tokenizer::bos() const { return impl_->definition.roles.bos; }
std::optional<u32> Tokenizer::eos() const { return impl_->definition.roles.eos; }
std::optional<u32> Tokenizer::unk() const { return impl_->definition.model.unknown; }
std::optional<u32> Tokenizer::pad() const { return impl_->definition.roles.pad; }
const std::vector<u32>& Tokenizer::end_tokens() const { return impl_->end_tokens; }

Status Tokenizer::check_model_vocabulary(u64 rows) const {
  constexpr u64 most_padding = 1024;  // models round their vocabulary up
  if (rows >= vocab_size() && rows <= vocab_size() + most_padding) return {};
  return invalid("the model has a vocabulary of ", rows, " tokens and the tokenizer one of ", vocab_size(),
                 "; use the tokenizer that belongs to the model");
}

Status Tokenizer::Impl::decode(u32 id, bool skip_special, Decoding& decoding) const {
  const auto text = token(id);
  if (!text) return invalid("there is no token with the number ", id, " in this tokenizer");
  // The reference writes such tokens as they stand in normalized text.
  if (!skip_special || id >= special.size() || !special[id])
    decoding.push(added.contains(id) ? in_normalized.text(id).value_or(*text) : *text);
  return {};
}

Result<std::string> Tokenizer::decode(std::span<const u32> ids, bool skip_special) const {
  Decoding decoding(impl_->definition.decoder, false);
  for (u32 id : ids) TRY_DO(impl_->decode(id, skip_special, decoding));
  decoding.finish();
  return decoding.take();
}

struct StreamDecoder::State {
  std::shared_ptr<const Tokenizer::Impl> tokenizer;
  bool skip_special;
  Decoding decoding;
};

StreamDecoder::StreamDecoder(const Tokenizer& tokenizer, bool skip_special)
    : state_(new State{tokenizer.impl_, skip_special, Decoding(tokenizer.impl_->definition.decoder, true)}) {}
StreamDecoder::StreamDecoder(StreamDecoder&&) noexcept = default;
StreamDecoder& StreamDecoder::operator=(StreamDecoder&&) noexcept = default;
StreamDecoder::~StreamDecoder() = default;

Result<std::string> StreamDecoder::push(u32 id) {
  TRY_DO(state_->tokenizer->decode(id, state_->skip_special, state_->decoding));
  return state_->decoding.take();
}

std::string StreamDecoder::finish() {
  state_->decoding.finish();
  return state_->decoding.take();
}

}  // namespace pteron
