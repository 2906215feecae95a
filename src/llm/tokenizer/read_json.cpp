// SPDX-License-Identifier: BSD-3-Clause
#include "llm/tokenizer/read_json.h"

#include "base/error.h"
#include "llm/tokenizer/reader.h"

#include <algorithm>
#include <utility>

namespace pteron::tokenizer {
namespace {

Result<AddedToken> read_added_token(const Json& json) {
  if (!json["id"].index() || !json["content"].text())
    return invalid("an entry of 'added_tokens' has no 'id' or no 'content'");
  return AddedToken{.id = *json["id"].index(),
                    .text = std::string(json["content"].string()),
                    .special = json["special"].flag(),
                    .normalized = json["normalized"].flag(),
                    .single_word = json["single_word"].flag(),
                    .lstrip = json["lstrip"].flag(),
                    .rstrip = json["rstrip"].flag()};
}

Status read_template(const Json& single, const Json& special_tokens, Template& out) {
  bool text_seen = false;
  for (const Json& piece : single.items()) {
    if (piece["Sequence"].object()) {
      if (std::exchange(text_seen, true)) return unsupported("the template of the post-processor has the text twice");
      continue;
    }
    const std::string_view name = piece["SpecialToken"]["id"].string();
    const auto ids = special_tokens[name]["ids"].items();
    if (ids.empty())
      return invalid("the template of the post-processor uses the token '", name, "' without its number");
    for (const Json& id : ids) {
      if (!id.index()) return invalid("the number of the token '", name, "' of the post-processor is not one");
      (text_seen ? out.after : out.before).push_back(*id.index());
    }
  }
  if (!text_seen) return invalid("the template of the post-processor has no place for the text");
  return {};
}

// Which tokens begin and end a text is not in the file; the template and common names tell.
void guess_roles(Definition& d) {
  const auto special = [&](std::string_view text) -> std::optional<u32> {
    const auto it = std::ranges::find_if(d.added, [&](const AddedToken& t) { return t.special && t.text == text; });
    if (it == d.added.end()) return std::nullopt;
    return it->id;
  };
  if (!d.roles.bos && !d.surroundings.before.empty()) d.roles.bos = d.surroundings.before.front();
  if (!d.roles.eos && !d.surroundings.after.empty()) d.roles.eos = d.surroundings.after.back();
  for (const char* name : {"<s>", "<bos>", "<|begin_of_text|>", "<｜begin▁of▁sentence｜>"})
    if (!d.roles.bos) d.roles.bos = special(name);
  for (const char* name : {"</s>", "<eos>", "<|end_of_text|>", "<|endoftext|>", "<｜end▁of▁sentence｜>", "<|im_end|>"})
    if (!d.roles.eos) d.roles.eos = special(name);
  for (const char* name : {"<pad>", "<|finetune_right_pad_id|>"})
    if (!d.roles.pad) d.roles.pad = special(name);
}

}  // namespace

Status read_post_processor(const Json& json, Template& out) {
  const std::string_view type = json["type"].string();
  if (json.is_null() || type == "ByteLevel") return {};  // byte-level only moves offsets
  if (type == "TemplateProcessing") return read_template(json["single"], json["special_tokens"], out);
  if (type == "Sequence") {
    for (const Json& part : json["processors"].items()) TRY_DO(read_post_processor(part, out));
    return {};
  }
  if (type == "BertProcessing" || type == "RobertaProcessing") {
    for (const auto& [key, ids] : {std::pair("cls", &out.before), std::pair("sep", &out.after)}) {
      const auto pair = json[key].items();
      const auto id = pair.size() == 2 ? pair[1].index() : std::nullopt;
      if (!id) return invalid("the post-processor '", type, "' has no token '", key, "'");
      ids->push_back(*id);
    }
    return {};
  }
  return unsupported("the tokenizer's post-processor '", type, "' is not supported");
}

Result<Definition> read_json(std::string_view text) {
  TRY(const Json root, Json::parse(text, Json::BigIntegers::round));
  return root["ggml.model"].is_null() ? read_hugging_face(root) : read_metadata(root);
}

Result<Definition> read_hugging_face(const Json& root) {
  if (!root["model"].object())
    return invalid(
        "the JSON has no 'model': this is not a tokenizer.json (a tokenizer_config.json or vocab.json is not enough)");
  Definition out;
  TRY_DO(read_model(root["model"], out));
  for (const Json& json : root["added_tokens"].items()) {
    TRY(AddedToken token, read_added_token(json));
    if (!token.text.empty()) out.added.push_back(std::move(token));
  }
  TRY_DO(read_normalizer(root["normalizer"], out.normalizer));
  TRY_DO(read_pre_tokenizer(root["pre_tokenizer"], out.pre_tokenizer));
  TRY_DO(read_post_processor(root["post_processor"], out.surroundings));
  TRY_DO(read_decoder(root["decoder"], out.decoder));
  guess_roles(out);
  return out;
}

Status apply_config(std::string_view text, Definition& d) {
  TRY(const Json root, Json::parse(text, Json::BigIntegers::round));
  const auto find = [&](const char* key) -> Result<std::optional<u32>> {
    const Json& value = root[key];
    const std::string_view token = value.object() ? value["content"].string() : value.string();
    if (token.empty()) return std::nullopt;
    for (const AddedToken& added : d.added)
      if (added.text == token) return added.id;
    if (const auto id = d.vocabulary.find(token)) return id;
    return invalid("its ", key, " is '", token,
                   "', which is not a token of this tokenizer; the two files do not belong together");
  };
  for (const auto& [key, role] : {std::pair("bos_token", &d.roles.bos), std::pair("eos_token", &d.roles.eos),
                                  std::pair("pad_token", &d.roles.pad)}) {
    TRY(const auto id, find(key));
    if (id) *role = id;
  }
  return {};
}

}  // namespace pteron::tokenizer
