// SPDX-License-Identifier: BSD-3-Clause
#include "base/text.h"

#include "base/decimal.h"
#include "base/error.h"

#include <pteron/tensor.h>

#include <cmath>

namespace pteron {

std::string_view name_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::invalid: return "invalid";
    case ErrorKind::not_found: return "not found";
    case ErrorKind::unsupported: return "unsupported";
    case ErrorKind::out_of_memory: return "out of memory";
    case ErrorKind::device_lost: return "device lost";
    case ErrorKind::cancelled: return "cancelled";
    case ErrorKind::internal: return "internal";
  }
  return "unknown";
}

// The shorter one of 1234.5 and 1.2345e+03.
void append(std::string& out, f64 value) {
  if (std::signbit(value)) out += '-';
  if (!std::isfinite(value)) {
    out += std::isnan(value) ? "nan" : "inf";
    return;
  }
  const auto [digits, exponent] = shortest_decimal(value);
  const int count = int(digits.size());
  const std::string power = power_of_ten(exponent);
  const size_t scientific = digits.size() + (count > 1) + power.size();
  const size_t plain = exponent < 0 ? digits.size() + size_t(1 - exponent)
                                    : size_t(std::max(count + (count > exponent + 1), exponent + 1));
  if (plain > scientific) {
    out += digits[0];
    if (count > 1) (out += '.').append(digits, 1);
    out += power;
  } else if (exponent < 0) {
    out.append("0.").append(size_t(-exponent - 1), '0') += digits;
  } else {
    const size_t whole = size_t(exponent) + 1;
    out.append(digits, 0, whole).append(whole - std::min(whole, digits.size()), '0');
    if (digits.size() > whole) (out += '.').append(digits, whole);
  }
}

std::string human_bytes(u64 bytes) {
  static constexpr const char* units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  f64 value = f64(bytes);
  int unit = 0;
  while (value >= 1024 && unit < 4) value /= 1024, ++unit;
  if (unit == 0) return str(bytes, " B");
  return str(std::round(value * 10) / 10, " ", units[unit]);
}

std::string to_string(const Shape& shape) { return str("[", join(shape), "]"); }

namespace {
template <class T>
Result<Shape> shape_from(std::span<const T> dims) {
  if (dims.size() > Shape::max_rank)
    return unsupported("a tensor has rank ", dims.size(), "; at most ", Shape::max_rank, " is supported");
  Shape shape;
  for (T d : dims) {
    if (i64(d) < 0 || i64(d) > i64(UINT32_MAX)) return invalid("a tensor has a size of ", d, ", which is out of range");
    shape.push_back(u32(d));
  }
  return shape;
}
}  // namespace

Result<Shape> Shape::from(std::span<const u32> dims) { return shape_from(dims); }
Result<Shape> Shape::from(std::span<const i64> dims) { return shape_from(dims); }

Result<Tensor> Tensor::from_bytes(DType dtype, const Shape& shape, Bytes bytes) {
  if (shape.rank() > Shape::max_rank)
    return unsupported("a tensor has more than ", Shape::max_rank, " dimensions; at most so many are supported");
  const u64 needed = shape.numel() == UINT64_MAX ? UINT64_MAX : shape.numel() * size_of(dtype);
  if (bytes.size() != needed)
    return invalid("a tensor of shape ", shape, " ", dtype, " needs ", needed, " bytes, but ", bytes.size(),
                   " were given");
  Tensor out(dtype, shape);
  if (!bytes.empty()) std::memcpy(out.storage_.data(), bytes.data(), bytes.size());
  return out;
}

}  // namespace pteron
