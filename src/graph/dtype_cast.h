// SPDX-License-Identifier: BSD-3-Clause
// Element types change at the border between host and GPU, and nowhere else.
#pragma once

#include "base/error.h"

#include <pteron/dtype.h>

namespace pteron::graph {

bool can_convert(DType from, DType to);
// `from` and `to` hold the same number of elements. An int64 that does not fit in int32 is an error that names it.
Status convert(Bytes from, DType from_type, MutableBytes to, DType to_type);
// One element as an integer. `index` is in range.
i64 element_as_integer(Bytes bytes, DType type, u64 index);

}  // namespace pteron::graph
