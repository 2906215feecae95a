// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "c/call.h"

#include <pteron/program.h>

namespace pteron::c {

// Programs that are loaded through the C interface share their device.
Result<LoadOptions> read_options(const pteron_options* given);

}  // namespace pteron::c
