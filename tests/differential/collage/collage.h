// SPDX-License-Identifier: BSD-3-Clause
// Graphs put together of programs with torch's goldens, of which there are some for every op: results of one are inputs
// of another, whatever their shapes, and ops write over what is there.
#pragma once

#include "differential/random/choices.h"
#include "differential/random/sample.h"

namespace pteron::differential {

Sample collage_of(Choices& choices);

}  // namespace pteron::differential
