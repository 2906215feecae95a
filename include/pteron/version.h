// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace pteron {

// "0.1.0"
const char* version();

}  // namespace pteron
