// SPDX-License-Identifier: BSD-3-Clause
// What the systems behind os_posix.cpp call differently.
#pragma once

#include <sys/stat.h>
#include <ctime>

namespace pteron::os {

timespec time_of_change(const struct stat& info);

}  // namespace pteron::os
