// SPDX-License-Identifier: BSD-3-Clause
// The page's GPU device.
#pragma once

#include "gpu/device.h"

namespace pteron::gpu {

struct BrowserOptions {
  bool f16 = true, subgroups = true;  // use them if the device has them
};

Result<std::shared_ptr<Device>> open_browser_device(const BrowserOptions& options = {});

}  // namespace pteron::gpu
