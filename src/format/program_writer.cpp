// SPDX-License-Identifier: BSD-3-Clause
#include "format/program_writer.h"

#include "program_generated.h"
#include "vk_graph_generated.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <numeric>

namespace pteron::format {
namespace {

using flatbuffers::FlatBufferBuilder;
using flatbuffers::Offset;

constexpr u64 segment_alignment = 128;
constexpr u64 planned_alignment = 16;
constexpr u32 planned_memory = 1;  // the id of a method's only planned buffer
constexpr u64 header_bytes = 32;

u64 align(u64 n, u64 to) { return (n + to - 1) / to * to; }

i8 graph_datatype(DType t) { return i8(std::ranges::find(graph_dtypes, t) - graph_dtypes); }

i8 scalar_type_of(DType t) {
  i8 out = 0;
  while (dtype_of_scalar_type(out) != t) ++out;
  return out;
}

template <class To, class From>
std::vector<To> as(const std::vector<From>& items) {
  return std::vector<To>(items.begin(), items.end());
}

// What `make` makes of each item, in their order.
template <class Range, class Make>
auto each(const Range& items, Make make) {
  std::vector<decltype(make(*std::begin(items)))> out;
  out.reserve(std::size(items));
  for (const auto& item : items) out.push_back(make(item));
  return out;
}

std::vector<std::byte> bytes_of(const FlatBufferBuilder& builder) {
  const auto* begin = reinterpret_cast<const std::byte*>(builder.GetBufferPointer());
  return {begin, begin + builder.GetSize()};
}

// --- the delegated graph

struct ValueWriter {
  FlatBufferBuilder& b;

  Offset<fb::vk::Value> wrap(fb::vk::AnyValue type, Offset<void> value) { return fb::vk::CreateValue(b, type, value); }
  Offset<fb::vk::Value> operator()(std::monostate) {
    return wrap(fb::vk::AnyValue_Null, fb::vk::CreateNull(b).Union());
  }
  Offset<fb::vk::Value> operator()(i64 v) { return wrap(fb::vk::AnyValue_Int, fb::vk::CreateInt(b, v).Union()); }
  Offset<fb::vk::Value> operator()(f64 v) { return wrap(fb::vk::AnyValue_Double, fb::vk::CreateDouble(b, v).Union()); }
  Offset<fb::vk::Value> operator()(bool v) { return wrap(fb::vk::AnyValue_Bool, fb::vk::CreateBool(b, v).Union()); }
  Offset<fb::vk::Value> operator()(const GraphTensor& t) {
    const auto dims = b.CreateVector(std::vector<u32>(t.shape.begin(), t.shape.end()));
    const i8 type = graph_datatype(t.dtype);
    return wrap(fb::vk::AnyValue_Tensor,
                fb::vk::CreateTensor(b, type, dims, t.constant, t.mem_obj, 255, 255, type).Union());
  }
  Offset<fb::vk::Value> operator()(const std::vector<i64>& v) {
    return wrap(fb::vk::AnyValue_IntList, fb::vk::CreateIntList(b, b.CreateVector(v)).Union());
  }
  Offset<fb::vk::Value> operator()(const std::vector<f64>& v) {
    return wrap(fb::vk::AnyValue_DoubleList, fb::vk::CreateDoubleList(b, b.CreateVector(v)).Union());
  }
  Offset<fb::vk::Value> operator()(const std::vector<bool>& v) {
    return wrap(fb::vk::AnyValue_BoolList, fb::vk::CreateBoolList(b, b.CreateVector(as<u8>(v))).Union());
  }
  Offset<fb::vk::Value> operator()(const GraphValueList& v) {
    return wrap(fb::vk::AnyValue_ValueList, fb::vk::CreateValueList(b, b.CreateVector(as<i32>(v.items))).Union());
  }
  Offset<fb::vk::Value> operator()(const std::string& v) {
    return wrap(fb::vk::AnyValue_String, fb::vk::CreateString(b, b.CreateString(v)).Union());
  }
  Offset<fb::vk::Value> operator()(GraphSymInt v) {
    return wrap(fb::vk::AnyValue_SymInt, fb::vk::CreateSymInt(b, v.initial).Union());
  }
};

std::vector<std::byte> graph_flatbuffer(const DelegateGraph& graph, const std::vector<u64>& inline_offsets) {
  FlatBufferBuilder b;
  const auto calls = each(graph.calls, [&](const GraphCall& c) {
    return fb::vk::CreateOperatorCall(b, c.node_id, b.CreateString(c.name), b.CreateVector(as<i32>(c.args)));
  });
  const auto values = each(graph.values, [&](const GraphValue& value) { return std::visit(ValueWriter{b}, value); });
  const auto constants = each(graph.constants, [&, at = inline_offsets.begin()](const GraphConstant& c) mutable {
    const bool named = !c.key.empty();
    const u64 offset = *at++;
    const auto key = named ? b.CreateString(c.key) : Offset<flatbuffers::String>();
    return fb::vk::CreateBytes(b, named ? UINT64_MAX : offset, c.length, key);
  });
  const auto no_shaders = b.CreateVector(std::vector<Offset<fb::vk::Bytes>>());
  const auto root = fb::vk::CreateGraph(b, b.CreateString("0"), b.CreateVector(calls), b.CreateVector(values),
                                        b.CreateVector(graph.inputs), b.CreateVector(graph.outputs),
                                        b.CreateVector(constants), no_shaders);
  b.Finish(root, fb::vk::GraphIdentifier());
  return bytes_of(b);
}

// --- the program

struct ProgramValueWriter {
  FlatBufferBuilder& b;
  u64 planned_bytes = 0;  // so far

  Offset<fb::Value> wrap(fb::AnyValue type, Offset<void> value) { return fb::CreateValue(b, type, value); }
  Offset<fb::Value> operator()(std::monostate) { return wrap(fb::AnyValue_NullValue, fb::CreateNullValue(b).Union()); }
  Offset<fb::Value> operator()(i64 v) { return wrap(fb::AnyValue_IntValue, fb::CreateIntValue(b, v).Union()); }
  Offset<fb::Value> operator()(bool v) { return wrap(fb::AnyValue_BoolValue, fb::CreateBoolValue(b, v).Union()); }
  Offset<fb::Value> operator()(f64 v) { return wrap(fb::AnyValue_DoubleValue, fb::CreateDoubleValue(b, v).Union()); }
  Offset<fb::Value> operator()(const std::string& v) {
    return wrap(fb::AnyValue_StringValue, fb::CreateStringValue(b, b.CreateString(v)).Union());
  }
  Offset<fb::Value> operator()(const TensorSpec& t) {
    const auto sizes = b.CreateVector(std::vector<i32>(t.shape.begin(), t.shape.end()));
    std::vector<u8> order(t.shape.rank());
    std::iota(order.begin(), order.end(), u8(0));
    const i8 type = t.dtype ? scalar_type_of(*t.dtype) : t.scalar_type;
    const auto dim_order = b.CreateVector(order);
    const auto allocation = t.planned ? place(t) : Offset<fb::Allocation>();
    const auto extra = t.external_key.empty() ? Offset<fb::TensorExtra>()
                                              : fb::CreateTensorExtra(b, 0, b.CreateString(t.external_key), 1);
    return wrap(
        fb::AnyValue_TensorValue,
        fb::CreateTensorValue(b, type, 0, sizes, dim_order, false, 0, allocation, 0, t.dynamic ? 1 : 0, extra).Union());
  }
  // Behind what has been placed: these tensors are inputs and outputs, which are alive all the time.
  Offset<fb::Allocation> place(const TensorSpec& t) {
    const u64 at = planned_bytes;
    planned_bytes = align(at + t.shape.numel() * (t.dtype ? size_of(*t.dtype) : 8), planned_alignment);
    return fb::CreateAllocation(b, planned_memory, u32(at), u32(at >> 32));
  }
  Offset<fb::Value> operator()(const IndexList& v) {
    return wrap(fb::AnyValue_IntListValue, fb::CreateIntListValue(b, b.CreateVector(as<i64>(v.items))).Union());
  }
  Offset<fb::Value> operator()(const std::vector<f64>& v) {
    return wrap(fb::AnyValue_DoubleListValue, fb::CreateDoubleListValue(b, b.CreateVector(v)).Union());
  }
  Offset<fb::Value> operator()(const std::vector<bool>& v) {
    return wrap(fb::AnyValue_BoolListValue, fb::CreateBoolListValue(b, b.CreateVector(as<u8>(v))).Union());
  }
};

struct InstructionWriter {
  FlatBufferBuilder& b;

  Offset<fb::Instruction> wrap(fb::AnyCall type, Offset<void> call) { return fb::CreateInstruction(b, type, call); }
  Offset<fb::Instruction> operator()(const KernelCall& c) {
    return wrap(fb::AnyCall_KernelCall, fb::CreateKernelCall(b, i32(c.op), b.CreateVector(as<i32>(c.args))).Union());
  }
  Offset<fb::Instruction> operator()(const DelegateCall& c) {
    return wrap(fb::AnyCall_DelegateCall,
                fb::CreateDelegateCall(b, i32(c.delegate), b.CreateVector(as<i32>(c.args))).Union());
  }
  Offset<fb::Instruction> operator()(const MoveCall& c) {
    return wrap(fb::AnyCall_MoveCall, fb::CreateMoveCall(b, i32(c.from), i32(c.to)).Union());
  }
  Offset<fb::Instruction> operator()(const JumpFalseCall& c) {
    return wrap(fb::AnyCall_JumpFalseCall, fb::CreateJumpFalseCall(b, i32(c.condition), i32(c.destination)).Union());
  }
  Offset<fb::Instruction> operator()(const FreeCall& c) {
    return wrap(fb::AnyCall_FreeCall, fb::CreateFreeCall(b, i32(c.value)).Union());
  }
};

struct Segment {
  u64 offset = 0, size = 0;
};

// Segment 0 holds host constants (none), then come the delegates' blobs, then named data.
std::vector<Segment> lay_out(const ProgramDraft& draft) {
  std::vector<Segment> out{{0, 0}};
  u64 at = 0;
  const auto add = [&](u64 size) {
    out.push_back({at, size});
    at = align(at + size, segment_alignment);
  };
  for (const MethodDraft& method : draft.methods)
    for (const auto& blob : method.blobs) add(blob.size());
  for (const NamedBlob& blob : draft.named_data) add(blob.size);
  return out;
}

Offset<fb::ExecutionPlan> write_method(FlatBufferBuilder& b, const MethodDraft& method, u32& segment) {
  const MethodSpec& spec = method.spec;
  ProgramValueWriter writer{b};
  const auto values = each(spec.values, [&](const ProgramValue& value) { return std::visit(writer, value); });
  std::vector<i64> buffer_sizes{0};  // buffer 0 does not exist
  if (writer.planned_bytes > 0) buffer_sizes.push_back(i64(writer.planned_bytes));
  const auto instructions =
      each(spec.instructions, [&](const Instruction& i) { return std::visit(InstructionWriter{b}, i); });
  const auto operators = each(spec.operators, [&](const std::string& name) {
    const auto dot = name.find('.');
    const std::string overload = dot == std::string::npos ? "" : name.substr(dot + 1);
    return fb::CreateOperator(b, b.CreateString(name.substr(0, dot)), b.CreateString(overload));
  });
  const auto delegates = each(spec.delegates, [&](const DelegateSpec& delegate) {
    const auto specs = each(delegate.compile_specs, [&](const CompileSpec& s) {
      const auto* data = reinterpret_cast<const u8*>(s.value.data());
      return fb::CreateCompileSpec(b, b.CreateString(s.key), b.CreateVector(data, s.value.size()));
    });
    const auto data = fb::CreateDelegateData(b, 1, segment++);
    return fb::CreateDelegate(b, b.CreateString(delegate.id), data, b.CreateVector(specs));
  });
  const auto inputs = b.CreateVector(as<i32>(spec.inputs)), outputs = b.CreateVector(as<i32>(spec.outputs));
  const auto chain = fb::CreateChain(b, b.CreateVector(as<i32>(spec.inputs)), b.CreateVector(as<i32>(spec.outputs)),
                                     b.CreateVector(instructions));
  const auto meta = fb::CreateContainerMetadata(b, b.CreateString(""), b.CreateString(""));
  return fb::CreateExecutionPlan(b, b.CreateString(spec.name), meta, b.CreateVector(values), inputs, outputs,
                                 b.CreateVector(std::vector{chain}), b.CreateVector(operators),
                                 b.CreateVector(delegates), b.CreateVector(buffer_sizes));
}

std::vector<std::byte> program_flatbuffer(const ProgramDraft& draft, const std::vector<Segment>& segments) {
  FlatBufferBuilder b;
  u32 next = 1;
  const auto plans = each(draft.methods, [&](const MethodDraft& method) { return write_method(b, method, next); });
  const auto named = each(draft.named_data, [&](const NamedBlob& blob) {
    return fb::CreateNamedData(b, b.CreateString(blob.key), next++);
  });
  const auto list = each(segments, [&](const Segment& s) { return fb::CreateDataSegment(b, s.offset, s.size); });
  const auto constants = fb::CreateSubsegmentOffsets(b, 0, b.CreateVector(std::vector<u64>{0}));
  // Tools expect lists that hold nothing to be there.
  const auto no_buffers = b.CreateVector(std::vector<Offset<fb::Buffer>>());
  const auto no_inline_data = b.CreateVector(std::vector<Offset<fb::InlineData>>());
  const auto no_mutable_data = b.CreateVector(std::vector<Offset<fb::SubsegmentOffsets>>());
  const auto root = fb::CreateProgram(b, 0, b.CreateVector(plans), no_buffers, no_inline_data, b.CreateVector(list),
                                      constants, no_mutable_data, b.CreateVector(named));
  b.Finish(root, fb::ProgramIdentifier());
  return bytes_of(b);
}

Status pad(const Sink& sink, u64 bytes) { return bytes == 0 ? Status() : sink(std::vector<std::byte>(bytes)); }

template <class T>
void put(std::vector<std::byte>& out, u64 at, T value) {
  std::memcpy(out.data() + at, &value, sizeof value);
}

}  // namespace

NamedBlob named_blob(std::string key, std::vector<std::byte> bytes) {
  const u64 size = bytes.size();
  auto shared = std::make_shared<std::vector<std::byte>>(std::move(bytes));
  return {std::move(key), size, [shared](const Sink& sink) { return sink(*shared); }};
}

std::vector<std::byte> write_delegate(const DelegateGraph& graph,
                                      const std::vector<std::vector<std::byte>>& inline_constants) {
  std::vector<u64> offsets(graph.constants.size(), 0);
  std::vector<std::byte> constants;
  for (size_t i = 0; i < graph.constants.size() && i < inline_constants.size(); ++i) {
    if (!graph.constants[i].key.empty()) continue;
    offsets[i] = constants.size();
    constants.insert(constants.end(), inline_constants[i].begin(), inline_constants[i].end());
    constants.resize(align(constants.size(), 16));
  }
  const std::vector<std::byte> flatbuffer = graph_flatbuffer(graph, offsets);
  const u64 constants_at = header_bytes + align(flatbuffer.size(), 16);
  std::vector<std::byte> out(constants_at + constants.size());
  std::memcpy(out.data() + 4, "VH00", 4);
  put(out, 8, u16(30));
  put(out, 10, u32(header_bytes));
  put(out, 14, u32(flatbuffer.size()));
  put(out, 18, u32(constants_at));
  put(out, 22, u64(constants.size()));
  std::memcpy(out.data() + header_bytes, flatbuffer.data(), flatbuffer.size());
  if (!constants.empty()) std::memcpy(out.data() + constants_at, constants.data(), constants.size());
  return out;
}

Status write_program(const ProgramDraft& draft, const Sink& sink) {
  const std::vector<Segment> segments = lay_out(draft);
  const std::vector<std::byte> flatbuffer = program_flatbuffer(draft, segments);
  // The extended header goes between the flatbuffer's first eight bytes and the rest, which keeps its alignment.
  std::vector<std::byte> front(flatbuffer.size() + header_bytes);
  u32 root = 0;
  std::memcpy(&root, flatbuffer.data(), 4);
  put(front, 0, u32(root + header_bytes));
  std::memcpy(front.data() + 4, flatbuffer.data() + 4, 4);
  std::memcpy(front.data() + 8, "eh00", 4);
  put(front, 12, u32(header_bytes));
  put(front, 16, u64(front.size()));
  put(front, 24, align(front.size(), segment_alignment));
  put(front, 32, segments.back().offset + segments.back().size);
  std::memcpy(front.data() + 8 + header_bytes, flatbuffer.data() + 8, flatbuffer.size() - 8);
  TRY_DO(sink(front));
  TRY_DO(pad(sink, align(front.size(), segment_alignment) - front.size()));
  size_t segment = 1;
  const auto finish_segment = [&]() -> Status {
    const u64 end = segments[segment].offset + segments[segment].size;
    const bool last = ++segment == segments.size();
    return last ? Status() : pad(sink, segments[segment].offset - end);
  };
  for (const MethodDraft& method : draft.methods)
    for (const auto& blob : method.blobs) {
      TRY_DO(sink(blob));
      TRY_DO(finish_segment());
    }
  for (const NamedBlob& blob : draft.named_data) {
    u64 written = 0;
    TRY_DO(blob.write([&](Bytes bytes) {
      written += bytes.size();
      return sink(bytes);
    }));
    if (written != blob.size)
      return internal_error("named data '", blob.key, "' was announced with ", blob.size, " bytes but has ", written);
    TRY_DO(finish_segment());
  }
  return {};
}

MethodDraft delegate_method(std::string name, const DelegateGraph& graph, const std::vector<TensorSpec>& inputs,
                            const std::vector<TensorSpec>& outputs) {
  MethodDraft out;
  MethodSpec& spec = out.spec;
  spec.name = std::move(name);
  DelegateCall call{0, {}};
  for (const TensorSpec& t : inputs) spec.inputs.push_back(u32(spec.values.size())), spec.values.emplace_back(t);
  for (const TensorSpec& t : outputs) spec.outputs.push_back(u32(spec.values.size())), spec.values.emplace_back(t);
  call.args = spec.inputs;
  call.args.insert(call.args.end(), spec.outputs.begin(), spec.outputs.end());
  spec.instructions.emplace_back(std::move(call));
  spec.delegates.push_back({"VulkanBackend", {}, {}});
  out.blobs.push_back(write_delegate(graph));
  return out;
}

MethodDraft constant_method(std::string name, std::vector<ProgramValue> values) {
  MethodDraft out;
  out.spec.name = std::move(name);
  for (ProgramValue& value : values) {
    out.spec.outputs.push_back(u32(out.spec.values.size()));
    out.spec.values.push_back(std::move(value));
  }
  return out;
}

}  // namespace pteron::format
