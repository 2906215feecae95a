// SPDX-License-Identifier: BSD-3-Clause
#include "graph/op.h"

namespace pteron::graph {

const OpEntry* find_op(std::string_view name) {
  for (OpList list : all_ops())
    for (const OpEntry& entry : list)
      if (entry.name == name) return &entry;
  return nullptr;
}

}  // namespace pteron::graph
