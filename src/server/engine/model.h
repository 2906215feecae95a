// SPDX-License-Identifier: BSD-3-Clause
// The models that a server has, by the names that requests use.
#pragma once

#include <pteron/chat.h>
#include <pteron/encoder.h>

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
  std::string hash;    // of its files, if states are kept on disk
  u64 most_bytes = 0;  // of a text that can fit its context
};
using ModelPtr = std::shared_ptr<const ServedModel>;

// An encoder under a name. Only the engine's thread embeds.
struct ServedEncoder {
  std::string id, path;
  i64 created = 0;
  mutable Encoder encoder;
};
using EncoderPtr = std::shared_ptr<const ServedEncoder>;

// Finds out by rendering what a template does with tools.
ToolStyle find_tool_style(const LanguageModel& model);

class ModelTable {
 public:
  using Load = std::function<Result<LanguageModel>(const std::string& path)>;
  // Nothing if the program is no encoder.
  using LoadEncoder = std::function<Result<std::optional<Encoder>>(const std::string& path)>;
  explicit ModelTable(Load load, LoadEncoder load_encoder = {})
      : load_(std::move(load)), load_encoder_(std::move(load_encoder)) {}
  // What a program's states belong to; empty if that can't be said.
  std::function<std::string(const std::string& path)> hash;

  // Its name is that of the file, or of its folder if the file is called "model".
  Status add(const std::string& path);
  // Everything from its file again; those that fail stay as they are, with a message each.
  std::vector<Error> reload();
  ModelPtr find(std::string_view id) const;  // empty: the first; null if there is none
  std::vector<ModelPtr> all() const;
  EncoderPtr find_encoder(std::string_view id) const;
  std::vector<EncoderPtr> encoders() const;

 private:
  Result<ModelPtr> load(const std::string& path) const;
  Result<EncoderPtr> load_encoder(const std::string& path) const;  // null if it is none

  Load load_;
  LoadEncoder load_encoder_;
  mutable std::mutex mutex_;
  std::vector<ModelPtr> models_;
  std::vector<EncoderPtr> encoders_;
};

}  // namespace pteron::server
