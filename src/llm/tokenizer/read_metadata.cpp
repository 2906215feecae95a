// SPDX-License-Identifier: BSD-3-Clause
// The tokenizer metadata of a GGUF file as JSON, with the keys it has there behind "tokenizer.": converted programs
// carry it.
#include "base/error.h"
#include "llm/json/json.h"
#include "llm/tokenizer/metadata.h"
#include "llm/tokenizer/reader.h"

namespace pteron::tokenizer {
namespace {

class MetadataReader {
 public:
  explicit MetadataReader(const Json& root) : root_(root) {}

  Status take(const char* key, std::string& to) const {
    const Json& json = member(key);
    if (json.is_null()) return {};
    if (!json.text()) return wrong(key, "a text");
    to = json.string();
    return {};
  }
  Status take(const char* key, std::optional<u32>& to) const {
    to = member(key).index();
    return to || member(key).is_null() ? Status() : wrong(key, "the number of a token");
  }
  Status take(const char* key, std::optional<bool>& to) const {
    const Json& json = member(key);
    if (json.is_null()) return {};
    if (!json.boolean()) return wrong(key, "a boolean");
    to = *json.boolean();
    return {};
  }
  Status take(const char* key, std::vector<std::string>& to) const {
    return each(key, "texts", [&](const Json& item) { return item.text() && (to.emplace_back(*item.text()), true); });
  }
  Status take(const char* key, std::vector<f32>& to) const {
    return each(key, "numbers",
                [&](const Json& item) { return item.is_number() && (to.push_back(f32(item.number())), true); });
  }
  Status take(const char* key, std::vector<i32>& to) const {
    return each(key, "types of tokens",
                [&](const Json& item) { return item.index() && (to.push_back(i32(*item.index())), true); });
  }
  // Bytes are an array of numbers.
  Status take_bytes(const char* key, std::string& to) const {
    return each(key, "bytes", [&](const Json& item) {
      return item.index().value_or(256) < 256 && (to += char(*item.index()), true);
    });
  }

 private:
  const Json& member(std::string_view key) const { return root_[str("ggml.", key)]; }
  static Failure wrong(std::string_view key, std::string_view kind) {
    return invalid("the metadata 'tokenizer.ggml.", key, "' should be ", kind);
  }
  template <class Add>
  Status each(const char* key, const char* kind, Add add) const {
    const Json& json = member(key);
    if (json.is_null()) return {};
    if (!json.array()) return wrong(key, str("a list of ", kind));
    for (const Json& item : json.items())
      if (!add(item)) return wrong(key, str("a list of ", kind));
    return {};
  }

  const Json& root_;
};

}  // namespace

Result<Definition> read_metadata(const Json& root) {
  const MetadataReader reader(root);
  Metadata parts;
  TRY_DO(reader.take("model", parts.model));
  TRY_DO(reader.take("pre", parts.pre));
  TRY_DO(reader.take("tokens", parts.tokens));
  TRY_DO(reader.take("scores", parts.scores));
  TRY_DO(reader.take("token_type", parts.token_type));
  TRY_DO(reader.take("merges", parts.merges));
  TRY_DO(reader.take("bos_token_id", parts.bos_token_id));
  TRY_DO(reader.take("eos_token_id", parts.eos_token_id));
  TRY_DO(reader.take("unknown_token_id", parts.unknown_token_id));
  TRY_DO(reader.take("padding_token_id", parts.padding_token_id));
  TRY_DO(reader.take("add_bos_token", parts.add_bos_token));
  TRY_DO(reader.take("add_eos_token", parts.add_eos_token));
  TRY_DO(reader.take("add_space_prefix", parts.add_space_prefix));
  TRY_DO(reader.take("remove_extra_whitespaces", parts.remove_extra_whitespaces));
  TRY_DO(reader.take_bytes("precompiled_charsmap", parts.precompiled_charsmap));
  return define(parts);
}

}  // namespace pteron::tokenizer
