// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "differential/random/sample.h"

#include <map>

namespace pteron::differential {

// Which passes change something, alone or beside all others: by name, in how many graphs so far.
class Firings {
 public:
  Firings();
  void count(const Sample& sample);
  const std::map<std::string, u32>& by_pass() const { return fired_; }

 private:
  std::map<std::string, u32> fired_;
};

}  // namespace pteron::differential
