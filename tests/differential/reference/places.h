// SPDX-License-Identifier: BSD-3-Clause
// Which elements indices name.
#pragma once

#include "differential/reference/interpreter.h"

namespace pteron::reference {

// Throws where there is no such element.
i64 checked(f64 index, i64 size, bool negative = false);

// What several indices say together: which places of x an element of x[indices] stands for.
struct Places {
  Dims dims;                // of x[indices]
  std::vector<size_t> all;  // in x
};
Places places_of(Call& op);

}  // namespace pteron::reference
