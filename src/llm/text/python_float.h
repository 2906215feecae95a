// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <pteron/types.h>

#include <string>

namespace pteron {

// As Python writes it: the shortest form that reads back the same, with ".0" or an exponent; "inf" and "nan".
std::string python_float(f64 value);

}  // namespace pteron
