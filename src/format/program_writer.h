// SPDX-License-Identifier: BSD-3-Clause
// Writes standard ExecuTorch programs: the structs of program_file.h and delegate_graph.h back into bytes.
#pragma once

#include "format/delegate_graph.h"
#include "format/program_file.h"

#include <functional>

namespace pteron::format {

// Takes the file's bytes in order.
using Sink = std::function<Status(Bytes)>;

// Bytes stored under a key, made when they are written so that a large model never has to be in memory at once.
struct NamedBlob {
  std::string key;
  u64 size = 0;
  std::function<Status(const Sink&)> write;  // gives exactly `size` bytes
};

NamedBlob named_blob(std::string key, std::vector<std::byte> bytes);

// A method and its delegates' blobs, by DelegateSpec; DelegateSpec::blob and TensorSpec::data are ignored.
struct MethodDraft {
  MethodSpec spec;
  std::vector<std::vector<std::byte>> blobs;
};

struct ProgramDraft {
  std::vector<MethodDraft> methods;
  std::vector<NamedBlob> named_data;
};

Status write_program(const ProgramDraft& draft, const Sink& sink);

// A VH00 blob. Constants with a key are stored by key; the others are taken from `inline_constants` (by constant).
std::vector<std::byte> write_delegate(const DelegateGraph& graph,
                                      const std::vector<std::vector<std::byte>>& inline_constants = {});

// A method that is one call of one delegate whose inputs and outputs are the method's, in order.
MethodDraft delegate_method(std::string name, const DelegateGraph& graph, const std::vector<TensorSpec>& inputs,
                            const std::vector<TensorSpec>& outputs);
// A method without instructions that returns numbers, such as get_vocab_size.
MethodDraft constant_method(std::string name, std::vector<ProgramValue> values);

}  // namespace pteron::format
