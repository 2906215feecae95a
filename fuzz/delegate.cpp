// SPDX-License-Identifier: BSD-3-Clause
// A delegate's graph, read and compiled for the least device.
#include "format/delegate_graph.h"
#include "fuzz.h"
#include "graph/compiled.h"

namespace pteron::fuzz {

void target(Bytes input) {
  const auto header = format::read_delegate_header(input);
  if (!header) return;
  const auto parsed = format::read_delegate_graph(input, *header);
  if (!parsed) return;
  // Every key leads to some bytes, so that constants get as far as they can.
  const auto find = [](std::string_view) -> Result<graph::DataLocation> {
    return graph::DataLocation{0, {0, 1u << 20}};
  };
  auto graph = graph::build_graph(*parsed, graph::DataLocation{0, {0, input.size()}}, find);
  if (graph) (void)graph::compile(*std::move(graph), gpu::DeviceInfo{}, {});
}

}  // namespace pteron::fuzz
