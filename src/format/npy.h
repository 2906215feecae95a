// SPDX-License-Identifier: BSD-3-Clause
// NumPy's .npy files, format versions 1 to 3, C order, little-endian.
#pragma once

#include <pteron/tensor.h>

#include <string>

namespace pteron::format {

Result<Tensor> parse_npy(Bytes file);
std::vector<std::byte> to_npy(const TensorView& tensor);

}  // namespace pteron::format
