// SPDX-License-Identifier: BSD-3-Clause
#include "differential/reference/program.h"

#include "format/tensor_file.h"
#include "support/fixture.h"

#include <stdexcept>

namespace pteron::reference {
namespace {

template <class T>
T need(Result<T> result) {
  if (!result) throw std::runtime_error(result.error().to_string());
  return *std::move(result);
}

Bytes cut(Bytes from, format::DataRange range) { return from.subspan(range.offset, range.size); }
std::vector<std::byte> copy_of(Bytes bytes) { return {bytes.begin(), bytes.end()}; }

using NamedData = std::map<std::string, Bytes, std::less<>>;

Graph read_graph(Bytes blob, const NamedData& named) {
  Graph out;
  out.file = need(format::read_delegate_graph(blob, need(format::read_delegate_header(blob))));
  for (const format::GraphConstant& constant : out.file.constants) {
    if (constant.key.empty()) {
      out.constants.push_back(copy_of(cut(blob, constant.inline_bytes)));
    } else {
      const auto found = named.find(constant.key);
      if (found == named.end()) throw std::runtime_error("there is no data under " + constant.key);
      out.constants.push_back(copy_of(found->second));
    }
  }
  return out;
}

}  // namespace

Graph read_graph(Bytes blob) { return read_graph(blob, {}); }

Method::Method(const std::string& path, const std::vector<std::string>& data_files) {
  std::vector<std::vector<std::byte>> files{test::read_bytes(path)};
  for (const std::string& file : data_files) files.push_back(test::read_bytes(file));
  open(files, Noise());
}

Method::Method(std::vector<std::byte> program, Noise noise) { open({std::move(program)}, noise); }

void Method::open(const std::vector<std::vector<std::byte>>& files, Noise noise) {
  const Bytes program = files[0];
  const auto header =
      need(format::read_program_header(program.first(std::min<size_t>(64, program.size())), program.size()));
  const auto spec = need(format::read_program(program.first(header.program_size), header, program.size()));
  NamedData named;
  for (const auto& [key, range] : spec.named_data) named.emplace(key, cut(program, range));
  for (size_t i = 1; i < files.size(); ++i) {
    const Bytes file = files[i];
    const auto head = need(format::read_tensor_file_header(
        file.first(std::min<size_t>(format::tensor_file_header_bytes, file.size())), file.size()));
    for (const auto& [key, range] : need(format::read_tensor_file(cut(file, head.flatbuffer), head)))
      named.emplace(key, cut(file, range));
  }
  for (const format::MethodSpec& method : spec.methods)
    if (method.name == "forward") spec_ = method;
  for (const format::DelegateSpec& delegate : spec_.delegates)
    interpreters_.emplace_back(graphs_.emplace_back(read_graph(cut(program, delegate.blob), named)), noise);
  initial_.resize(spec_.values.size());
  for (size_t i = 0; i < spec_.values.size(); ++i) {
    const auto* tensor = std::get_if<format::TensorSpec>(&spec_.values[i]);
    if (!tensor || !tensor->dtype) continue;
    initial_[i] = Array(*tensor->dtype, dims_of(tensor->shape));
    if (tensor->data) initial_[i] = decode(*tensor->dtype, dims_of(tensor->shape), cut(program, *tensor->data));
  }
  values_ = initial_;
}

void Method::reset() {
  values_ = initial_;
  for (Interpreter& interpreter : interpreters_) interpreter.reset();
}

std::vector<Tensor> Method::execute(std::span<const Tensor> inputs) {
  if (inputs.size() != spec_.inputs.size()) throw std::runtime_error("the number of inputs is wrong");
  for (size_t i = 0; i < inputs.size(); ++i) values_[spec_.inputs[i]] = from_tensor(inputs[i]);
  for (const format::Instruction& instruction : spec_.instructions) {
    if (const auto* delegate = std::get_if<format::DelegateCall>(&instruction))
      run(*delegate);
    else if (const auto* kernel = std::get_if<format::KernelCall>(&instruction))
      run(*kernel);
    else
      throw std::runtime_error("only calls can be run");
  }
  std::vector<Tensor> out;
  for (u32 id : spec_.outputs) {
    const auto* tensor = std::get_if<format::TensorSpec>(&spec_.values[id]);
    out.push_back(to_tensor(values_[id], tensor ? tensor->dtype : DType::i64));
  }
  return out;
}

// Arguments are the delegate's inputs, then the last of its outputs.
void Method::run(const format::DelegateCall& call) {
  const auto& graph = graphs_[call.delegate].file;
  std::vector<Array> inputs;
  inputs.reserve(graph.inputs.size());
  for (size_t i = 0; i < graph.inputs.size(); ++i) inputs.push_back(values_[call.args.at(i)]);
  std::vector<Array> outputs = interpreters_[call.delegate].execute(inputs);
  const size_t bound = call.args.size() - inputs.size();
  for (size_t i = 0; i < bound; ++i)
    values_[call.args[inputs.size() + i]] = std::move(outputs.at(outputs.size() - bound + i));
}

void Method::run(const format::KernelCall& call) {
  if (!spec_.operators[call.op].starts_with("aten::copy_")) throw std::runtime_error("no " + spec_.operators[call.op]);
  values_[call.args.at(0)].data = values_[call.args.at(1)].data;
}

}  // namespace pteron::reference
