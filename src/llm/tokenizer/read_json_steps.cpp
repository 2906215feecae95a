// SPDX-License-Identifier: BSD-3-Clause
#include "base/error.h"
#include "llm/tokenizer/read_json.h"

#include <algorithm>

namespace pteron::tokenizer {
namespace {

// Where the reference cuts for its "Whitespace": between words and what are neither words nor spaces.
constexpr std::string_view words_pattern =
    R"([\p{L}\p{M}\p{Nd}\p{Nl}\p{Pc}\u24B6-\u24E9\x{1F130}-\x{1F149}\x{1F150}-\x{1F169}\x{1F170}-\x{1F189}\u200C\u200D]+)"
    R"(|[^\s\p{L}\p{M}\p{Nd}\p{Nl}\p{Pc}\u24B6-\u24E9\x{1F130}-\x{1F149}\x{1F150}-\x{1F169}\x{1F170}-\x{1F189}\u200C\u200D]+)";
constexpr std::string_view punctuation_pattern = R"([\p{P}!-/:-@\[-`{-~])";

// BERT's, by Unicode 8.
constexpr std::string_view bert_punctuation_pattern =
    R"([\p{P}!-/:-@\[-`{-~\x{166D}\x{111C9}&&[^\x{61D}\x{9FD}-\x{A76}\x{C77}-\x{C84}\x{1B4E}\x{1B4F}\x{1B7D}-\x{1B7F}\x{2E43}-\x{2E5D}\x{10D6E}-\x{10F89})"
    R"(\x{113D4}-\x{1145D}\x{11660}-\x{116B9}\x{1183B}-\x{11FFF}\x{12FF1}\x{12FF2}\x{16D6D}-\x{16FE2}\x{1E5FF}-\x{1E95F}]])";

constexpr std::string_view joining_names[] = {"Removed", "Isolated", "MergedWithPrevious", "MergedWithNext",
                                              "Contiguous"};
constexpr std::string_view form_names[] = {"NFD", "NFC", "NFKD", "NFKC"};
constexpr std::string_view prefix_names[] = {"never", "first", "always"};

Result<Wanted> read_wanted(const Json& json) {
  if (json["String"].text()) return Wanted{std::string(json["String"].string()), false};
  if (json["Regex"].text()) return Wanted{std::string(json["Regex"].string()), true};
  return invalid("a 'pattern' has neither a 'String' nor a 'Regex'");
}

template <size_t n>
std::optional<u8> index_of(const std::string_view (&names)[n], std::string_view name) {
  const auto it = std::ranges::find(names, name);
  if (it == std::end(names)) return std::nullopt;
  return u8(it - std::begin(names));
}

Result<Joining> read_joining(const Json& json) {
  const auto index = index_of(joining_names, json.string());
  if (!index) return unsupported("the behavior '", json.string(), "' of a pre-tokenizer is not supported");
  return Joining(*index);
}

Result<Split> read_split(const Json& json) {
  TRY(Wanted at, read_wanted(json["pattern"]));
  TRY(const Joining matches, read_joining(json["behavior"]));
  if (at.text.empty()) return invalid("the pattern of a 'Split' is empty");
  return Split{std::move(at), matches, json["invert"].flag()};
}

Result<Metaspace> read_metaspace(const Json& json) {
  Metaspace out{.replacement = std::string(json["replacement"].string()), .split = json["split"].flag(true)};
  if (out.replacement.empty()) return invalid("a 'Metaspace' has no 'replacement'");
  if (const auto prefix = index_of(prefix_names, json["prepend_scheme"].string()))
    out.prefix = Metaspace::Prefix(*prefix);
  else
    out.prefix = json["add_prefix_space"].flag(true) ? Metaspace::always : Metaspace::never;
  return out;
}

Result<DecodeStrip> read_decode_strip(const Json& json) {
  if (json["content"].string().empty()) return invalid("a 'Strip' of the decoder has no 'content'");
  return DecodeStrip{std::string(json["content"].string()), json["start"].index().value_or(0),
                     json["stop"].index().value_or(0)};
}

}  // namespace

Status read_normalizer(const Json& json, std::vector<NormalizerStep>& steps) {
  if (json.is_null()) return {};
  const std::string_view type = json["type"].string();
  if (type == "Sequence") {
    for (const Json& part : json["normalizers"].items()) TRY_DO(read_normalizer(part, steps));
    return {};
  }
  if (const auto form = index_of(form_names, type)) {
    steps.push_back(NormalForm{unicode::Form(*form)});
  } else if (type == "Lowercase") {
    steps.push_back(Lowercase{});
  } else if (type == "Strip") {
    steps.push_back(Strip{json["strip_left"].flag(true), json["strip_right"].flag(true)});
  } else if (type == "Prepend") {
    steps.push_back(Prepend{std::string(json["prepend"].string())});
  } else if (type == "Replace") {
    TRY(Wanted what, read_wanted(json["pattern"]));
    steps.push_back(Replace{std::move(what), std::string(json["content"].string())});
  } else if (type == "BertNormalizer") {
    const bool lowercase = json["lowercase"].flag(true);
    steps.push_back(BertText{.clean = json["clean_text"].flag(true),
                             .spread_ideographs = json["handle_chinese_chars"].flag(true),
                             .strip_accents = json["strip_accents"].flag(lowercase),
                             .lowercase = lowercase});
  } else if (type == "Precompiled") {
    return unsupported(
        "the tokenizer's normalizer 'Precompiled' is not supported; use the model's SentencePiece file "
        "(tokenizer.model or spiece.model)");
  } else {
    return unsupported("the tokenizer's normalizer '", type, "' is not supported");
  }
  return {};
}

Status read_pre_tokenizer(const Json& json, std::vector<PreTokenizerStep>& steps) {
  if (json.is_null()) return {};
  const auto add_regex = [&](std::string_view regex, Joining matches, bool invert = false) {
    steps.push_back(Split{{std::string(regex), true}, matches, invert});
    return Status();
  };
  const std::string_view type = json["type"].string();
  if (type == "Sequence") {
    for (const Json& part : json["pretokenizers"].items()) TRY_DO(read_pre_tokenizer(part, steps));
  } else if (type == "ByteLevel") {
    steps.push_back(ByteLevel{json["add_prefix_space"].flag(), json["use_regex"].flag(true)});
  } else if (type == "Split") {
    TRY(Split split, read_split(json));
    steps.push_back(std::move(split));
  } else if (type == "Metaspace") {
    TRY(Metaspace metaspace, read_metaspace(json));
    steps.push_back(std::move(metaspace));
  } else if (type == "Digits") {
    return add_regex(R"(\p{N})", json["individual_digits"].flag() ? Joining::isolated : Joining::contiguous);
  } else if (type == "Punctuation") {
    TRY(const Joining matches, json["behavior"].is_null() ? Joining::isolated : read_joining(json["behavior"]));
    return add_regex(punctuation_pattern, matches);
  } else if (type == "BertPreTokenizer") {
    TRY_DO(add_regex(R"(\s)", Joining::removed));
    return add_regex(bert_punctuation_pattern, Joining::isolated);
  } else if (type == "WhitespaceSplit") {
    return add_regex(R"(\s)", Joining::removed);
  } else if (type == "Whitespace") {
    return add_regex(words_pattern, Joining::removed, true);
  } else if (type == "CharDelimiterSplit" && !json["delimiter"].string().empty()) {
    steps.push_back(Split{{std::string(json["delimiter"].string()), false}, Joining::removed});
  } else {
    return unsupported("the tokenizer's pre-tokenizer '", type, "' is not supported");
  }
  return {};
}

Status read_decoder(const Json& json, std::vector<DecoderStep>& steps) {
  const std::string_view type = json["type"].string();
  if (json.is_null()) {
    steps.push_back(DecodeJoin{});
  } else if (type == "Sequence") {
    for (const Json& part : json["decoders"].items()) TRY_DO(read_decoder(part, steps));
  } else if (type == "ByteLevel") {
    steps.push_back(DecodeByteLevel{});
  } else if (type == "Replace") {
    TRY(Wanted from, read_wanted(json["pattern"]));
    if (from.regex) return unsupported("a regular expression in the tokenizer's decoder is not supported");
    steps.push_back(DecodeReplace{std::move(from.text), std::string(json["content"].string())});
  } else if (type == "ByteFallback") {
    steps.push_back(DecodeBytes{});
  } else if (type == "Fuse") {
    steps.push_back(DecodeFuse{});
  } else if (type == "Strip") {
    TRY(DecodeStrip strip, read_decode_strip(json));
    steps.push_back(std::move(strip));
  } else if (type == "WordPiece") {
    steps.push_back(DecodeWordPiece{std::string(json["prefix"].string()), json["cleanup"].flag(true)});
  } else if (type == "Metaspace") {
    TRY(const Metaspace metaspace, read_metaspace(json));
    steps.push_back(DecodeMetaspace{metaspace.replacement, metaspace.prefix != Metaspace::never});
  } else {
    return unsupported("the tokenizer's decoder '", type, "' is not supported");
  }
  return {};
}

}  // namespace pteron::tokenizer
