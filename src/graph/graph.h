// SPDX-License-Identifier: BSD-3-Clause
// A delegated program as the engine sees it: values and an op list that passes may rewrite. No GPU, no flatbuffers.
#pragma once

#include "base/error.h"
#include "format/data_source.h"
#include "format/delegate_graph.h"

#include <pteron/dtype.h>
#include <pteron/shape.h>

#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace pteron::graph {

using ValueId = u32;
constexpr ValueId no_value = UINT32_MAX;

// Where a constant's bytes are: one of the program's files and a range in it.
struct DataLocation {
  u32 source = 0;
  format::DataRange range;

  friend bool operator==(const DataLocation&, const DataLocation&) = default;
};
// Looks a named-data key up.
using FindData = std::function<Result<DataLocation>(std::string_view key)>;

struct Tensor {
  DType dtype = DType::f32;     // in the file
  Shape max;                    // upper bounds of the live shape, from the file
  std::optional<u32> constant;  // index into Graph::constants
  // In the graph of a batch (see lanes.h): the live shape is always `max`, and where the bytes are those of another
  // tensor, which itself has a part too.
  struct Part {
    ValueId of = no_value;
    u64 offset = 0;  // bytes
  };
  bool fixed = false;
  std::optional<Part> part = {};
};
struct SymInt {
  i32 initial = 0;
};
struct ValueList {
  std::vector<ValueId> items;
};
using Value = std::variant<std::monostate, i64, f64, bool, Tensor, std::vector<i64>, std::vector<f64>,
                           std::vector<bool>, ValueList, std::string, SymInt>;

struct Constant {
  DataLocation location;  // as long as its tensor
  std::string name;       // for messages: the key, or "inline"
  bool halves = false;    // float32, and its key promises that halves hold every value
};

struct OpEntry;

struct Op {
  std::string name;
  const OpEntry* entry = nullptr;
  std::vector<ValueId> args;
  u32 position = 0;              // in the file's op list, for messages
  u32 node_id = 0;               // the exporter's debug handle
  std::string code;              // ops that passes make: generated WGSL
  std::optional<u32> lane = {};  // the one conversation of a batch that it works for

  // By its name in the signature; no_value if there is none.
  ValueId arg(std::string_view name) const;
};

struct Graph {
  std::vector<Value> values;
  std::vector<Op> ops;
  std::vector<ValueId> inputs, outputs;
  size_t file_outputs = 0;  // outputs behind these were added by the engine
  std::vector<Constant> constants;
  u32 lanes = 1;  // conversations; inputs, outputs and states are those of the first, then those of the second, …

  const Tensor* tensor(ValueId id) const { return std::get_if<Tensor>(&values[id]); }
  // A call gives the inputs, then takes outputs: all, or fewer, and then the first ones are updated buffers that nobody
  // takes. The output that it takes first; an error if a call with so many arguments does not fit.
  Result<u32> first_taken_output(size_t arguments) const;
  bool is_input(ValueId id) const;
};

// Describes an op the file has and the engine lacks.
struct UnsupportedOp {
  u32 position;
  std::string name;
  std::string reason;
};

// Checks everything that does not need a plan: constants' sizes and keys, op names, arguments against signatures.
// `blob` says where the graph's inline constants are. Ops that can't run are put into `problems` if given and lose
// their entry, else they are an error.
Result<Graph> build_graph(const format::DelegateGraph& file, DataLocation blob, const FindData& find,
                          std::vector<UnsupportedOp>* problems = nullptr);

// The integer that a number is; nothing if it is none, or too large to tell.
std::optional<i64> exact_integer(f64 value);
std::string_view type_name(const Value& value);

// The ops' place in messages: "op 17 et_vk.linear_q4gsw.default".
std::string describe(const Op& op);

}  // namespace pteron::graph
