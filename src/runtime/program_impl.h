// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "runtime/method_impl.h"
#include "runtime/open_files.h"

#include <mutex>

namespace pteron {

struct Program::Impl {
  Impl(OpenFiles files, LoadOptions load_options);
  static Result<Program> load_from(std::shared_ptr<format::DataSource> source, LoadOptions options);

  Result<const format::MethodSpec*> find(std::string_view name) const;
  Result<Device> get_device();
  Result<std::unique_ptr<MethodLoading>> begin_loading(const format::MethodSpec& spec, const MethodOptions& options);
  // What is loaded already, or loads it.
  Result<std::shared_ptr<LoadedMethod>> load(const format::MethodSpec& spec, const MethodOptions& with);
  // Nothing if it is not loaded, with these options or (without them) with any.
  std::shared_ptr<LoadedMethod> find_loaded(const format::MethodSpec& spec, const MethodOptions* with = nullptr) const;
  // "loading m.pte: method forward", for errors.
  std::string frame(std::string_view method) const;

  const OpenFiles open;
  const LoadOptions options;
  std::vector<MethodInfo> infos;
  graph::ConstantStore constants;
  std::mutex mutex;  // what follows
  std::optional<Device> device;
  std::vector<std::shared_ptr<LoadedMethod>> loaded;
};

}  // namespace pteron
