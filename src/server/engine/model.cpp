// SPDX-License-Identifier: BSD-3-Clause
#include "server/engine/model.h"

#include "base/error.h"
#include "base/path.h"

#include <algorithm>
#include <chrono>
#include <filesystem>

namespace pteron::server {
namespace {

std::string name_of_file(const std::string& path) {
  const std::filesystem::path file = std::filesystem::absolute(os::path(path));
  const std::string stem = os::text(file.stem());
  return stem == "model" && file.has_parent_path() ? os::text(file.parent_path().filename()) : stem;
}

// Tokens of the longest kind fill the context. Twice as much, because a tokenizer may make a text shorter first.
u64 most_bytes_of(const LanguageModel& model) {
  const Tokenizer* tokenizer = model.tokenizer();
  if (!tokenizer) return 0;
  size_t longest = 1;
  for (u32 id = 0; id < tokenizer->vocab_size(); ++id)
    longest = std::max({longest, tokenizer->bytes(id).size(), tokenizer->token(id).value_or("").size()});
  return u64(2) * longest * model.info().context;
}

i64 now() {
  const auto time = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::seconds>(time).count();
}

}  // namespace

ToolStyle find_tool_style(const LanguageModel& model) {
  ToolStyle style;
  if (!model.chat_template()) return style;
  constexpr std::string_view name = "probe_of_tools";
  const std::string tools = str(R"([{"type": "function", "function": {"name": ")", name,
                                R"(", "description": "", "parameters": {"type": "object", "properties": {}}}}])");
  const auto text =
      model.chat_template()->render({.messages = R"([{"role": "user", "content": "Hello"}])", .tools = tools});
  if (!text || !text->contains(name)) return style;
  style.in_template = true;
  style.tagged = text->contains("<tool_call>");
  if (!style.tagged && text->contains("\"parameters\": dict")) style.arguments = "parameters";
  return style;
}

Result<ModelPtr> ModelTable::load(const std::string& path) const {
  const auto stamp = [&] {
    std::error_code ignored;
    const std::filesystem::path file = os::path(path);
    return std::pair(std::filesystem::last_write_time(file, ignored), std::filesystem::file_size(file, ignored));
  };
  const auto before = stamp();
  std::string known = hash ? hash(path) : "";
  TRY(LanguageModel model, load_(path));
  // A file that was replaced meanwhile may be another model than the one that was loaded.
  if (stamp() != before) known.clear();
  const ToolStyle style = find_tool_style(model);
  const u64 most_bytes = most_bytes_of(model);
  return std::make_shared<const ServedModel>(name_of_file(path), path, now(), std::move(model), style, std::move(known),
                                             most_bytes);
}

Result<EncoderPtr> ModelTable::load_encoder(const std::string& path) const {
  if (!load_encoder_) return nullptr;
  TRY(auto encoder, load_encoder_(path));
  if (!encoder) return nullptr;
  return std::make_shared<const ServedEncoder>(name_of_file(path), path, now(), std::move(*encoder));
}

Status ModelTable::add(const std::string& path) {
  TRY(EncoderPtr encoder, load_encoder(path));
  ModelPtr model;
  if (!encoder) {
    TRY(model, load(path));
  }
  const std::string& id = encoder ? encoder->id : model->id;
  if ((!id.empty() && find(id)) || find_encoder(id))
    return invalid("two models are called '", id, "'; rename one of the files");
  const std::scoped_lock lock(mutex_);
  if (encoder)
    encoders_.push_back(std::move(encoder));
  else
    models_.push_back(std::move(model));
  return {};
}

std::vector<Error> ModelTable::reload() {
  std::vector<Error> failed;
  const auto exchange = [&](auto& list, const auto& old, auto fresh) {
    const std::scoped_lock lock(mutex_);
    if (fresh && *fresh)
      std::ranges::replace(list, old, *fresh);
    else
      failed.push_back(fresh ? Error{ErrorKind::invalid, "it is no encoder any more", str(old->path, ": ")}
                             : std::move(fresh.error()).within(old->path));
  };
  for (const ModelPtr& old : all()) exchange(models_, old, load(old->path));
  for (const EncoderPtr& old : encoders()) exchange(encoders_, old, load_encoder(old->path));
  return failed;
}

ModelPtr ModelTable::find(std::string_view id) const {
  const std::scoped_lock lock(mutex_);
  const auto it = std::ranges::find_if(models_, [&](const ModelPtr& m) { return id.empty() || m->id == id; });
  return it == models_.end() ? nullptr : *it;
}

std::vector<ModelPtr> ModelTable::all() const {
  const std::scoped_lock lock(mutex_);
  return models_;
}

EncoderPtr ModelTable::find_encoder(std::string_view id) const {
  const std::scoped_lock lock(mutex_);
  const auto it = std::ranges::find_if(encoders_, [&](const EncoderPtr& e) { return id.empty() || e->id == id; });
  return it == encoders_.end() ? nullptr : *it;
}

std::vector<EncoderPtr> ModelTable::encoders() const {
  const std::scoped_lock lock(mutex_);
  return encoders_;
}

}  // namespace pteron::server
