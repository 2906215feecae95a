// SPDX-License-Identifier: BSD-3-Clause
// Brings a delegate's blob and the named data of its program onto the GPU.
#pragma once

#include "graph/runner.h"
#include "options.h"

#include <map>
#include <mutex>

namespace pteron::et {

// What delegates of one program share: constants, told apart by their key in the program's named data.
struct SharedProgram {
  graph::ConstantStore constants;
  std::mutex mutex;
  std::map<std::string, u32, std::less<>> source_of;  // by key
  u32 sources = 0;
};

// The stage decides which code the runtime gets to see.
struct LoadError {
  enum Stage { header, graph, gpu } stage;
  Error error;
};

std::expected<std::shared_ptr<const graph::LoadedGraph>, LoadError> load(
    const std::shared_ptr<graph::Context>& context, SharedProgram& program, Bytes blob,
    const executorch::runtime::NamedDataMap* named_data, const Options& options);

}  // namespace pteron::et
