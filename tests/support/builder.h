// SPDX-License-Identifier: BSD-3-Clause
// Builds programs by hand, for what no exporter emits (or what no exporter should).
#pragma once

#include "format/program_writer.h"

#include <pteron/program.h>

namespace pteron::test {

class GraphBuilder {
 public:
  u32 tensor(DType dtype, const Shape& max);
  template <class T>
  u32 constant(DType dtype, const Shape& shape, const std::vector<T>& values, const std::string& key = "") {
    const auto bytes = std::as_bytes(std::span(values));
    return constant_bytes(dtype, shape, {bytes.begin(), bytes.end()}, key);
  }
  // Without a key the bytes are stored inline in the blob.
  u32 constant_bytes(DType dtype, const Shape& shape, std::vector<std::byte> bytes, const std::string& key);
  u32 integer(i64 v) { return value(v); }
  u32 number(f64 v) { return value(v); }
  u32 boolean(bool v) { return value(v); }
  u32 text(std::string v) { return value(std::move(v)); }
  u32 null() { return value(std::monostate()); }
  u32 ints(std::vector<i64> v) { return value(std::move(v)); }
  u32 list(std::vector<u32> ids) { return value(format::GraphValueList{std::move(ids)}); }
  u32 symint() { return value(format::GraphSymInt{}); }
  u32 value(format::GraphValue v);

  void op(const std::string& name, std::vector<u32> args);
  // A graph input that the method takes as it is. `host` is the method's dtype if it differs from the graph's.
  u32 input(u32 id, bool dynamic = false, std::optional<DType> host = {});
  u32 output(u32 id, bool dynamic = false, std::optional<DType> host = {});

  // For corrupting on purpose.
  format::DelegateGraph graph;

  std::vector<std::byte> blob() const { return format::write_delegate(graph, inline_); }
  std::vector<std::byte> program() const;

 private:
  format::TensorSpec spec_of(u32 id, bool dynamic, std::optional<DType> host) const;
  std::vector<std::vector<std::byte>> inline_;
  std::vector<format::NamedBlob> named_;
  std::vector<format::TensorSpec> inputs_, outputs_;
};

template <class T>
Tensor tensor_of(DType dtype, const Shape& shape, const std::vector<T>& values) {
  return Tensor::of(dtype, shape, std::span<const T>(values));
}

}  // namespace pteron::test
