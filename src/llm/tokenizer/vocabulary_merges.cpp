// SPDX-License-Identifier: BSD-3-Clause
#include "llm/tokenizer/vocabulary_merges.h"

#include "base/error.h"
#include "base/utf8.h"

#include <algorithm>
#include <numeric>

namespace pteron::tokenizer {
namespace {

// Cutting a token takes time quadratic in its length. The longest in use have some hundred bytes.
constexpr size_t longest_token = 1024;

class Cutter {
 public:
  Cutter(const Vocabulary& vocabulary, ModelData& model) : vocabulary_(vocabulary), model_(model) {}

  bool mergeable(u32 id) const {
    if (!vocabulary_.contains(id)) return false;
    return model_.types.empty() || model_.types[id] == PieceType::normal || model_.types[id] == PieceType::unused;
  }

  Status cut(u32 id, u32 rank) {
    const std::string_view text = vocabulary_.text(id);
    if (text.size() > longest_token)
      return unsupported("token ", id, " has ", text.size(), " bytes; at most ", longest_token, " are supported");
    for (size_t at = utf8::peek(text, 0).size; at < text.size(); at += utf8::peek(text, at).size) {
      const std::string_view left = text.substr(0, at), right = text.substr(at);
      const auto a = find(left);
      if (!a && !is_character(left)) continue;
      const auto b = find(right);
      if (!b && !is_character(right)) continue;
      const u32 left_id = a ? *a : loose(left);
      model_.merges.push_back({left_id, b ? *b : loose(right), id, rank});
    }
    return {};
  }

 private:
  std::optional<u32> find(std::string_view text) const {
    const auto id = vocabulary_.find(text);
    return id && mergeable(*id) ? id : std::nullopt;
  }
  static bool is_character(std::string_view text) { return utf8::peek(text, 0).size == text.size(); }

  u32 loose(std::string_view character) {
    auto known = loose_.find(character);
    if (!known) {
      known = loose_.size();
      (void)loose_.add(*known, character);  // there are fewer characters than tokens may be
      model_.loose.emplace_back(character);
    }
    return vocabulary_.size() + *known;
  }

  const Vocabulary& vocabulary_;
  ModelData& model_;
  Vocabulary loose_;
};

}  // namespace

Status add_merge(Definition& d, std::string_view left, std::string_view right) {
  const size_t rank = d.model.merges.size();
  if (left.empty() || right.empty()) return invalid("merge ", rank, " '", left, right, "' does not have two parts");
  const auto a = d.vocabulary.find(left), b = d.vocabulary.find(right);
  if (!a || !b) return invalid("merge ", rank, " uses '", a ? right : left, "', which is not a token");
  std::string merged(left);
  merged += right;
  const auto result = d.vocabulary.find(merged);
  if (!result) return invalid("merge ", rank, " makes '", merged, "', which is not a token");
  d.model.merges.push_back({*a, *b, *result, u32(rank)});
  return {};
}

Status add_merge(Definition& d, std::string_view merge) {
  const size_t space = std::min(merge.find(' ', 1), merge.size());  // a token can be a space, but has no other one
  return add_merge(d, merge.substr(0, space), merge.substr(std::min(space + 1, merge.size())));
}

Status merge_by_vocabulary(const Vocabulary& vocabulary, std::span<const f32> scores, ModelData& model) {
  std::vector<u32> order(vocabulary.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, [&](u32 a, u32 b) { return scores[a] > scores[b]; });
  Cutter cutter(vocabulary, model);
  u32 rank = 0;
  for (size_t i = 0; i < order.size(); ++i) {
    if (i > 0 && scores[order[i]] != scores[order[i - 1]]) ++rank;
    if (cutter.mergeable(order[i])) TRY_DO(cutter.cut(order[i], rank));
  }
  return {};
}

}  // namespace pteron::tokenizer
