// SPDX-License-Identifier: BSD-3-Clause
// A remedy against Mesa's lavapipe.
#pragma once

#include <string>

namespace pteron::gpu::native {

// Lavapipe looks for loops and branches that depend on uniforms alone, puts the numbers that a dispatch comes with in
// their place, and compiles the kernel again: not once, but for every dispatch, which takes milliseconds where the
// kernel takes microseconds. This gives the same WGSL, line by line, in which it can't tell what they depend on:
// scalars of the uniform `p` are read once by `main`, together with a bit that is always 0.
std::string with_unknown_parameters(std::string wgsl);

}  // namespace pteron::gpu::native
