// SPDX-License-Identifier: BSD-3-Clause
#include "server/engine/model.h"

#include "base/error.h"

#include <algorithm>
#include <chrono>
#include <filesystem>

namespace pteron::server {
namespace {

std::string name_of_file(const std::string& path) {
  const std::filesystem::path file = std::filesystem::absolute(path);
  const std::string stem = file.stem().string();
  return stem == "model" && file.has_parent_path() ? file.parent_path().filename().string() : stem;
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
  TRY(LanguageModel model, load_(path));
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const ToolStyle style = find_tool_style(model);
  return std::make_shared<const ServedModel>(
      name_of_file(path), path, std::chrono::duration_cast<std::chrono::seconds>(now).count(), std::move(model), style);
}

Status ModelTable::add(const std::string& path) {
  TRY(ModelPtr model, load(path));
  const std::scoped_lock lock(mutex_);
  if (std::ranges::any_of(models_, [&](const ModelPtr& m) { return m->id == model->id; }))
    return invalid("two models are called '", model->id, "'; rename one of the files");
  models_.push_back(std::move(model));
  return {};
}

std::vector<Error> ModelTable::reload() {
  std::vector<Error> failed;
  for (const ModelPtr& old : all()) {
    auto fresh = load(old->path);
    const std::scoped_lock lock(mutex_);
    if (!fresh)
      failed.push_back(std::move(fresh.error()).within(old->path));
    else
      std::ranges::replace(models_, old, *fresh);
  }
  return failed;
}

Status ModelTable::replace(const ModelPtr& lost) {
  if (find(lost->id) != lost) return {};
  TRY(ModelPtr fresh, load(lost->path));
  const std::scoped_lock lock(mutex_);
  std::ranges::replace(models_, lost, fresh);
  return {};
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

}  // namespace pteron::server
