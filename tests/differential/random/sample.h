// SPDX-License-Identifier: BSD-3-Clause
// A graph and what it is run on.
#pragma once

#include "support/builder.h"

namespace pteron::differential {

struct Step {
  std::vector<Tensor> inputs;
  bool reset = false;  // state is as in the file again
};

struct Sample {
  test::GraphBuilder graph;
  std::vector<Step> steps;
  bool may_be_refused = false;  // the engine may say that it can't run this, but not give a wrong result
};

// The sample as a test that one can paste.
std::string as_code(const Sample& sample, const std::string& name);

}  // namespace pteron::differential
