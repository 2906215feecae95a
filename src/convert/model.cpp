// SPDX-License-Identifier: BSD-3-Clause
#include "convert/model.h"

#include <algorithm>
#include <cmath>

namespace pteron::convert {
namespace {

constexpr Architecture architectures[] = {
    {"llama", true, false, false},
    {"qwen2", false, true, false},
    {"qwen3", false, false, true},
};

// Keeps products of sizes within 64 bits, and of heads with their width within 32.
constexpr i64 max_size = 1 << 20;
constexpr u32 max_head_width = 1024;

Result<const Architecture*> find_architecture(const Gguf& file) {
  TRY(const auto name, file.text("general.architecture"));
  if (!name) return invalid("the file does not say its architecture (metadata 'general.architecture')");
  std::vector<std::string_view> known;
  for (const Architecture& a : architectures) {
    if (a.name == *name) return &a;
    known.push_back(a.name);
  }
  return unsupported("the architecture '", *name, "' is not supported; ", join(known), " are");
}

Result<u32> checked_size(i64 value, std::string_view key) {
  if (value < 1 || value > max_size)
    return invalid("metadata '", key, "' is ", value, "; it should be between 1 and ", max_size);
  return u32(value);
}

Result<u32> required_size(const Gguf& file, const std::string& key) {
  TRY(const auto value, file.integer(key));
  if (!value) return invalid("metadata '", key, "' is missing");
  return checked_size(*value, key);
}

Result<u32> size_or(const Gguf& file, const std::string& key, u32 otherwise) {
  TRY(const auto value, file.integer(key));
  return checked_size(value.value_or(otherwise), key);
}

Status read_attention(const Gguf& file, const std::string& prefix, Model& model) {
  TRY(model.heads, required_size(file, prefix + "head_count"));
  TRY(model.kv_heads, size_or(file, prefix + "head_count_kv", model.heads));
  if (model.heads % model.kv_heads != 0)
    return invalid(model.heads, " attention heads can't share ", model.kv_heads, " key heads");
  TRY(const auto key_length, file.integer(prefix + "key_length"));
  if (!key_length && model.width % model.heads != 0)
    return invalid("a width of ", model.width, " can't be split into ", model.heads, " heads");
  TRY(model.head_width, checked_size(key_length.value_or(model.width / model.heads), prefix + "key_length"));
  // Also bounds the rotary tables, which are made before any weight is looked at.
  if (model.head_width > max_head_width)
    return unsupported("heads have ", model.head_width, " elements; at most ", max_head_width, " are supported");
  TRY(const u32 value_length, size_or(file, prefix + "value_length", model.head_width));
  if (value_length != model.head_width)
    return unsupported("keys have ", model.head_width, " elements and values ", value_length,
                       "; only equal are supported");
  TRY(const auto epsilon, file.number(prefix + "layer_norm_rms_epsilon"));
  if (!epsilon) return invalid("metadata '", prefix, "layer_norm_rms_epsilon' is missing");
  if (!(*epsilon >= 0) || !std::isfinite(*epsilon))
    return invalid("the norms' epsilon is ", *epsilon, "; it must be 0 or more");
  model.epsilon = *epsilon;
  TRY(model.attention_scale, file.number(prefix + "scale"));
  return {};
}

Status read_tokens(const Gguf& file, Model& model) {
  const auto check = [&](i64 token, std::string_view key) -> Status {
    if (token >= 0 && token < i64(model.vocabulary)) return {};
    return invalid("metadata '", key, "' is ", token, ", but the vocabulary has ", model.vocabulary, " tokens");
  };
  TRY(model.bos, file.integer("tokenizer.ggml.bos_token_id"));
  if (model.bos) TRY_DO(check(*model.bos, "tokenizer.ggml.bos_token_id"));
  for (const char* key :
       {"tokenizer.ggml.eos_token_id", "tokenizer.ggml.eot_token_id", "tokenizer.ggml.eom_token_id"}) {
    TRY(const auto token, file.integer(key));
    if (!token) continue;
    TRY_DO(check(*token, key));
    if (std::find(model.eos.begin(), model.eos.end(), *token) == model.eos.end()) model.eos.push_back(*token);
  }
  return {};
}

}  // namespace

Result<Model> read_model(const Gguf& file) {
  Model model;
  TRY(model.architecture, find_architecture(file));
  const std::string prefix = str(model.architecture->name, ".");
  TRY(const auto name, file.text("general.name"));
  TRY(const auto license, file.text("general.license"));
  model.name = name.value_or("");
  model.license = license.value_or("");
  TRY(model.layers, required_size(file, prefix + "block_count"));
  TRY(model.width, required_size(file, prefix + "embedding_length"));
  TRY(model.hidden, required_size(file, prefix + "feed_forward_length"));
  TRY(model.context, required_size(file, prefix + "context_length"));
  TRY(const auto experts, file.integer(prefix + "expert_count"));
  if (experts.value_or(0) > 0) return unsupported("the model is a mixture of ", *experts, " experts");
  TRY_DO(read_attention(file, prefix + "attention.", model));
  const GgufTensor* embedding = file.tensor("token_embd.weight");
  if (!embedding) return invalid("tensor 'token_embd.weight' is missing");
  model.vocabulary = embedding->shape.dim(0);
  TRY(model.rope,
      read_rope(file, model.architecture->name, model.architecture->interleaved_rope, model.head_width, model.context));
  TRY_DO(read_tokens(file, model));
  return model;
}

}  // namespace pteron::convert
