// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <pteron/generation.h>

namespace pteron::c {

// From the JSON object of pteron_session_start; NULL: the defaults.
Result<GenerationOptions> read_generation(const char* json);

}  // namespace pteron::c
