// SPDX-License-Identifier: BSD-3-Clause
// One device for all GPU tests of a process. $PTERON_DUMP_WGSL names a folder that gets every kernel they compile.
// With $PTERON_TEST_LEAST_DEVICE it has only what WebGPU promises everywhere.
#pragma once

#include <pteron/program.h>

#include <gtest/gtest.h>

namespace pteron::test {

const Device& device();
// Every pass switched off.
LoadOptions without_passes();

}  // namespace pteron::test
