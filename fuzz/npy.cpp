// SPDX-License-Identifier: BSD-3-Clause
// An array of numpy.
#include "format/npy.h"
#include "fuzz.h"

namespace pteron::fuzz {

void target(Bytes input) { (void)format::parse_npy(input); }

}  // namespace pteron::fuzz
