// SPDX-License-Identifier: BSD-3-Clause
#include "values.h"

#include "format/program_file.h"
#include "graph/dtype_cast.h"

#include <executorch/runtime/core/exec_aten/util/tensor_util.h>

#include <algorithm>

namespace pteron::et {
namespace {

using executorch::aten::Tensor;
using executorch::runtime::EValue;

Result<DType> dtype_of(const Tensor& tensor) {
  const i8 type = i8(tensor.scalar_type());
  if (const auto dtype = format::dtype_of_scalar_type(type)) return *dtype;
  return unsupported("a tensor is of ", format::scalar_type_name(type), ", which Pteron has no type for");
}

Result<Shape> shape_of(const Tensor& tensor) {
  std::array<i64, Shape::max_rank> dims{};
  if (tensor.dim() > i64(dims.size()))
    return unsupported("a tensor has rank ", tensor.dim(), "; at most ", dims.size(), " is supported");
  std::copy_n(tensor.sizes().begin(), tensor.dim(), dims.begin());
  return Shape::from(std::span<const i64>(dims).first(size_t(tensor.dim())));
}

}  // namespace

Result<graph::HostInput> to_host_input(const EValue& value, bool wants_tensor, i64& storage) {
  graph::HostInput out;
  if (value.isInt() || value.isBool()) {
    storage = value.isInt() ? value.toInt() : value.toBool();
    if (!wants_tensor) {
      out.number = storage;
    } else {
      out.dtype = DType::i64;
      out.bytes = std::as_bytes(std::span(&storage, 1));
    }
    return out;
  }
  if (!value.isTensor()) return invalid("an input is neither a tensor nor an integer");
  const Tensor& tensor = value.toTensor();
  TRY(out.dtype, dtype_of(tensor));
  TRY(out.shape, shape_of(tensor));
  out.bytes = {static_cast<const std::byte*>(tensor.const_data_ptr()), tensor.nbytes()};
  if (!wants_tensor) {
    if (tensor.numel() != 1 || is_float(out.dtype) || out.bytes.data() == nullptr)
      return invalid("an input should be an integer, but is a tensor of ", out.dtype, " ", out.shape);
    out.number = graph::element_as_integer(out.bytes, out.dtype, 0);
  }
  return out;
}

Status write_output(EValue& value, const graph::Runner& runner, u32 output) {
  if (!runner.output_is_tensor(output)) {
    TRY(const i64 number, runner.output_number(output));
    if (!value.isTensor()) {
      value = EValue(number);
      return {};
    }
    Tensor& tensor = value.toTensor();
    TRY(const DType dtype, dtype_of(tensor));
    if (tensor.numel() != 1)
      return invalid("output ", output, " is a number, but a tensor of ", tensor.numel(), " elements is to hold it");
    return graph::convert(std::as_bytes(std::span(&number, 1)), DType::i64,
                          {static_cast<std::byte*>(tensor.mutable_data_ptr()), tensor.nbytes()}, dtype);
  }
  if (!value.isTensor()) return invalid("output ", output, " is a tensor, but the program expects a number");
  Tensor& tensor = value.toTensor();
  const Shape& shape = runner.output_shape(output);
  std::array<executorch::aten::SizesType, Shape::max_rank> sizes{};
  std::copy(shape.begin(), shape.end(), sizes.begin());
  if (executorch::runtime::resize_tensor(tensor, {sizes.data(), shape.rank()}) != executorch::runtime::Error::Ok)
    return invalid("output ", output, " can't be resized to ", shape);
  TRY(const DType dtype, dtype_of(tensor));
  if (!tensor.mutable_data_ptr() && tensor.nbytes() > 0) return invalid("output ", output, " has no memory");
  return runner.read_output(output, dtype, {static_cast<std::byte*>(tensor.mutable_data_ptr()), tensor.nbytes()});
}

}  // namespace pteron::et
