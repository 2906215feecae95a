// SPDX-License-Identifier: BSD-3-Clause
// Methods: a step is begin, the browser works, finish, outputs.
#include "wasm/abi.h"

#include <cstring>

namespace pteron::wasm {
namespace {

Result<TensorView> read_input(Bytes buffer, u32 index) {
  TensorRecord record;
  std::memcpy(&record, buffer.data() + index * sizeof record, sizeof record);
  if (record.dtype > u32(DType::i64)) return invalid("input ", index, " has the unknown dtype ", record.dtype);
  if (record.rank > Shape::max_rank)
    return invalid("input ", index, " has rank ", record.rank, "; at most ", Shape::max_rank, " is supported");
  if (record.data > buffer.size() || record.bytes > buffer.size() - record.data)
    return internal_error("the bytes of input ", index, " are outside of the buffer");
  TensorView out;
  out.dtype = DType(record.dtype);
  for (u32 i = 0; i < record.rank; ++i) out.shape.push_back(record.shape[i]);
  out.bytes = buffer.subspan(record.data, record.bytes);
  return out;
}

Status begin(MethodHandle& method, u32 count, u32 outputs) {
  if (method.under_way) return invalid("a step is under way; call finish first");
  const u64 records = u64(count) * sizeof(TensorRecord);
  if (records + u64(outputs) * sizeof(u32) > method.buffer.size())
    return internal_error("the inputs are not in the buffer");
  method.inputs.clear();
  for (u32 i = 0; i < count; ++i) {
    TRY(const TensorView view, read_input(method.buffer, i));
    method.inputs.push_back(view);
  }
  method.wanted.clear();
  for (u32 i = 0; i < outputs; ++i) {
    u32 output = 0;
    std::memcpy(&output, method.buffer.data() + records + i * sizeof output, sizeof output);
    if (output >= method.method.info().outputs.size())
      return invalid("output ", output, " is asked for, but method ", method.method.info().name, " has ",
                     method.method.info().outputs.size());
    method.wanted.add(output);
  }
  TRY_DO(method.method.begin(method.inputs, method.wanted));
  method.under_way = true;
  return {};
}

}  // namespace

Json describe(const std::vector<OpTiming>& times) {
  Json out = Json::Array();
  for (const OpTiming& time : times)
    out.push_back({{"op", time.op}, {"kernel", time.kernel}, {"nanoseconds", time.nanoseconds}});
  return out;
}

PTERON_EXPORT(pteron_method_release) void release_method(MethodHandle* method) { delete method; }

PTERON_EXPORT(pteron_method_describe) Answer describe_method(MethodHandle* method) {
  return method->engine.tell(describe(method->method.info()));
}

// Where to write the inputs. Nothing while a step is under way: it may still read the last ones.
PTERON_EXPORT(pteron_method_buffer) std::byte* method_buffer(MethodHandle* method, u32 bytes) {
  if (method->under_way) {
    method->engine.fail({ErrorKind::invalid, "a step is under way; call finish first", {}});
    return nullptr;
  }
  method->buffer.resize(std::max<size_t>(bytes, 1));
  return method->buffer.data();
}

// So many inputs are in the buffer, and which outputs are wanted.
PTERON_EXPORT(pteron_method_begin) Answer begin_method(MethodHandle* method, u32 inputs, u32 outputs) {
  return method->engine.done(begin(*method, inputs, outputs));
}

PTERON_EXPORT(pteron_method_finish) Answer finish_method(MethodHandle* method) {
  const auto done = method->method.finish(/*wait=*/false);
  method->under_way = done && !*done;
  if (!done) return method->engine.fail(done.error());
  return *done ? ok : no;
}

// As many records as the method has outputs; valid until the next call.
PTERON_EXPORT(pteron_method_outputs) const TensorRecord* method_outputs(MethodHandle* method) {
  method->outputs.clear();
  for (const Tensor& tensor : method->method.outputs()) {
    TensorRecord& record = method->outputs.emplace_back();
    record.dtype = u32(tensor.dtype());
    record.rank = tensor.shape().rank();
    std::copy(tensor.shape().begin(), tensor.shape().end(), record.shape);
    record.data = u32(reinterpret_cast<std::uintptr_t>(tensor.bytes().data()));
    record.bytes = u32(tensor.bytes().size());
  }
  return method->outputs.data();
}

PTERON_EXPORT(pteron_method_reset) Answer reset(MethodHandle* method) {
  return method->engine.done(method->method.reset());
}

PTERON_EXPORT(pteron_method_rewind) Answer rewind(MethodHandle* method, u32 position) {
  return method->engine.done(method->method.rewind(position));
}

PTERON_EXPORT(pteron_method_clone) MethodHandle* clone(MethodHandle* method) {
  auto copy = method->method.clone();
  if (copy) return new MethodHandle{method->engine, *std::move(copy)};
  method->engine.fail(copy.error());
  return nullptr;
}

PTERON_EXPORT(pteron_method_profile) void profile(MethodHandle* method, bool on) { method->method.set_profiling(on); }
PTERON_EXPORT(pteron_method_times) Answer times(MethodHandle* method) {
  return method->engine.tell(describe(method->method.profile()));
}

PTERON_EXPORT(pteron_method_stats) Answer stats(MethodHandle* method) {
  const MethodStats s = method->method.stats();
  return method->engine.tell({{"dispatches", s.dispatches},
                              {"replanned", s.replanned},
                              {"latePipelines", s.late_pipelines},
                              {"uploadedBytes", s.uploaded_bytes},
                              {"readBackBytes", s.read_back_bytes},
                              {"gpuBytes", s.gpu_bytes},
                              {"workingBytes", s.working_bytes}});
}

}  // namespace pteron::wasm
