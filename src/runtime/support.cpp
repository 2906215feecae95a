// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/support.h"

#include "runtime/method_loading.h"

namespace pteron {

Status check_graph(const format::DelegateGraph& file, std::vector<u8> input_is_static) {
  // Wherever constants will be: planning does not read them.
  constexpr graph::DataLocation anywhere{0, {0, UINT64_MAX}};
  graph::CompileOptions options;
  options.input_is_static = std::move(input_is_static);
  const auto find = [&](std::string_view) { return anywhere; };
  TRY([[maybe_unused]] const auto compiled, compile_delegate(file, anywhere, find, {}, options));
  return {};
}

Status check_delegate(Bytes blob) {
  TRY(const format::DelegateHeader header, format::read_delegate_header(blob));
  TRY(const format::DelegateGraph graph, format::read_delegate_graph(blob, header));
  return check_graph(graph);
}

}  // namespace pteron
