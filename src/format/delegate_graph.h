// SPDX-License-Identifier: BSD-3-Clause
// The delegate blob (VH00 header, VK00 flatbuffer) as plain structs: verified, with every id in range.
#pragma once

#include "format/data_source.h"

#include <pteron/dtype.h>
#include <pteron/shape.h>

#include <string>
#include <variant>
#include <vector>

namespace pteron::format {

// Where the parts of a blob lie, relative to its start.
struct DelegateHeader {
  DataRange flatbuffer;
  DataRange constants;
};
// `head` holds the first bytes of a blob, at least delegate_header_bytes of them if there are so many. A blob that is
// no VH00 blob at all gives not_found; a broken header gives invalid.
constexpr u64 delegate_header_bytes = 30;
Result<DelegateHeader> read_delegate_header(Bytes head, u64 blob_size);
inline Result<DelegateHeader> read_delegate_header(Bytes blob) { return read_delegate_header(blob, blob.size()); }

// The number of a type in a file is its place here.
constexpr DType graph_dtypes[] = {DType::boolean, DType::u8,  DType::i8,  DType::i32,
                                  DType::f16,     DType::f32, DType::f64, DType::i64};

struct GraphTensor {
  DType dtype = DType::f32;
  Shape shape;        // upper bounds
  i32 constant = -1;  // index into DelegateGraph::constants
  i32 mem_obj = -1;   // a hint that Pteron ignores
};
struct GraphSymInt {
  i32 initial = 0;
};
struct GraphValueList {
  std::vector<u32> items;
};
using GraphValue = std::variant<std::monostate, i64, f64, bool, GraphTensor, std::vector<i64>, std::vector<f64>,
                                std::vector<bool>, GraphValueList, std::string, GraphSymInt>;

struct GraphCall {
  u32 node_id = 0;
  std::string name;
  std::vector<u32> args;  // indices into values; the output comes last
};

// A float32 constant under a key that starts so promises that each of its values is 0 or a normal number of half
// precision. It is known before the bytes are, so that a device can plan to keep halves.
constexpr std::string_view halves_prefix = "pteron.halves.";

// Bytes of a constant: under a key of the named data, or inline in the blob.
struct GraphConstant {
  std::string key;         // empty: inline
  DataRange inline_bytes;  // relative to the blob's start
  u64 length = 0;          // as the file says; a named constant may be longer than its tensor
};

struct DelegateGraph {
  std::vector<GraphCall> calls;
  std::vector<GraphValue> values;
  std::vector<u32> inputs, outputs;
  std::vector<GraphConstant> constants;
};

// `blob` may end with the flatbuffer: inline constants are not looked at.
Result<DelegateGraph> read_delegate_graph(Bytes blob, const DelegateHeader& header);

}  // namespace pteron::format
