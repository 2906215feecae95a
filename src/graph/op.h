// SPDX-License-Identifier: BSD-3-Clause
// The list of all ops. Each file src/ops/<noun>.cpp defines `const OpList <noun>_ops`; the build collects them.
#pragma once

#include "base/error.h"

#include <span>
#include <string_view>

namespace pteron::graph {

class Plan;

struct OpEntry {
  std::string_view name;  // as it stands in the file: "aten.add.Tensor"
  Status (*plan)(Plan&);
  std::string_view detail = {};   // what a family's shared plan needs to know: an expression, a mode
  bool copies = false;            // if dtypes agree, the result is the same bytes as the first argument
  bool writes_arguments = false;  // updates some of its arguments (caches, optimizer state)
};

using OpList = std::span<const OpEntry>;

// Nothing if no op has this name.
const OpEntry* find_op(std::string_view name);
std::span<const OpList> all_ops();

}  // namespace pteron::graph
