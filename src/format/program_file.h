// SPDX-License-Identifier: BSD-3-Clause
// The .pte container as plain structs. Everything here has been verified: indices are in range, byte ranges lie in the
// file.
#pragma once

#include "format/data_source.h"

#include <pteron/dtype.h>
#include <pteron/shape.h>

#include <map>
#include <string>
#include <variant>
#include <vector>

namespace pteron::format {

struct TensorSpec {
  i8 scalar_type = 0;          // ExecuTorch's number
  std::optional<DType> dtype;  // nothing for types that Pteron has no name for
  Shape shape;                 // upper bounds if dynamic
  bool dynamic = false;
  bool contiguous = true;         // dim_order is the identity
  bool planned = true;            // has a place in the method's planned memory; else the host supplies it
  std::optional<DataRange> data;  // constant bytes in the .pte
  std::string external_key;       // constant bytes in a .ptd
};

struct IndexList {  // of ints or tensors: indices of other values; -1 is None
  std::vector<i32> items;
};

using ProgramValue = std::variant<std::monostate, i64, bool, f64, TensorSpec, std::string, IndexList, std::vector<f64>,
                                  std::vector<bool>>;

struct KernelCall {
  u32 op;
  std::vector<u32> args;
};
struct DelegateCall {
  u32 delegate;
  std::vector<u32> args;
};
struct MoveCall {
  u32 from, to;
};
struct JumpFalseCall {
  u32 condition, destination;
};
struct FreeCall {
  u32 value;
};
using Instruction = std::variant<KernelCall, DelegateCall, MoveCall, JumpFalseCall, FreeCall>;

struct CompileSpec {
  std::string key;
  std::vector<std::byte> value;
};

struct DelegateSpec {
  std::string id;
  DataRange blob;
  std::vector<CompileSpec> compile_specs;
};

struct MethodSpec {
  std::string name;
  std::vector<ProgramValue> values;
  std::vector<u32> inputs, outputs;  // indices into values
  std::vector<Instruction> instructions;
  std::vector<std::string> operators;  // "aten::add.out"
  std::vector<DelegateSpec> delegates;
};

struct ProgramSpec {
  u32 version = 0;
  std::vector<MethodSpec> methods;
  std::map<std::string, DataRange, std::less<>> named_data;
};

// The first bytes of a file say how long its flatbuffer part is. 64 bytes are enough (fewer if the file is shorter).
struct ProgramHeader {
  u64 program_size = 0;       // the flatbuffer, from offset 0
  u64 segment_base = 0;       // 0: no segments
  u64 segment_data_size = 0;  // 0: unknown
};
constexpr u64 program_header_bytes = 64;
Result<ProgramHeader> read_program_header(Bytes head, u64 file_size);

// Verifies and converts. `program` holds the first header.program_size bytes of the file, 16-byte aligned.
Result<ProgramSpec> read_program(Bytes program, const ProgramHeader& header, u64 file_size);

std::optional<DType> dtype_of_scalar_type(i8 scalar_type);
std::string_view scalar_type_name(i8 scalar_type);

}  // namespace pteron::format
