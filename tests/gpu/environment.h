// SPDX-License-Identifier: BSD-3-Clause
// One device for all GPU tests of a process. $PTERON_DUMP_WGSL names a folder that gets every kernel they compile.
#pragma once

#include <pteron/device.h>

#include <gtest/gtest.h>

namespace pteron::test {

const Device& device();

}  // namespace pteron::test
