// SPDX-License-Identifier: BSD-3-Clause
#include "format/npy.h"

#include "base/error.h"

#include <algorithm>
#include <charconv>
#include <cstring>

namespace pteron::format {
namespace {

constexpr char magic[] = "\x93NUMPY";

struct Name {
  std::string_view text;
  DType dtype;
};
constexpr Name names[] = {{"|b1", DType::boolean}, {"|u1", DType::u8},  {"|i1", DType::i8},  {"<i4", DType::i32},
                          {"<i8", DType::i64},     {"<f2", DType::f16}, {"<f4", DType::f32}, {"<f8", DType::f64}};

Result<DType> dtype_of(std::string_view descr) {
  for (const Name& n : names)
    if (descr == n.text || (n.text[0] == '|' && descr.size() == 3 && descr.substr(1) == n.text.substr(1)))
      return n.dtype;
  return unsupported(".npy: dtype '", descr,
                     "' is not one of bool, uint8, int8, int32, int64, float16, float32, float64 (little-endian)");
}

std::string_view descr_of(DType t) { return std::ranges::find(names, t, &Name::dtype)->text; }

// The text after `'key':` in the header's Python dictionary.
Result<std::string_view> field(std::string_view header, std::string_view key) {
  const std::string quoted = str("'", key, "'");
  const auto at = header.find(quoted);
  if (at == std::string_view::npos) return invalid(".npy: the header has no ", quoted);
  const auto colon = header.find(':', at + quoted.size());
  if (colon == std::string_view::npos) return invalid(".npy: the header is malformed after ", quoted);
  std::string_view rest = header.substr(colon + 1);
  while (!rest.empty() && rest[0] == ' ') rest.remove_prefix(1);
  return rest;
}

Result<Shape> parse_shape(std::string_view text) {
  if (text.empty() || text[0] != '(') return invalid(".npy: the shape is not a tuple");
  const auto close = text.find(')');
  if (close == std::string_view::npos) return invalid(".npy: the shape has no end");
  std::vector<i64> dims;
  std::string_view rest = text.substr(1, close - 1);
  while (true) {
    while (!rest.empty() && (rest[0] == ' ' || rest[0] == ',')) rest.remove_prefix(1);
    if (rest.empty()) break;
    i64 d = 0;
    const auto [end, code] = std::from_chars(rest.data(), rest.data() + rest.size(), d);
    if (code != std::errc() || d < 0) return invalid(".npy: the shape '", text.substr(0, close + 1), "' is malformed");
    dims.push_back(d);
    rest.remove_prefix(size_t(end - rest.data()));
  }
  return Shape::from(dims);
}

}  // namespace

Result<Tensor> parse_npy(Bytes file) {
  if (file.size() < 10 || std::memcmp(file.data(), magic, 6) != 0)
    return invalid(".npy: the file does not start with NumPy's magic bytes");
  const u8 version = u8(file[6]);
  const u64 length_bytes = version == 1 ? 2 : 4;
  if (version < 1 || version > 3) return unsupported(".npy: format version ", int(version), " is unknown");
  if (file.size() < 8 + length_bytes) return invalid(".npy: the file is truncated");
  u32 length = 0;
  std::memcpy(&length, file.data() + 8, length_bytes);
  const u64 start = 8 + length_bytes + length;
  if (file.size() < start) return invalid(".npy: the header of ", length, " bytes is truncated");
  const std::string_view header(reinterpret_cast<const char*>(file.data()) + 8 + length_bytes, length);

  TRY(const std::string_view descr, field(header, "descr"));
  if (descr.size() < 5 || descr[0] != '\'') return unsupported(".npy: structured dtypes are not supported");
  const auto quote = descr.find('\'', 1);
  if (quote == std::string_view::npos) return invalid(".npy: the dtype has no end");
  TRY(const DType dtype, dtype_of(descr.substr(1, quote - 1)));
  TRY(const std::string_view order, field(header, "fortran_order"));
  TRY(const std::string_view shape_text, field(header, "shape"));
  TRY(const Shape shape, parse_shape(shape_text));
  if (!order.starts_with("False") && shape.rank() > 1)
    return unsupported(".npy: Fortran order is not supported; save numpy.ascontiguousarray(x)");

  const u64 numel = shape.numel();
  const u64 have = file.size() - start;
  if (numel > have / size_of(dtype))
    return invalid(".npy: shape ", shape, " of ", dtype, " needs more than the ", have,
                   " bytes that follow the header");
  Tensor out(dtype, shape);
  if (!out.bytes().empty()) std::memcpy(out.bytes().data(), file.data() + start, out.bytes().size());
  return out;
}

std::vector<std::byte> to_npy(const TensorView& tensor) {
  std::string dims;
  for (u32 d : tensor.shape) dims += str(d, ", ");
  if (tensor.shape.rank() > 1)
    dims.resize(dims.size() - 2);
  else if (tensor.shape.rank() == 1)
    dims.pop_back();
  std::string header =
      str("{'descr': '", descr_of(tensor.dtype), "', 'fortran_order': False, 'shape': (", dims, "), }");
  header.append(63 - (10 + header.size()) % 64, ' ');  // data starts at a multiple of 64
  header += '\n';
  std::vector<std::byte> out(10 + header.size() + tensor.bytes.size());
  std::memcpy(out.data(), magic, 6);
  out[6] = std::byte(1);
  out[7] = std::byte(0);
  const u16 length = u16(header.size());
  std::memcpy(out.data() + 8, &length, 2);
  std::memcpy(out.data() + 10, header.data(), header.size());
  if (!tensor.bytes.empty()) std::memcpy(out.data() + 10 + header.size(), tensor.bytes.data(), tensor.bytes.size());
  return out;
}

}  // namespace pteron::format
