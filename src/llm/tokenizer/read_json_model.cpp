// SPDX-License-Identifier: BSD-3-Clause
#include "base/error.h"
#include "llm/tokenizer/read_json.h"
#include "llm/tokenizer/vocabulary_merges.h"

namespace pteron::tokenizer {
namespace {

Status read_bpe(const Json& json, Definition& d) {
  for (const auto& [token, number] : json["vocab"].members()) {
    if (!number.index()) return invalid("the number of the token '", token, "' is not one");
    TRY_DO(d.vocabulary.add(*number.index(), token));
  }
  for (const char* key : {"continuing_subword_prefix", "end_of_word_suffix"})
    if (!json[key].string().empty()) return unsupported("a BPE model with a '", key, "' is not supported");
  if (!json["merges"].array()) return invalid("the BPE model has no 'merges'");
  d.model.merges.reserve(json["merges"].items().size());
  for (const Json& merge : json["merges"].items()) {  // "left right" or ["left", "right"]
    if (const auto pair = merge.items(); pair.size() == 2)
      TRY_DO(add_merge(d, pair[0].string(), pair[1].string()));
    else
      TRY_DO(add_merge(d, merge.string()));
  }
  if (json["unk_token"].text()) d.model.unknown = d.vocabulary.find(json["unk_token"].string());
  d.model.fuse_unknown = json["fuse_unk"].flag();
  d.model.byte_fallback = json["byte_fallback"].flag();
  d.model.ignore_merges = json["ignore_merges"].flag();
  return {};
}

Status read_unigram(const Json& json, Definition& d) {
  d.model.kind = ModelData::unigram;
  for (const Json& entry : json["vocab"].items()) {
    const auto pair = entry.items();
    if (pair.size() != 2 || !pair[0].text() || !pair[1].is_number())
      return invalid("entry ", d.vocabulary.size(), " of the unigram model's 'vocab' is not a text and a score");
    TRY_DO(d.vocabulary.add(d.vocabulary.size(), pair[0].string()));
    d.model.scores.push_back(pair[1].number());
  }
  if (const auto unknown = json["unk_id"].index()) d.model.unknown = unknown;
  d.model.byte_fallback = json["byte_fallback"].flag();
  return {};
}

Status read_word_piece(const Json& json, Definition& d) {
  d.model.kind = ModelData::word_piece;
  for (const auto& [token, number] : json["vocab"].members()) {
    if (!number.index()) return invalid("the number of the token '", token, "' is not one");
    TRY_DO(d.vocabulary.add(*number.index(), token));
  }
  d.model.unknown = d.vocabulary.find(json["unk_token"].string());
  d.model.continuing_prefix = json["continuing_subword_prefix"].string();
  d.model.longest_word = json["max_input_chars_per_word"].index().value_or(100);
  return {};
}

}  // namespace

Status read_model(const Json& json, Definition& definition) {
  const std::string_view type = json["type"].string();
  if (type == "BPE" || (type.empty() && json["merges"].array())) return read_bpe(json, definition);
  if (type == "Unigram") return read_unigram(json, definition);
  if (type == "WordPiece") return read_word_piece(json, definition);
  return unsupported("the tokenizer's model '", type, "' is not supported; BPE, Unigram and WordPiece are");
}

}  // namespace pteron::tokenizer
