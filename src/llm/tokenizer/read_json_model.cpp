// SPDX-License-Identifier: BSD-3-Clause
#include "base/error.h"
#include "llm/tokenizer/read_json.h"

namespace pteron::llm {
namespace {

// What the format has no place for stands under "pteron" in the model, where other readers pass over it.
Status read_extension(const Json& json, Definition& d) {
  const std::string_view types = json["types"].string();
  if (!types.empty() && types.size() != d.vocabulary.size())
    return invalid("there are ", types.size(), " 'types' for ", d.vocabulary.size(), " tokens");
  for (const char c : types) {
    if (c < '1' || c > '6') return invalid("'", c, "' is not a type of a token");
    d.model.types.push_back(PieceType(c - '0'));
  }
  Vocabulary unique;
  for (const Json& text : json["loose"].items()) {
    TRY_DO(unique.add(unique.size(), text.string()));
    d.model.loose.emplace_back(text.string());
  }
  for (const auto& [key, role] :
       {std::pair("bos", &d.roles.bos), std::pair("eos", &d.roles.eos), std::pair("pad", &d.roles.pad)})
    if (json[key].index()) *role = *json[key].index();
  return {};
}

class MergeReader {
 public:
  explicit MergeReader(const Definition& d) : vocabulary_(d.vocabulary) {
    for (u32 i = 0; i < d.model.loose.size(); ++i) (void)loose_.add(i, d.model.loose[i]);
  }

  Result<Merge> read(const Json& json, u32 index) {
    TRY_DO(split(json, index));
    const auto left = find(left_), right = find(right_);
    if (!left || !right) return invalid("merge ", index, " uses '", left ? right_ : left_, "', which is not a token");
    merged_.assign(left_).append(right_);
    const auto result = vocabulary_.find(merged_);
    if (!result) return invalid("merge ", index, " makes '", merged_, "', which is not a token");
    return Merge{*left, *right, *result, index};
  }

 private:
  // "left right" or ["left", "right"].
  Status split(const Json& json, u32 index) {
    if (const auto pair = json.items(); pair.size() == 2) {
      left_ = pair[0].string();
      right_ = pair[1].string();
    } else {
      const std::string_view text = json.string();
      const size_t space = text.find(' ');
      left_ = text.substr(0, space);
      right_ = space == std::string_view::npos ? std::string_view() : text.substr(space + 1);
    }
    if (left_.empty() || right_.empty()) return invalid("merge ", index, " does not have two parts");
    return {};
  }
  std::optional<u32> find(std::string_view text) const {
    if (const auto id = vocabulary_.find(text)) return id;
    if (const auto loose = loose_.find(text)) return vocabulary_.size() + *loose;
    return std::nullopt;
  }

  const Vocabulary& vocabulary_;
  Vocabulary loose_;
  std::string_view left_, right_;
  std::string merged_;
};

// Runs of merges that have the same rank, by their lengths.
Status apply_ties(const Json& lengths, std::vector<Merge>& merges) {
  if (lengths.is_null()) return {};
  size_t at = 0;
  u32 rank = 0;
  for (const Json& length : lengths.items()) {
    if (!length.index() || *length.index() > merges.size() - at) return invalid("the 'ties' do not fit the merges");
    for (u32 i = 0; i < *length.index(); ++i) merges[at++].rank = rank;
    ++rank;
  }
  if (at != merges.size()) return invalid("the 'ties' cover ", at, " of ", merges.size(), " merges");
  return {};
}

Status read_bpe(const Json& json, Definition& d) {
  for (const auto& [token, number] : json["vocab"].members()) {
    if (!number.index()) return invalid("the number of the token '", token, "' is not one");
    TRY_DO(d.vocabulary.add(*number.index(), token));
  }
  for (const char* key : {"continuing_subword_prefix", "end_of_word_suffix"})
    if (!json[key].string().empty()) return unsupported("a BPE model with a '", key, "' is not supported");
  TRY_DO(read_extension(json["pteron"], d));
  if (!json["merges"].array()) return invalid("the BPE model has no 'merges'");
  MergeReader reader(d);
  d.model.merges.reserve(json["merges"].items().size());
  for (const Json& pair : json["merges"].items()) {
    TRY(const Merge merge, reader.read(pair, u32(d.model.merges.size())));
    d.model.merges.push_back(merge);
  }
  TRY_DO(apply_ties(json["pteron"]["ties"], d.model.merges));
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
  if (json["unk_id"].index()) d.model.unknown = *json["unk_id"].index();
  d.model.byte_fallback = json["byte_fallback"].flag();
  return read_extension(json["pteron"], d);
}

}  // namespace

Status read_model(const Json& json, Definition& definition) {
  const std::string_view type = json["type"].string();
  if (type == "BPE" || (type.empty() && json["merges"].array())) return read_bpe(json, definition);
  if (type == "Unigram") return read_unigram(json, definition);
  return unsupported("the tokenizer's model '", type, "' is not supported; BPE and Unigram are");
}

}  // namespace pteron::llm
