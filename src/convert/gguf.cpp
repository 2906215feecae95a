// SPDX-License-Identifier: BSD-3-Clause
#include "convert/gguf.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

namespace pteron::convert {

static_assert(std::endian::native == std::endian::little, "the file format is little-endian");

// Reads a file front to back; going beyond its end is an error, never a read.
class Cursor {
 public:
  explicit Cursor(const format::DataSource& source, u64 at = 0) : source_(source), at_(at) {}

  u64 position() const { return at_; }

  Result<Bytes> take(u64 size) {
    if (at_ < window_at_ || at_ - window_at_ > window_.size() || size > window_.size() - (at_ - window_at_)) {
      TRY_DO(format::subrange({0, source_.size()}, at_, size, source_.name()));
      const u64 ahead = std::min(std::max(size, window_bytes), source_.size() - at_);
      TRY(window_, format::fetch(source_, {at_, ahead}, buffer_));
      window_at_ = at_;
    }
    const Bytes bytes = window_.subspan(at_ - window_at_, size);
    at_ += size;
    return bytes;
  }
  Status skip(u64 size) {
    TRY_DO(format::subrange({0, source_.size()}, at_, size, source_.name()));
    at_ += size;
    return {};
  }
  template <class T>
  Result<T> number() {
    TRY(const Bytes bytes, take(sizeof(T)));
    T value;
    std::memcpy(&value, bytes.data(), sizeof value);
    return value;
  }
  Result<std::string> text() {
    TRY(const u64 length, number<u64>());
    if (length > longest_text) return invalid("a text says it has ", length, " bytes; the limit is ", longest_text);
    TRY(const Bytes bytes, take(length));
    return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  Status skip_text() {
    TRY(const u64 length, number<u64>());
    return skip(length);
  }

 private:
  // Most of what is read is a few bytes long, so more is fetched than was asked for.
  static constexpr u64 window_bytes = 1 << 16;
  static constexpr u64 longest_text = 1 << 28;

  const format::DataSource& source_;
  u64 at_;
  u64 window_at_ = 0;
  Bytes window_;
  std::vector<std::byte> buffer_;
};

namespace {

enum Type : u32 { t_u8, t_i8, t_u16, t_i16, t_u32, t_i32, t_f32, t_bool, t_string, t_array, t_u64, t_i64, t_f64 };

constexpr u64 default_alignment = 32;
constexpr u32 max_axes = 4;

// Of types with a fixed size; 0 for the others.
u64 size_of_type(u32 type) {
  switch (type) {
    case t_u8:
    case t_i8:
    case t_bool: return 1;
    case t_u16:
    case t_i16: return 2;
    case t_u32:
    case t_i32:
    case t_f32: return 4;
    case t_u64:
    case t_i64:
    case t_f64: return 8;
    default: return 0;
  }
}

template <class T>
Result<GgufValue> read_integer(Cursor& cursor) {
  TRY(const T value, cursor.number<T>());
  if (!std::in_range<i64>(value)) return unsupported("the number ", value, " exceeds ", INT64_MAX);
  return GgufValue(i64(value));
}

Result<GgufArray> read_array(Cursor& cursor) {
  GgufArray out;
  TRY(out.type, cursor.number<u32>());
  TRY(out.count, cursor.number<u64>());
  out.bytes.offset = cursor.position();
  if (out.type == t_string) {
    for (u64 i = 0; i < out.count; ++i) TRY_DO(cursor.skip_text());
  } else if (const u64 size = size_of_type(out.type); size > 0) {
    if (out.count > UINT64_MAX / size) return invalid("an array says it has ", out.count, " elements");
    TRY_DO(cursor.skip(out.count * size));
  } else {
    return unsupported("an array holds elements of type ", out.type, "; only numbers, booleans and strings are known");
  }
  out.bytes.size = cursor.position() - out.bytes.offset;
  return out;
}

Result<GgufValue> read_scalar(Cursor& cursor, u32 type) {
  switch (type) {
    case t_u8: return read_integer<u8>(cursor);
    case t_i8: return read_integer<i8>(cursor);
    case t_u16: return read_integer<u16>(cursor);
    case t_i16: return read_integer<i16>(cursor);
    case t_u32: return read_integer<u32>(cursor);
    case t_i32: return read_integer<i32>(cursor);
    case t_u64: return read_integer<u64>(cursor);
    case t_i64: return read_integer<i64>(cursor);
    case t_f32: {
      TRY(const f32 value, cursor.number<f32>());
      return GgufValue(f64(value));
    }
    case t_f64: {
      TRY(const f64 value, cursor.number<f64>());
      return GgufValue(value);
    }
    case t_bool: {
      TRY(const u8 value, cursor.number<u8>());
      return GgufValue(value != 0);
    }
    default: return invalid("the value type ", type, " is unknown");
  }
}

Result<GgufValue> read_value(Cursor& cursor, u32 type) {
  if (type == t_string) {
    TRY(std::string value, cursor.text());
    return GgufValue(std::move(value));
  }
  if (type == t_array) {
    TRY(const GgufArray array, read_array(cursor));
    return GgufValue(array);
  }
  return read_scalar(cursor, type);
}

std::string_view type_name(const GgufValue& value) {
  static constexpr std::string_view names[] = {"an integer", "a number", "a boolean", "a string", "an array"};
  return names[value.index()];
}

f64 as_number(const GgufValue& value) {
  if (const i64* integer = std::get_if<i64>(&value)) return f64(*integer);
  if (const bool* flag = std::get_if<bool>(&value)) return *flag ? 1 : 0;
  const f64* number = std::get_if<f64>(&value);
  return number ? *number : 0;
}

Result<Shape> read_shape(Cursor& cursor) {
  TRY(const u32 rank, cursor.number<u32>());
  if (rank == 0 || rank > max_axes) return invalid("it has ", rank, " axes; 1 to ", max_axes, " are allowed");
  std::array<u64, max_axes> sizes{};
  for (u32 i = 0; i < rank; ++i) {
    TRY(sizes[i], cursor.number<u64>());
    if (sizes[i] == 0 || sizes[i] > UINT32_MAX) return invalid("axis ", i, " has size ", sizes[i]);
  }
  Shape shape;
  for (u32 i = rank; i-- > 0;) shape.push_back(u32(sizes[i]));
  return shape;
}

// No two tensors have a byte in common.
Status check_apart(const std::vector<GgufTensor>& tensors) {
  std::vector<const GgufTensor*> order;
  order.reserve(tensors.size());
  for (const GgufTensor& tensor : tensors) order.push_back(&tensor);
  std::ranges::stable_sort(order, {}, [](const GgufTensor* tensor) { return tensor->data.offset; });
  for (size_t i = 1; i < order.size(); ++i)
    if (order[i]->data.offset < order[i - 1]->data.end())
      return invalid("tensor '", order[i]->name, "' begins at byte ", order[i]->data.offset, ", inside of tensor '",
                     order[i - 1]->name, "', which ends at ", order[i - 1]->data.end());
  return {};
}

// The tensor's place, with an offset from where the data starts.
Result<GgufTensor> read_tensor(Cursor& cursor) {
  GgufTensor out;
  TRY(out.shape, read_shape(cursor));
  TRY(const u32 type, cursor.number<u32>());
  TRY(out.data.offset, cursor.number<u64>());
  TRY(out.format, block_format(type));
  const BlockFormat& format = *out.format;
  const u64 columns = out.shape.dim(-1), numel = out.shape.numel();
  if (columns % format.values != 0)
    return invalid("its rows have ", columns, " values, but ", format.name, " comes in blocks of ", format.values);
  if (numel / format.values > u64(INT64_MAX) / format.bytes)
    return invalid("its shape ", out.shape, " has more bytes than fit in 64 bits");
  out.data.size = numel / format.values * format.bytes;
  return out;
}

}  // namespace

Result<Gguf> Gguf::read(std::shared_ptr<const format::DataSource> source) {
  Gguf out;
  out.source_ = std::move(source);
  Cursor cursor(*out.source_);
  TRY(const Bytes magic, cursor.take(4));
  if (std::memcmp(magic.data(), "GGUF", 4) != 0)
    return invalid("the file is not a GGUF model: it does not start with 'GGUF'");
  TRY(const u32 version, cursor.number<u32>());
  if (version > UINT16_MAX) return unsupported("the file is big-endian; only little-endian GGUF is supported");
  if (version != 2 && version != 3) return unsupported("the file has GGUF version ", version, "; 2 and 3 are known");
  TRY(const u64 tensors, cursor.number<u64>());
  TRY(const u64 values, cursor.number<u64>());
  TRY_DO(out.read_metadata(cursor, values));
  TRY_DO(out.read_tensors(cursor, tensors));
  return out;
}

Status Gguf::read_metadata(Cursor& cursor, u64 count) {
  for (u64 i = 0; i < count; ++i) {
    auto key = within(cursor.text(), "metadata entry ", i);
    if (!key) return Failure(std::move(key.error()));
    TRY(const u32 type, cursor.number<u32>());
    auto value = within(read_value(cursor, type), "metadata '", *key, "'");
    if (!value) return Failure(std::move(value.error()));
    if (!metadata_.emplace(*key, *std::move(value)).second) return invalid("metadata '", *key, "' appears twice");
  }
  return {};
}

Status Gguf::read_tensors(Cursor& cursor, u64 count) {
  for (u64 i = 0; i < count; ++i) {
    auto name = within(cursor.text(), "tensor ", i);
    if (!name) return Failure(std::move(name.error()));
    auto tensor = within(read_tensor(cursor), "tensor '", *name, "'");
    if (!tensor) return Failure(std::move(tensor.error()));
    if (!tensor_index_.emplace(*name, tensors_.size()).second) return invalid("tensor '", *name, "' appears twice");
    tensor->name = *std::move(name);
    tensors_.push_back(*std::move(tensor));
  }
  TRY(const auto asked, integer("general.alignment"));
  const u64 alignment = u64(asked.value_or(i64(default_alignment)));
  if (alignment == 0 || alignment > UINT32_MAX || !std::has_single_bit(alignment))
    return invalid("general.alignment is ", asked.value_or(0), "; it must be a power of two");
  const u64 start = (cursor.position() + alignment - 1) / alignment * alignment;
  const u64 size = source_->size();
  const format::DataRange all{start, size > start ? size - start : 0};
  for (GgufTensor& tensor : tensors_) {
    if (tensor.data.offset % alignment != 0)
      return invalid("tensor '", tensor.name, "' starts at ", tensor.data.offset,
                     ", which is no multiple of the file's ", "alignment ", alignment);
    TRY(tensor.data, subrange(all, tensor.data.offset, tensor.data.size, str("tensor '", tensor.name, "'")));
  }
  return check_apart(tensors_);
}

const GgufTensor* Gguf::tensor(std::string_view name) const {
  const auto found = tensor_index_.find(name);
  return found == tensor_index_.end() ? nullptr : &tensors_[found->second];
}

namespace {

template <class T>
Result<std::optional<T>> get(const Gguf& file, std::string_view key, std::string_view wanted) {
  const auto found = file.metadata().find(key);
  if (found == file.metadata().end()) return std::optional<T>();
  if (const T* value = std::get_if<T>(&found->second)) return std::optional<T>(*value);
  return invalid("metadata '", key, "' is ", type_name(found->second), ", not ", wanted);
}

}  // namespace

Result<std::optional<i64>> Gguf::integer(std::string_view key) const { return get<i64>(*this, key, "an integer"); }
Result<std::optional<bool>> Gguf::flag(std::string_view key) const { return get<bool>(*this, key, "a boolean"); }
Result<std::optional<std::string>> Gguf::text(std::string_view key) const {
  return get<std::string>(*this, key, "a string");
}

Result<std::optional<f64>> Gguf::number(std::string_view key) const {
  const auto found = metadata_.find(key);
  if (found != metadata_.end())
    if (const i64* value = std::get_if<i64>(&found->second)) return std::optional(f64(*value));
  return get<f64>(*this, key, "a number");
}

Result<std::vector<std::string>> Gguf::strings(const GgufArray& array) const {
  if (!holds_strings(array)) return invalid("an array does not hold strings");
  Cursor cursor(*source_, array.bytes.offset);
  std::vector<std::string> out;
  for (u64 i = 0; i < array.count; ++i) {
    TRY(std::string text, cursor.text());
    out.push_back(std::move(text));
  }
  return out;
}

Result<std::vector<f64>> Gguf::numbers(const GgufArray& array) const {
  if (holds_strings(array)) return invalid("an array holds strings, not numbers");
  Cursor cursor(*source_, array.bytes.offset);
  std::vector<f64> out;
  for (u64 i = 0; i < array.count; ++i) {
    TRY(const GgufValue value, read_scalar(cursor, array.type));
    out.push_back(as_number(value));
  }
  return out;
}

bool Gguf::holds_strings(const GgufArray& array) { return array.type == t_string; }

}  // namespace pteron::convert
