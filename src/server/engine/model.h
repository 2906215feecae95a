// SPDX-License-Identifier: BSD-3-Clause
// The models that a server has, by the names that requests use.
#pragma once

#include <pteron/chat.h>

#include <map>
#include <mutex>

namespace pteron::server {

// How a model writes that it wants a tool to be called.
struct ToolStyle {
  bool in_template = false;             // its chat template knows tools; else they are described in a system message
  bool tagged = true;                   // <tool_call>{…}</tool_call>, else the answer is the object itself
  std::string arguments = "arguments";  // the member that holds them
};

// A language model under a name. Immutable, so requests go on with theirs when it is loaded again.
struct ServedModel {
  std::string id, path;
  i64 created = 0;
  LanguageModel model;
  ToolStyle tools;
};
using ModelPtr = std::shared_ptr<const ServedModel>;

// Finds out by rendering what a template does with tools.
ToolStyle find_tool_style(const LanguageModel& model);

class ModelTable {
 public:
  using Load = std::function<Result<LanguageModel>(const std::string& path)>;
  explicit ModelTable(Load load) : load_(std::move(load)) {}

  // Its name is that of the file, or of its folder if the file is called "model".
  Status add(const std::string& path);
  // Everything from its file again; those that fail stay as they are, with a message each.
  std::vector<Error> reload();
  // After its device was lost. Does nothing if `lost` was replaced already.
  Status replace(const ModelPtr& lost);

  ModelPtr find(std::string_view id) const;  // empty: the first; null if there is none
  std::vector<ModelPtr> all() const;

 private:
  Result<ModelPtr> load(const std::string& path) const;

  Load load_;
  mutable std::mutex mutex_;
  std::vector<ModelPtr> models_;
};

}  // namespace pteron::server
