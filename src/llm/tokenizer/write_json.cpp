// SPDX-License-Identifier: BSD-3-Clause
#include "llm/json/json.h"
#include "llm/tokenizer/base64.h"
#include "llm/tokenizer/read_json.h"
#include "llm/tokenizer/reader.h"

#include "base/text.h"

#include <algorithm>

namespace pteron::llm {
namespace {

std::string quoted(std::string_view text) {
  std::string out;
  out += json_quoted(text);
  return out;
}

std::string wanted(const Wanted& w) { return str("{\"", w.regex ? "Regex" : "String", "\":", quoted(w.text), "}"); }

std::string list(const std::vector<std::string>& items) { return str("[", join(items, ","), "]"); }

// None, one, or a sequence under the key that this kind of step has for it.
std::string sequence(const std::vector<std::string>& steps, std::string_view key) {
  if (steps.empty()) return "null";
  if (steps.size() == 1) return steps[0];
  return str("{\"type\":\"Sequence\",\"", key, "\":", list(steps), "}");
}

std::string write(const NormalizerStep& step) {
  return std::visit(Overloaded{
                        [](const NormalForm& s) { return str("{\"type\":\"", form_names[int(s.form)], "\"}"); },
                        [](const Lowercase&) -> std::string { return R"({"type":"Lowercase"})"; },
                        [](const Strip& s) {
                          return str("{\"type\":\"Strip\",\"strip_left\":", s.left, ",\"strip_right\":", s.right, "}");
                        },
                        [](const Prepend& s) { return str("{\"type\":\"Prepend\",\"prepend\":", quoted(s.text), "}"); },
                        [](const Replace& s) {
                          return str("{\"type\":\"Replace\",\"pattern\":", wanted(s.what),
                                     ",\"content\":", quoted(s.with), "}");
                        },
                        [](const SentencePieceRules& s) {
                          return str("{\"type\":\"SentencePiece\",\"add_dummy_prefix\":", s.add_dummy_prefix,
                                     ",\"remove_extra_whitespaces\":", s.remove_extra_whitespaces,
                                     ",\"escape_whitespaces\":", s.escape_whitespaces,
                                     ",\"whitespace_as_suffix\":", s.whitespace_as_suffix,
                                     ",\"precompiled_charsmap\":\"", to_base64(s.charsmap), "\"}");
                        },
                    },
                    step);
}

std::string metaspace(std::string_view replacement, Metaspace::Prefix prefix, bool split) {
  return str("{\"type\":\"Metaspace\",\"replacement\":", quoted(replacement), ",\"prepend_scheme\":\"",
             prefix_names[prefix], "\",\"split\":", split, "}");
}

std::string byte_level(bool add_prefix_space, bool use_regex) {
  return str("{\"type\":\"ByteLevel\",\"add_prefix_space\":", add_prefix_space,
             ",\"trim_offsets\":true,\"use_regex\":", use_regex, "}");
}

std::string write(const PreTokenizerStep& step) {
  return std::visit(Overloaded{
                        [](const Split& s) {
                          return str("{\"type\":\"Split\",\"pattern\":", wanted(s.at), ",\"behavior\":\"",
                                     joining_names[int(s.matches)], "\",\"invert\":", s.invert, "}");
                        },
                        [](const ByteLevel& s) { return byte_level(s.add_prefix_space, s.use_regex); },
                        [](const Metaspace& s) { return metaspace(s.replacement, s.prefix, s.split); },
                    },
                    step);
}

std::string write(const DecoderStep& step) {
  return std::visit(Overloaded{
                        [](const DecodeReplace& s) {
                          return str("{\"type\":\"Replace\",\"pattern\":", wanted({s.from, false}),
                                     ",\"content\":", quoted(s.to), "}");
                        },
                        [](const DecodeBytes&) -> std::string { return R"({"type":"ByteFallback"})"; },
                        [](const DecodeFuse&) -> std::string { return R"({"type":"Fuse"})"; },
                        [](const DecodeStrip& s) {
                          return str("{\"type\":\"Strip\",\"content\":", quoted(s.character), ",\"start\":", s.start,
                                     ",\"stop\":", s.stop, "}");
                        },
                        [](const DecodeByteLevel&) { return byte_level(false, false); },
                        [](const DecodeMetaspace& s) {
                          return metaspace(s.replacement, s.strip_first ? Metaspace::always : Metaspace::never, true);
                        },
                        [](const DecodeJoin&) -> std::string { return "null"; },
                    },
                    step);
}

template <class Step>
std::vector<std::string> write_all(const std::vector<Step>& steps) {
  std::vector<std::string> out;
  for (const Step& step : steps) out.push_back(write(step));
  return out;
}

std::string write(const AddedToken& t) {
  return str("{\"id\":", t.id, ",\"content\":", quoted(t.text), ",\"single_word\":", t.single_word,
             ",\"lstrip\":", t.lstrip, ",\"rstrip\":", t.rstrip, ",\"normalized\":", t.normalized,
             ",\"special\":", t.special, "}");
}

std::string post_processor(const Definition& d) {
  const auto& [before, after] = d.surroundings;
  if (before.empty() && after.empty()) return "null";
  const auto name = [&](u32 id) {
    const auto added = std::ranges::find(d.added, id, &AddedToken::id);
    return quoted(added != d.added.end() ? added->text : d.vocabulary.text(id));
  };
  const auto items = [&](std::string_view text, int type) {
    std::vector<std::string> out;
    const auto token = [&](u32 id) { return str("{\"SpecialToken\":{\"id\":", name(id), ",\"type_id\":", type, "}}"); };
    for (u32 id : before) out.push_back(token(id));
    out.push_back(str("{\"Sequence\":{\"id\":\"", text, "\",\"type_id\":", type, "}}"));
    for (u32 id : after) out.push_back(token(id));
    return out;
  };
  std::vector<u32> used = before;
  used.insert(used.end(), after.begin(), after.end());
  std::ranges::sort(used);
  used.erase(std::unique(used.begin(), used.end()), used.end());
  std::vector<std::string> tokens;
  for (u32 id : used)
    tokens.push_back(str(name(id), ":{\"id\":", name(id), ",\"ids\":[", id, "],\"tokens\":[", name(id), "]}"));
  std::vector<std::string> pair = items("A", 0);
  for (std::string& item : items("B", 1)) pair.push_back(std::move(item));
  return str("{\"type\":\"TemplateProcessing\",\"single\":", list(items("A", 0)), ",\"pair\":", list(pair),
             ",\"special_tokens\":{", join(tokens, ","), "}}");
}

}  // namespace

std::string write_json(const Definition& d) {
  std::vector<std::string> added;
  for (const AddedToken& token : d.added) added.push_back(write(token));
  return str("{\"version\":\"1.0\",\"truncation\":null,\"padding\":null,\"added_tokens\":", list(added),
             ",\"normalizer\":", sequence(write_all(d.normalizer), "normalizers"),
             ",\"pre_tokenizer\":", sequence(write_all(d.pre_tokenizer), "pretokenizers"),
             ",\"post_processor\":", post_processor(d), ",\"decoder\":", sequence(write_all(d.decoder), "decoders"),
             ",\"model\":", write_model(d), "}");
}

}  // namespace pteron::llm
