// SPDX-License-Identifier: BSD-3-Clause
// Builds programs by hand, for what no exporter emits (or what no exporter should).
#pragma once

#include "format/graph_builder.h"

#include <pteron/program.h>

namespace pteron::test {

// `graph` may be corrupted on purpose.
class GraphBuilder : public format::GraphBuilder {
 public:
  template <class T>
  u32 constant(DType dtype, const Shape& shape, const std::vector<T>& values, const std::string& key = "") {
    const auto bytes = std::as_bytes(std::span(values));
    return constant_bytes(dtype, shape, {bytes.begin(), bytes.end()}, key);
  }
  // Without a key the bytes are stored inline in the blob.
  u32 constant_bytes(DType dtype, const Shape& shape, std::vector<std::byte> bytes, const std::string& key);

  std::vector<std::byte> blob() const { return format::write_delegate(graph, inline_); }
  std::vector<std::byte> program() const;

 private:
  std::vector<std::vector<std::byte>> inline_;
  std::vector<format::NamedBlob> named_;
};

template <class T>
Tensor tensor_of(DType dtype, const Shape& shape, const std::vector<T>& values) {
  return Tensor::of(dtype, shape, std::span<const T>(values));
}

}  // namespace pteron::test
