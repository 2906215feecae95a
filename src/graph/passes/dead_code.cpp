// SPDX-License-Identifier: BSD-3-Clause
#include "graph/passes/editor.h"
#include "graph/passes/passes.h"

namespace pteron::graph {
namespace {

Status run(Graph& graph, const gpu::DeviceInfo&) {
  Editor editor(graph);
  remove_dead_ops(editor);
  return {};
}

}  // namespace

const Pass dead_code_pass{"dead-code", "ops whose results nobody reads are removed", run};

}  // namespace pteron::graph
