// SPDX-License-Identifier: BSD-3-Clause
#include "format/program_file.h"

#include "format/flatbuffer_tools.h"
#include "program_generated.h"

#include <algorithm>
#include <cstring>

namespace pteron::format {
namespace {

constexpr u64 header_at = 8;
constexpr u32 min_header_length = 24;
// Bounds what a hostile file can make us allocate beyond its own size.
constexpr i32 max_dims = 64;

// Carries what the small readers below need: where segments are and how long the file is.
class Reader {
 public:
  Reader(const fb::Program& program, Bytes bytes, const ProgramHeader& header, u64 file_size)
      : program_(program), bytes_(bytes), header_(header), file_size_(file_size), budget_(bytes) {}

  Result<ProgramSpec> run() {
    ProgramSpec out;
    out.version = program_.version();
    for (const auto* entry : items(program_.named_data())) {
      TRY_DO(budget_.take(entry->key()));
      TRY(const DataRange range, segment(entry->segment(), "named data"));
      if (!out.named_data.emplace(text(entry->key()), range).second)
        return invalid("named data key '", text(entry->key()), "' appears twice");
    }
    for (const auto* plan : items(program_.execution_plan())) {
      TRY_DO(budget_.take(plan->name()));
      auto method = read_method(*plan);
      if (!method)
        return within(Result<ProgramSpec>(Failure(std::move(method.error()))), "method ", text(plan->name()));
      out.methods.push_back(*std::move(method));
    }
    if (out.methods.empty()) return invalid("the program has no methods");
    return out;
  }

 private:
  Result<DataRange> segment(u32 index, std::string_view what) const {
    const u32 count = size(program_.segments());
    if (index >= count) return invalid(what, " refers to segment ", index, ", but the file has ", count);
    if (header_.segment_base == 0)
      return invalid(what, " refers to segment ", index, ", but the file has no segment data");
    const auto* entry = program_.segments()->Get(index);
    const DataRange all{header_.segment_base, file_size_ - header_.segment_base};
    return subrange(all, entry->offset(), entry->size(), str("segment ", index));
  }

  // The bytes [offsets[index], …) of a list of sub-segments, as many as the tensor has.
  Result<DataRange> subsegment(const fb::SubsegmentOffsets* list, u32 index, u64 nbytes, std::string_view what) const {
    if (!list) return invalid(what, " ", index, " is used, but the program has no such data");
    if (index >= size(list->offsets()))
      return invalid(what, " ", index, " is out of range; the program has ", size(list->offsets()));
    TRY(const DataRange whole, segment(list->segment(), what));
    return subrange(whole, item(*list->offsets(), index), nbytes, str(what, " ", index));
  }

  Result<std::optional<DataRange>> constant_of(const fb::TensorValue& tensor, u64 nbytes) const {
    const u32 index = tensor.data_buffer();
    if (index == 0) return std::optional<DataRange>();
    if (tensor.allocation()) {
      const u64 which = tensor.extra() ? tensor.extra()->mutable_segment() : 0;
      const u32 count = size(program_.mutable_data_segments());
      if (which >= count) return invalid("mutable data segment ", which, " is out of range; the program has ", count);
      return subsegment(program_.mutable_data_segments()->Get(u32(which)), index, nbytes, "mutable data");
    }
    if (program_.constant_segment() && size(program_.constant_segment()->offsets()) > 0)
      return subsegment(program_.constant_segment(), index, nbytes, "constant");
    if (index >= size(program_.constant_buffer()))
      return invalid("constant buffer ", index, " is out of range; the program has ", size(program_.constant_buffer()));
    const auto* storage = program_.constant_buffer()->Get(index)->storage();
    return subrange(position(storage), 0, nbytes, str("constant buffer ", index));
  }

  DataRange position(const flatbuffers::Vector<u8>* v) const {
    if (!v) return {};
    return {u64(reinterpret_cast<const std::byte*>(v->data()) - bytes_.data()), v->size()};
  }

  Result<TensorSpec> read_tensor(const fb::TensorValue& tensor) {
    TensorSpec out;
    out.scalar_type = tensor.scalar_type();
    out.dtype = dtype_of_scalar_type(tensor.scalar_type());
    out.dynamic = tensor.dynamism() != 0;
    out.planned = tensor.allocation() != nullptr;
    if (tensor.storage_offset() != 0)
      return invalid("a tensor has storage offset ", tensor.storage_offset(), "; only 0 is valid");
    const u32 rank = size(tensor.sizes());
    if (rank > max_dims) return invalid("a tensor has rank ", rank);
    std::vector<i64> dims(rank);
    for (u32 i = 0; i < rank; ++i) dims[i] = tensor.sizes()->Get(i);
    TRY(out.shape, Shape::from(dims));
    const u32 orders = size(tensor.dim_order());
    if (orders != rank && orders != 0)
      return invalid("a tensor of rank ", rank, " has a dim order of ", orders, " entries");
    u64 seen = 0;
    for (u32 i = 0; i < orders; ++i) {
      const u8 axis = tensor.dim_order()->Get(i);
      if (axis >= rank || (seen >> axis & 1)) return invalid("a tensor's dim order is not a permutation");
      seen |= u64(1) << axis;
      if (axis != i) out.contiguous = false;
    }
    const u64 numel = out.shape.numel();
    const u64 width = out.dtype ? size_of(*out.dtype) : 1;
    if (numel > UINT64_MAX / width)
      return invalid("a tensor of shape ", out.shape, " has more bytes than fit in 64 bits");
    if (tensor.extra() && tensor.extra()->location() == 1) {
      TRY_DO(budget_.take(tensor.extra()->name()));
      out.external_key = text(tensor.extra()->name());
    } else {
      TRY(out.data, constant_of(tensor, numel * width));
    }
    return out;
  }

  Result<ProgramValue> read_value(const fb::Value& value, u32 count) {
    if (value.val_type() != fb::AnyValue_NONE && !value.val()) return invalid("a value has a type but no content");
    switch (value.val_type()) {
      case fb::AnyValue_NONE:
      case fb::AnyValue_NullValue: return ProgramValue();
      case fb::AnyValue_IntValue: return ProgramValue(i64(value.val_as_IntValue()->value()));
      case fb::AnyValue_BoolValue: return ProgramValue(value.val_as_BoolValue()->value());
      case fb::AnyValue_DoubleValue: return ProgramValue(value.val_as_DoubleValue()->value());
      case fb::AnyValue_StringValue:
        TRY_DO(budget_.take_text(value.val_as_StringValue()->value()));
        return ProgramValue(text(value.val_as_StringValue()->value()));
      case fb::AnyValue_TensorValue: {
        TRY(TensorSpec tensor, read_tensor(*value.val_as_TensorValue()));
        return ProgramValue(std::move(tensor));
      }
      case fb::AnyValue_IntListValue: return index_list(value.val_as_IntListValue()->items(), count);
      case fb::AnyValue_TensorListValue: return index_list(value.val_as_TensorListValue()->items(), count);
      case fb::AnyValue_OptionalTensorListValue:
        return index_list(value.val_as_OptionalTensorListValue()->items(), count);
      case fb::AnyValue_DoubleListValue: {
        TRY_DO(budget_.take(value.val_as_DoubleListValue()->items()));
        std::vector<f64> out;
        for (f64 d : items(value.val_as_DoubleListValue()->items())) out.push_back(d);
        return ProgramValue(std::move(out));
      }
      case fb::AnyValue_BoolListValue: {
        TRY_DO(budget_.take(value.val_as_BoolListValue()->items()));
        std::vector<bool> out;
        for (u8 b : items(value.val_as_BoolListValue()->items())) out.push_back(b != 0);
        return ProgramValue(std::move(out));
      }
    }
    return invalid("a value has the unknown type ", int(value.val_type()));
  }

  template <class T>
  Result<ProgramValue> index_list(const flatbuffers::Vector<T>* list, u32 count) {
    TRY_DO(budget_.take(list));
    IndexList out;
    for (T item : items(list)) {
      if (i64(item) < -1 || i64(item) >= i64(count)) return invalid("a list refers to value ", item, " of ", count);
      out.items.push_back(i32(item));
    }
    return ProgramValue(std::move(out));
  }

  static Result<u32> index(i64 value, u64 count, std::string_view what) {
    if (value < 0 || u64(value) >= count) return invalid(what, " ", value, " is out of range; there are ", count);
    return u32(value);
  }

  template <class T>
  Result<std::vector<u32>> indices(const flatbuffers::Vector<T>* list, u64 count, std::string_view what) {
    TRY_DO(budget_.take(list));
    std::vector<u32> out;
    for (T item : items(list)) {
      TRY(const u32 i, index(i64(item), count, what));
      out.push_back(i);
    }
    return out;
  }

  Result<Instruction> read_instruction(const fb::Instruction& instruction, const MethodSpec& method, u32 chain_length) {
    const u64 values = method.values.size();
    if (!instruction.call()) return invalid("an instruction is empty");
    switch (instruction.call_type()) {
      case fb::AnyCall_KernelCall: {
        const auto* call = instruction.call_as_KernelCall();
        TRY(const u32 op, index(call->op(), method.operators.size(), "operator"));
        TRY(auto args, indices(call->args(), values, "kernel argument"));
        return Instruction(KernelCall{op, std::move(args)});
      }
      case fb::AnyCall_DelegateCall: {
        const auto* call = instruction.call_as_DelegateCall();
        TRY(const u32 delegate, index(call->delegate(), method.delegates.size(), "delegate"));
        TRY(auto args, indices(call->args(), values, "delegate argument"));
        return Instruction(DelegateCall{delegate, std::move(args)});
      }
      case fb::AnyCall_MoveCall: {
        TRY(const u32 from, index(instruction.call_as_MoveCall()->from(), values, "moved value"));
        TRY(const u32 to, index(instruction.call_as_MoveCall()->to(), values, "moved value"));
        return Instruction(MoveCall{from, to});
      }
      case fb::AnyCall_JumpFalseCall: {
        TRY(const u32 condition, index(instruction.call_as_JumpFalseCall()->condition(), values, "jump condition"));
        TRY(const u32 to, index(instruction.call_as_JumpFalseCall()->destination(), chain_length, "jump destination"));
        return Instruction(JumpFalseCall{condition, to});
      }
      case fb::AnyCall_FreeCall: {
        TRY(const u32 value, index(instruction.call_as_FreeCall()->value(), values, "freed value"));
        return Instruction(FreeCall{value});
      }
      case fb::AnyCall_NONE: break;
    }
    return invalid("an instruction has the unknown type ", int(instruction.call_type()));
  }

  // Delegates may share their bytes, but each becomes a plan of its own.
  Status take_delegate(u64 size) {
    constexpr u64 least = 1 << 14;
    const u64 most = 64 * file_size_ + (1 << 24);
    delegate_bytes_ += std::max(size, least);
    if (delegate_bytes_ <= most) return {};
    return invalid("the delegates have ", delegate_bytes_, " bytes together; a file of ", file_size_,
                   " bytes may have ", most);
  }

  Result<DelegateSpec> read_delegate(const fb::Delegate& delegate) {
    DelegateSpec out;
    TRY_DO(budget_.take(delegate.id()));
    out.id = text(delegate.id());
    if (!delegate.processed()) return invalid("delegate ", out.id, " has no data");
    const u32 index = delegate.processed()->index();
    if (delegate.processed()->location() == 0) {
      if (index >= size(program_.delegate_data()))
        return invalid("delegate ", out.id, " refers to inline data ", index, " of ", size(program_.delegate_data()));
      out.blob = position(program_.delegate_data()->Get(index)->data());
    } else {
      TRY(out.blob, segment(index, str("delegate ", out.id)));
    }
    TRY_DO(take_delegate(out.blob.size));
    for (const auto* spec : items(delegate.compile_specs())) {
      TRY_DO(budget_.take(spec->key()));
      TRY_DO(budget_.take(spec->value()));
      CompileSpec s{text(spec->key()), {}};
      for (u8 byte : items(spec->value())) s.value.push_back(std::byte(byte));
      out.compile_specs.push_back(std::move(s));
    }
    return out;
  }

  Result<MethodSpec> read_method(const fb::ExecutionPlan& plan) {
    MethodSpec out;
    out.name = text(plan.name());
    const u32 count = size(plan.values());
    for (const auto* value : items(plan.values())) {
      auto v = within(read_value(*value, count), "value ", out.values.size());
      if (!v) return Failure(std::move(v.error()));
      out.values.push_back(*std::move(v));
    }
    TRY(out.inputs, indices(plan.inputs(), count, "input"));
    TRY(out.outputs, indices(plan.outputs(), count, "output"));
    for (const auto* op : items(plan.operators())) {
      TRY_DO(budget_.take(op->name()));
      TRY_DO(budget_.take(op->overload()));
      const std::string overload = text(op->overload());
      out.operators.push_back(text(op->name()) + (overload.empty() ? "" : "." + overload));
    }
    for (const auto* delegate : items(plan.delegates())) {
      TRY(DelegateSpec d, read_delegate(*delegate));
      out.delegates.push_back(std::move(d));
    }
    if (size(plan.chains()) > 1)
      return unsupported("the method has ", size(plan.chains()), " chains; only one is supported");
    for (const auto* chain : items(plan.chains())) {
      const u32 length = size(chain->instructions());
      for (const auto* instruction : items(chain->instructions())) {
        TRY(Instruction i, read_instruction(*instruction, out, length));
        out.instructions.push_back(std::move(i));
      }
    }
    return out;
  }

  const fb::Program& program_;
  Bytes bytes_;
  ProgramHeader header_;
  u64 file_size_;
  Budget budget_;
  u64 delegate_bytes_ = 0;
};

}  // namespace

std::optional<DType> dtype_of_scalar_type(i8 scalar_type) {
  switch (scalar_type) {
    case 0: return DType::u8;
    case 1: return DType::i8;
    case 3: return DType::i32;
    case 4: return DType::i64;
    case 5: return DType::f16;
    case 6: return DType::f32;
    case 7: return DType::f64;
    case 11: return DType::boolean;
    default: return std::nullopt;
  }
}

std::string_view scalar_type_name(i8 scalar_type) {
  if (const auto dtype = dtype_of_scalar_type(scalar_type)) return name_of(*dtype);
  switch (scalar_type) {
    case 2: return "int16";
    case 15: return "bfloat16";
    case 27: return "uint16";
    case 28: return "uint32";
    case 29: return "uint64";
    default: return "an unknown type";
  }
}

// Before a byte of it is read into memory.
static Status check_flatbuffer_size(u64 bytes) {
  if (bytes <= largest_flatbuffer) return {};
  return invalid("the program says that it has ", bytes, " bytes without its segments; a flatbuffer has at most ",
                 largest_flatbuffer);
}

Result<ProgramHeader> read_program_header(Bytes head, u64 file_size) {
  if (head.size() < 8) return invalid("the file has ", file_size, " bytes; an ExecuTorch program has at least 8");
  if (std::memcmp(head.data() + 4, "ET12", 4) != 0)
    return invalid("the file is not an ExecuTorch program: bytes 4 to 8 are not 'ET12'");
  ProgramHeader header;
  if (head.size() < header_at + 24 || std::memcmp(head.data() + header_at, "eh00", 4) != 0) {
    header.program_size = file_size;
    TRY_DO(check_flatbuffer_size(file_size));
    return header;
  }
  const u32 length = load<u32>(head, header_at + 4);
  if (length < min_header_length)
    return invalid("the extended header says it is ", length, " bytes long; at least 24 are needed");
  header.program_size = load<u64>(head, header_at + 8);
  header.segment_base = load<u64>(head, header_at + 16);
  if (length >= 32 && head.size() >= header_at + 32) header.segment_data_size = load<u64>(head, header_at + 24);
  const DataRange file{0, file_size};
  TRY_DO(subrange(file, 0, header.program_size, "the program"));
  TRY_DO(check_flatbuffer_size(header.program_size));
  if (header.program_size < 8)
    return invalid("the extended header says the program is ", header.program_size, " bytes long");
  if (header.segment_base > 0) {
    if (header.segment_base < header.program_size)
      return invalid("segments start at ", header.segment_base, ", inside of the program, which ends at ",
                     header.program_size);
    TRY_DO(subrange(file, header.segment_base, header.segment_data_size, "segment data"));
  } else if (header.segment_data_size > 0) {
    return invalid("the file says it has ", header.segment_data_size, " bytes of segments but not where they start");
  }
  return header;
}

Result<ProgramSpec> read_program(Bytes program, const ProgramHeader& header, u64 file_size) {
  if (!verify<fb::Program>(program, fb::ProgramIdentifier()))
    return invalid("the program's flatbuffer fails verification; the file is corrupted or not an ExecuTorch program");
  return Reader(*fb::GetProgram(program.data()), program, header, file_size).run();
}

}  // namespace pteron::format
