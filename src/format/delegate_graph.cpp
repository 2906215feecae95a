// SPDX-License-Identifier: BSD-3-Clause
#include "format/delegate_graph.h"

#include "format/flatbuffer_tools.h"
#include "vk_graph_generated.h"

namespace pteron::format {
namespace {

constexpr u64 no_offset = UINT64_MAX;

Result<DType> dtype_of(i8 datatype) {
  if (datatype < 0 || datatype >= i8(std::size(graph_dtypes)))
    return invalid("a tensor has the unknown data type ", int(datatype));
  return graph_dtypes[datatype];
}

Result<GraphTensor> read_tensor(const fb::vk::Tensor& tensor, u32 constant_count) {
  GraphTensor out;
  TRY(out.dtype, dtype_of(tensor.datatype()));
  std::vector<u32> dims;
  if (size(tensor.dims()) > Shape::max_rank)
    return unsupported("a tensor has rank ", size(tensor.dims()), "; at most ", Shape::max_rank, " is supported");
  for (u32 d : items(tensor.dims())) dims.push_back(d);
  TRY(out.shape, Shape::from(dims));
  const u64 numel = out.shape.numel();
  if (numel > u64(INT64_MAX) / size_of(out.dtype))
    return invalid("a tensor of shape ", out.shape, " has more bytes than fit in 64 bits");
  out.constant = tensor.constant_id() < 0 ? -1 : tensor.constant_id();
  if (out.constant >= i32(constant_count))
    return invalid("a tensor refers to constant ", out.constant, ", but the graph has ", constant_count);
  out.mem_obj = tensor.mem_obj_id();
  return out;
}

Result<GraphValue> read_value(const fb::vk::Value& value, u32 value_count, u32 constant_count, Budget& budget) {
  if (value.value_type() != fb::vk::AnyValue_NONE && !value.value())
    return invalid("a value has a type but no content");
  switch (value.value_type()) {
    case fb::vk::AnyValue_NONE:
    case fb::vk::AnyValue_Null: return GraphValue();
    case fb::vk::AnyValue_Int: return GraphValue(i64(value.value_as_Int()->value()));
    case fb::vk::AnyValue_Double: return GraphValue(value.value_as_Double()->value());
    case fb::vk::AnyValue_Bool: return GraphValue(value.value_as_Bool()->value());
    case fb::vk::AnyValue_String:
      TRY_DO(budget.take(value.value_as_String()->value()));
      return GraphValue(text(value.value_as_String()->value()));
    case fb::vk::AnyValue_SymInt: return GraphValue(GraphSymInt{value.value_as_SymInt()->value()});
    case fb::vk::AnyValue_Tensor: {
      TRY(GraphTensor tensor, read_tensor(*value.value_as_Tensor(), constant_count));
      return GraphValue(tensor);
    }
    case fb::vk::AnyValue_IntList: {
      TRY_DO(budget.take(value.value_as_IntList()->items()));
      std::vector<i64> out;
      for (i64 item : items(value.value_as_IntList()->items())) out.push_back(item);
      return GraphValue(std::move(out));
    }
    case fb::vk::AnyValue_DoubleList: {
      TRY_DO(budget.take(value.value_as_DoubleList()->items()));
      std::vector<f64> out;
      for (f64 item : items(value.value_as_DoubleList()->items())) out.push_back(item);
      return GraphValue(std::move(out));
    }
    case fb::vk::AnyValue_BoolList: {
      TRY_DO(budget.take(value.value_as_BoolList()->items()));
      std::vector<bool> out;
      for (u8 item : items(value.value_as_BoolList()->items())) out.push_back(item != 0);
      return GraphValue(std::move(out));
    }
    case fb::vk::AnyValue_ValueList: {
      TRY_DO(budget.take(value.value_as_ValueList()->items()));
      GraphValueList out;
      for (i32 item : items(value.value_as_ValueList()->items())) {
        if (item < 0 || u32(item) >= value_count)
          return invalid("a list refers to value ", item, ", but the graph has ", value_count);
        out.items.push_back(u32(item));
      }
      return GraphValue(std::move(out));
    }
  }
  return invalid("a value has the unknown type ", int(value.value_type()));
}

Result<GraphConstant> read_constant(const fb::vk::Bytes& bytes, DataRange inline_area) {
  GraphConstant out;
  out.key = text(bytes.named_key());
  out.length = bytes.length();
  if (bytes.offset() == no_offset) {
    if (out.key.empty()) return invalid("it has neither an inline offset nor a named-data key");
    return out;
  }
  out.key.clear();
  TRY(out.inline_bytes, subrange(inline_area, bytes.offset(), bytes.length(), "its inline data"));
  return out;
}

template <class T>
Result<std::vector<u32>> ids(const flatbuffers::Vector<T>* list, u64 count, std::string_view what) {
  std::vector<u32> out;
  for (T item : items(list)) {
    if (i64(item) < 0 || u64(item) >= count)
      return invalid(what, " refers to value ", item, ", but the graph has ", count);
    out.push_back(u32(item));
  }
  return out;
}

// A list may hold values that are lists; one that holds itself would make a walker run forever.
Status check_lists_are_flat(const std::vector<GraphValue>& values) {
  for (const GraphValue& value : values) {
    const auto* list = std::get_if<GraphValueList>(&value);
    if (!list) continue;
    for (u32 item : list->items)
      if (std::holds_alternative<GraphValueList>(values[item]))
        return invalid("a value list contains another value list");
  }
  return {};
}

}  // namespace

Result<DelegateHeader> read_delegate_header(Bytes head, u64 blob_size) {
  if (head.size() < delegate_header_bytes)
    return invalid("the delegate blob has ", head.size(), " bytes; its header needs ", delegate_header_bytes);
  if (std::memcmp(head.data() + 4, "VH00", 4) != 0)
    return not_found("the delegate blob is not a Vulkan/WebGPU graph: bytes 4 to 8 are not 'VH00'");
  const u64 declared = load<u16>(head, 8);
  const u64 graph_offset = load<u32>(head, 10);
  const u64 graph_size = load<u32>(head, 14);
  const u64 bytes_offset = load<u32>(head, 18);
  const u64 bytes_size = load<u64>(head, 22);
  if (declared < delegate_header_bytes)
    return invalid("the delegate header says it is ", declared, " bytes long; at least ", delegate_header_bytes,
                   " are needed");
  if (graph_offset < declared)
    return invalid("the delegate's graph starts at ", graph_offset, ", inside of the header of ", declared, " bytes");
  if (graph_size == 0) return invalid("the delegate's graph is empty");
  if (bytes_offset < graph_offset || graph_size > bytes_offset - graph_offset)
    return invalid("the delegate's graph of ", graph_size, " bytes at ", graph_offset, " overlaps its constants at ",
                   bytes_offset);
  const DataRange whole{0, blob_size};
  DelegateHeader header;
  TRY(header.flatbuffer, subrange(whole, graph_offset, graph_size, "the delegate's graph"));
  TRY(header.constants, subrange(whole, bytes_offset, bytes_size, "the delegate's constants"));
  if (bytes_size == 0) header.constants.size = blob_size - bytes_offset;
  return header;
}

Result<DelegateGraph> read_delegate_graph(Bytes blob, const DelegateHeader& header) {
  Bytes bytes = blob.subspan(header.flatbuffer.offset, header.flatbuffer.size);
  std::vector<std::byte> aligned;
  if (reinterpret_cast<std::uintptr_t>(bytes.data()) % 8 != 0) {
    aligned.assign(bytes.begin(), bytes.end());
    bytes = aligned;
  }
  if (!verify<fb::vk::Graph>(bytes, fb::vk::GraphIdentifier()))
    return invalid("the delegate's flatbuffer fails verification; it is corrupted or not a 'VK00' graph");
  const fb::vk::Graph& graph = *fb::vk::GetGraph(bytes.data());

  DelegateGraph out;
  Budget budget(bytes);
  const u32 value_count = size(graph.values());
  for (const auto* constant : items(graph.constants())) {
    TRY_DO(budget.take(constant->named_key()));
    auto c = within(read_constant(*constant, header.constants), "constant ", out.constants.size());
    if (!c) return Failure(std::move(c.error()));
    out.constants.push_back(*std::move(c));
  }
  for (const auto* value : items(graph.values())) {
    auto v = within(read_value(*value, value_count, u32(out.constants.size()), budget), "value ", out.values.size());
    if (!v) return Failure(std::move(v.error()));
    out.values.push_back(*std::move(v));
  }
  TRY_DO(check_lists_are_flat(out.values));
  for (const auto* call : items(graph.chain())) {
    TRY_DO(budget.take(call->name()));
    TRY_DO(budget.take(call->args()));
    GraphCall c{call->node_id(), text(call->name()), {}};
    auto args = within(ids(call->args(), value_count, "an argument"), "op ", out.calls.size(), " ", c.name);
    if (!args) return Failure(std::move(args.error()));
    c.args = *std::move(args);
    out.calls.push_back(std::move(c));
  }
  TRY(out.inputs, ids(graph.input_ids(), value_count, "an input"));
  TRY(out.outputs, ids(graph.output_ids(), value_count, "an output"));
  return out;
}

}  // namespace pteron::format
