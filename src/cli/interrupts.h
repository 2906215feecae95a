// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace pteron::cli {

// While it lives, Ctrl-C is noted instead of ending the program. Reading from a terminal is broken off by it.
class Interrupts {
 public:
  Interrupts();
  ~Interrupts();
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;

  // Whether there was one since the last call.
  bool take();
};

}  // namespace pteron::cli
