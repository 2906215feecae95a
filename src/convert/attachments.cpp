// SPDX-License-Identifier: BSD-3-Clause
#include "convert/attachments.h"

#include "base/utf8.h"

#include <nlohmann/json.hpp>

#include <cmath>

namespace pteron::convert {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view tokenizer_prefix = "tokenizer.";
constexpr std::string_view template_key = "tokenizer.chat_template";

Result<Json> to_json(const Gguf& file, const GgufValue& value) {
  const auto checked = [](std::string text) -> Result<Json> {
    if (!utf8::valid(text)) return invalid("it holds text that is not valid UTF-8");
    return Json(std::move(text));
  };
  if (const auto* text = std::get_if<std::string>(&value)) return checked(*text);
  if (const auto* integer = std::get_if<i64>(&value)) return Json(*integer);
  if (const auto* number = std::get_if<f64>(&value)) return Json(*number);
  if (const auto* flag = std::get_if<bool>(&value)) return Json(*flag);
  const GgufArray& array = std::get<GgufArray>(value);
  Json out = Json::array();
  if (Gguf::holds_strings(array)) {
    TRY(std::vector<std::string> items, file.strings(array));
    for (std::string& item : items) {
      TRY(Json text, checked(std::move(item)));
      out.push_back(std::move(text));
    }
  } else {
    TRY(const std::vector<f64> items, file.numbers(array));
    for (f64 item : items) {
      const bool integer = std::abs(item) < 0x1p53 && item == std::trunc(item);
      out.push_back(integer ? Json(i64(item)) : Json(item));
    }
  }
  return out;
}

format::NamedBlob blob(std::string key, const std::string& text) {
  const Bytes bytes = std::as_bytes(std::span(text));
  return format::named_blob(std::move(key), {bytes.begin(), bytes.end()});
}

}  // namespace

Result<std::vector<format::NamedBlob>> attachments(const Gguf& file, const Model& model) {
  std::vector<format::NamedBlob> out;
  const auto replace = Json::error_handler_t::replace;
  Json about{{"name", model.name},
             {"architecture", model.architecture->name},
             {"license", model.license},
             {"context_length", model.context},
             {"eos_token_ids", model.eos}};
  if (model.bos) about["bos_token_id"] = *model.bos;
  out.push_back(blob("pteron.model.json", about.dump(1, ' ', false, replace)));

  Json tokenizer = Json::object();
  for (const auto& [key, value] : file.metadata()) {
    if (!key.starts_with(tokenizer_prefix) || key == template_key) continue;
    auto json = within(to_json(file, value), "metadata '", key, "'");
    if (!json) return Failure(std::move(json.error()));
    tokenizer[key.substr(tokenizer_prefix.size())] = *std::move(json);
  }
  if (!tokenizer.empty()) out.push_back(blob("pteron.tokenizer.json", tokenizer.dump(-1, ' ', false, replace)));
  TRY(const auto chat_template, file.text(template_key));
  if (chat_template) out.push_back(blob("pteron.chat_template", *chat_template));
  return out;
}

}  // namespace pteron::convert
