// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace pteron::test {

// Calls of operator new in this process so far.
long allocation_count();

}  // namespace pteron::test
