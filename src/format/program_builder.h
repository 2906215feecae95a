// SPDX-License-Identifier: BSD-3-Clause
// A whole program in memory: one method that calls one graph, with its constants.
#pragma once

#include "format/graph_builder.h"

namespace pteron::format {

class ProgramBuilder : public GraphBuilder {
 public:
  template <class T>
  u32 constant(DType dtype, const Shape& shape, const std::vector<T>& values, const std::string& key = "") {
    const auto bytes = std::as_bytes(std::span(values));
    return constant_bytes(dtype, shape, {bytes.begin(), bytes.end()}, key);
  }
  // Without a key the bytes are stored inline in the blob.
  u32 constant_bytes(DType dtype, const Shape& shape, std::vector<std::byte> bytes, const std::string& key = "");

  std::vector<std::byte> blob() const { return write_delegate(graph, inline_); }
  std::vector<std::byte> program() const;

 private:
  std::vector<std::vector<std::byte>> inline_;
  std::vector<NamedBlob> named_;
};

}  // namespace pteron::format
