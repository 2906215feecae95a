// SPDX-License-Identifier: BSD-3-Clause
#include "base/text.h"
#include "llm/json/json.h"
#include "llm/tokenizer/reader.h"

#include <algorithm>
#include <utility>

namespace pteron::llm {
namespace {

// Opens with `open` or a comma.
class Items {
 public:
  Items(std::string& out, char open) : out_(out) { out_ += open; }
  std::string& next() {
    if (std::exchange(started_, true)) out_ += ',';
    return out_;
  }

 private:
  std::string& out_;
  bool started_ = false;
};

void write_ties(const std::vector<Merge>& merges, std::string& out) {
  Items ties(out, '[');
  for (size_t at = 0; at < merges.size();) {
    size_t end = at;
    while (end < merges.size() && merges[end].rank == merges[at].rank) ++end;
    append(ties.next(), end - at);
    at = end;
  }
  out += ']';
}

void write_extension(const Definition& d, std::string& out) {
  const ModelData& m = d.model;
  Items items(out, '{');
  const auto tied = [](const Merge& a, const Merge& b) { return a.rank == b.rank; };
  if (std::ranges::adjacent_find(m.merges, tied) != m.merges.end()) {
    items.next() += "\"ties\":";
    write_ties(m.merges, out);
  }
  if (!m.loose.empty()) {
    items.next() += "\"loose\":";
    Items loose(out, '[');
    for (const std::string& text : m.loose) loose.next() += json_quoted(text);
    out += ']';
  }
  if (!m.types.empty()) {
    items.next() += "\"types\":\"";
    for (const PieceType type : m.types) out += char('0' + int(type));
    out += '"';
  }
  for (const auto& [name, id] :
       {std::pair("bos", d.roles.bos), std::pair("eos", d.roles.eos), std::pair("pad", d.roles.pad)})
    if (id) items.next() += str("\"", name, "\":", *id);
  out += '}';
}

void write_bpe(const Definition& d, std::string& out) {
  const ModelData& m = d.model;
  const auto text = [&](u32 id) {
    return id < d.vocabulary.size() ? d.vocabulary.text(id) : std::string_view(m.loose[id - d.vocabulary.size()]);
  };
  out += "\"type\":\"BPE\",\"dropout\":null,\"unk_token\":";
  if (m.unknown)
    out += json_quoted(d.vocabulary.text(*m.unknown));
  else
    out += "null";
  out += str(",\"continuing_subword_prefix\":null,\"end_of_word_suffix\":null,\"fuse_unk\":", m.fuse_unknown,
             ",\"byte_fallback\":", m.byte_fallback, ",\"ignore_merges\":", m.ignore_merges, ",\"vocab\":");
  Items vocabulary(out, '{');
  for (u32 id = 0; id < d.vocabulary.size(); ++id) {
    if (!d.vocabulary.contains(id)) continue;
    vocabulary.next() += json_quoted(d.vocabulary.text(id));
    out += ':';
    append(out, id);
  }
  out += "},\"merges\":";
  const bool spaces = std::ranges::any_of(m.merges, [&](const Merge& merge) {
    return d.vocabulary.text(merge.result).find(' ') != std::string_view::npos;
  });
  Items merges(out, '[');
  for (const Merge& merge : m.merges) {
    std::string& item = merges.next();
    if (!spaces) {
      item += json_quoted(str(text(merge.left), " ", text(merge.right)));
      continue;
    }
    item += '[';
    item += json_quoted(text(merge.left));
    item += ',';
    item += json_quoted(text(merge.right));
    item += ']';
  }
  out += ']';
}

void write_unigram(const Definition& d, std::string& out) {
  const ModelData& m = d.model;
  out += str("\"type\":\"Unigram\",\"unk_id\":", m.unknown ? str(*m.unknown) : "null",
             ",\"byte_fallback\":", m.byte_fallback, ",\"vocab\":");
  Items vocabulary(out, '[');
  for (u32 id = 0; id < d.vocabulary.size(); ++id) {
    vocabulary.next() += '[';
    out += json_quoted(d.vocabulary.text(id));
    out += ',';
    append(out, m.scores[id]);
    out += ']';
  }
  out += ']';
}

}  // namespace

std::string write_model(const Definition& d) {
  std::string out = "{";
  if (d.model.kind == ModelData::bpe)
    write_bpe(d, out);
  else
    write_unigram(d, out);
  out += ",\"pteron\":";
  write_extension(d, out);
  return out += '}';
}

}  // namespace pteron::llm
