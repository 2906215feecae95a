// SPDX-License-Identifier: BSD-3-Clause
#include "server/api/sampling.h"

#include <charconv>
#include <cmath>
#include <random>

namespace pteron::server {
namespace {

constexpr size_t most_stops = 16;

std::vector<std::string> read_stops(const Fields& request) {
  const Json* stop = request.find("stop");
  if (!stop) return {};
  std::vector<std::string> out;
  const auto add = [&](const Json& text) {
    if (!text.is_string() || text.get_ref<const std::string&>().empty())
      refuse("stop", "'stop' must be a string or an array of strings that are not empty");
    out.push_back(text.get<std::string>());
  };
  if (!stop->is_array())
    add(*stop);
  else
    for (const Json& text : *stop) add(text);
  if (out.size() > most_stops) refuse("stop", "'stop' has ", out.size(), " strings; at most ", most_stops, " can be");
  return out;
}

std::vector<TokenBias> read_bias(const Fields& request, u32 vocabulary) {
  const Json* bias = request.object("logit_bias");
  if (!bias) return {};
  std::vector<TokenBias> out;
  for (const auto& [key, value] : bias->items()) {
    u32 token = 0;
    const auto [end, problem] = std::from_chars(key.data(), key.data() + key.size(), token);
    if (problem != std::errc() || end != key.data() + key.size() || token >= vocabulary)
      refuse("logit_bias", "'logit_bias' names a token that is not from 0 to ", vocabulary - 1);
    if (!value.is_number() || std::abs(value.get<f64>()) > 100)
      refuse("logit_bias", "'logit_bias' must give numbers from -100 to 100");
    out.push_back({token, value.get<f32>()});
  }
  return out;
}

}  // namespace

GenerationOptions read_sampling(const Fields& request, const ServedModel& model) {
  GenerationOptions out;
  SamplerOptions& s = out.sampling;
  s.temperature = f32(request.number("temperature", 0, 2).value_or(1));
  s.top_p = f32(request.number("top_p", 0, 1).value_or(1));
  if (s.top_p == 0) s.top_k = 1, s.top_p = 1;  // nothing but the best
  if (const auto k = request.integer("top_k", -1, INT32_MAX)) s.top_k = u32(std::max<i64>(*k, 0));
  s.min_p = f32(request.number("min_p", 0, 1).value_or(0));
  s.presence_penalty = f32(request.number("presence_penalty", -2, 2).value_or(0));
  s.frequency_penalty = f32(request.number("frequency_penalty", -2, 2).value_or(0));
  s.repetition_penalty = f32(request.number("repetition_penalty", 0.01, 10).value_or(1));
  s.logit_bias = read_bias(request, model.model.info().vocab_size);
  const auto seed = request.integer("seed", INT64_MIN, INT64_MAX);
  s.seed = seed ? u64(*seed) : std::random_device()();
  out.stops = read_stops(request);
  out.ignore_end = request.boolean("ignore_eos").value_or(false);
  return out;
}

namespace {

[[noreturn]] void refuse_length(u64 size, std::string_view unit, const ServedModel& model, const std::string& param) {
  throw ApiError{.message = str("the prompt has ", size, " ", unit, ", but the context of '", model.id, "' holds ",
                                model.model.info().context, " tokens with the answer; shorten it"),
                 .param = param,
                 .code = "context_length_exceeded"};
}

}  // namespace

std::vector<u32> encode_prompt(const ServedModel& model, std::string_view text, const EncodeOptions& options,
                               const std::string& param) {
  if (model.most_bytes > 0 && text.size() > model.most_bytes) refuse_length(text.size(), "bytes", model, param);
  return value_or_refuse(model.model.encode(text, options), param);
}

u64 answer_length(std::optional<i64> wanted, size_t prompt_tokens, const ServedModel& model,
                  const RequestLimits& limits, const std::string& param) {
  const u32 context = model.model.info().context;
  if (prompt_tokens >= context) refuse_length(prompt_tokens, "tokens", model, param);
  return std::min<u64>({wanted ? u64(*wanted) : limits.max_tokens, limits.max_tokens, context - prompt_tokens + 1});
}

std::optional<Grammar> read_format(const Json* format, const std::string& path) {
  if (!format) return std::nullopt;
  if (!format->is_object()) refuse(path, "'", path, "' must be an object");
  const std::string type = Fields(*format, path).text("type").value_or("text");
  if (type == "text") return std::nullopt;
  if (type == "json_object") return value_or_refuse(Grammar::json_schema(R"({"type": "object"})"), path);
  if (type != "json_schema") refuse(path + ".type", "'", path, ".type' must be text, json_object or json_schema");
  // The Responses API has the members of json_schema beside the type.
  const Json* inner = Fields(*format, path).object("json_schema");
  const Fields fields(inner ? *inner : *format, inner ? path + ".json_schema" : path);
  const Json* schema = fields.find("schema");
  if (!schema) refuse(fields.path("schema"), "'", fields.path("schema"), "' is missing");
  return value_or_refuse(Grammar::json_schema(to_text(*schema)), fields.path("schema"));
}

ModelPtr read_model(const Fields& request, const ModelTable& models) {
  const std::string id = request.text("model").value_or("");
  if (ModelPtr found = models.find(id)) return found;
  if (!id.empty() && models.find_encoder(id))
    refuse("model", "the model '", id, "' turns texts into vectors and writes none; use /v1/embeddings");
  throw ApiError{.status = 404,
                 .message = id.empty() ? "the server has no language model"
                                       : str("the model '", id, "' does not exist; see /v1/models"),
                 .param = "model",
                 .code = "model_not_found"};
}

}  // namespace pteron::server
