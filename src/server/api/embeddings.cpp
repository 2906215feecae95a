// SPDX-License-Identifier: BSD-3-Clause
#include "server/api/embeddings.h"

#include "server/api/completion_request.h"

#include <cmath>

namespace pteron::server {
namespace {

std::string to_base64(Bytes bytes) {
  constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const auto byte = [&](size_t at) { return at < bytes.size() ? u32(bytes[at]) : 0; };
    const u32 three = byte(i) << 16 | byte(i + 1) << 8 | byte(i + 2);
    for (u32 k = 0; k < 4; ++k) out += i + k <= bytes.size() ? digits[three >> (18 - 6 * k) & 63] : '=';
  }
  return out;
}

std::vector<u32> read_text(const Json& input, const Encoder& encoder) {
  std::vector<u32> tokens;
  if (input.is_string()) {
    if (input.get_ref<const std::string&>().empty()) refuse("input", "'input' holds an empty text");
    tokens = value_or_refuse(encoder.encode(input.get<std::string>()), "input");
  } else if (input.is_array()) {
    tokens = read_tokens(input, "input", encoder.tokenizer() ? encoder.tokenizer()->vocab_size() : UINT32_MAX);
  } else {
    refuse("input", "'input' must be a string, tokens, or an array of one of them");
  }
  if (tokens.empty()) refuse("input", "'input' holds a text without tokens");
  if (tokens.size() > encoder.context())
    throw ApiError{.message = str("a text has ", tokens.size(), " tokens; the model reads at most ", encoder.context()),
                   .param = "input",
                   .code = "context_length_exceeded"};
  return tokens;
}

// The first so many numbers, of length 1 again.
std::vector<f32> shortened(std::vector<f32> vector, u32 dimensions) {
  if (dimensions == vector.size()) return vector;
  vector.resize(dimensions);
  f64 sum = 0;
  for (const f32 x : vector) sum += f64(x) * f64(x);
  for (f32& x : vector) x = sum > 0 ? f32(f64(x) / std::sqrt(sum)) : x;
  return vector;
}

}  // namespace

EmbeddingsRequest read_embeddings(const Fields& request, const Encoder& encoder, const RequestLimits& limits) {
  EmbeddingsRequest out;
  out.dimensions = u32(request.integer("dimensions", 1, encoder.width()).value_or(encoder.width()));
  const std::string format = request.text("encoding_format").value_or("float");
  if (format != "float" && format != "base64") refuse("encoding_format", "'encoding_format' must be float or base64");
  out.base64 = format == "base64";
  const Json& input = request.require("input");
  const bool several = input.is_array() && !input.empty() && !input[0].is_number();
  if (several && input.size() > limits.max_inputs)
    refuse("input", "'input' has ", input.size(), " texts; at most ", limits.max_inputs, " can be");
  if (!several)
    out.inputs.push_back(read_text(input, encoder));
  else
    for (const Json& text : input) out.inputs.push_back(read_text(text, encoder));
  return out;
}

Json embeddings_object(const EmbeddingsRequest& request, const std::vector<std::vector<f32>>& vectors,
                       const std::string& model) {
  Json data = Json::array();
  size_t tokens = 0;
  for (size_t i = 0; i < vectors.size(); ++i) {
    tokens += request.inputs[i].size();
    const std::vector<f32> vector = shortened(vectors[i], request.dimensions);
    data.push_back({{"object", "embedding"}, {"index", i}});
    data.back()["embedding"] = request.base64 ? Json(to_base64(std::as_bytes(std::span(vector)))) : Json(vector);
  }
  return {{"object", "list"},
          {"data", std::move(data)},
          {"model", model},
          {"usage", {{"prompt_tokens", tokens}, {"total_tokens", tokens}}}};
}

}  // namespace pteron::server
