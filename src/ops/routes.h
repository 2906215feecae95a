// SPDX-License-Identifier: BSD-3-Clause
// The routing table: kernels that compute the same for every shape, told apart by what they are fast for. The choice is
// one of speed alone.
#pragma once

#include "ops/common.h"

namespace pteron::ops {

// The size of a product: of matrices, or of queries (rows) with keys (columns).
struct Work {
  u32 rows = 0, depth = 0, columns = 0, batches = 1;
  bool fixed = false;  // depth and columns never vary
};

struct Route {  // NOLINT(clang-analyzer-optin.performance.Padding): the order in which a line of the table is read
  std::string_view family, name;
  enum Adapter : u8 { any, cpu, gpu } adapter = any;
  bool subgroups = false;           // the device must have them
  bool (*suits)(const Work& work);  // none: whatever the others leave
  bool f16 = false;                 // chosen only where the device has half precision
};

// A family's routes stand together, in the order in which they are asked.
std::span<const Route> routes();

// The route that the user insists on, or the one that was measured to be the fastest for this work on this device, or
// the first one that suits the device and the work.
Result<std::string_view> choose_route(Plan& op, std::string_view family, const Work& work);

}  // namespace pteron::ops
