// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "cli/cli.h"

#include <pteron/inspect.h>

#include <cstdio>

namespace pteron::cli {

// Which ops lie outside of the delegates, why, and what runs them.
void print_outside(std::FILE* stream, const MethodReport& method);

}  // namespace pteron::cli
