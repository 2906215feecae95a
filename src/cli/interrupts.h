// SPDX-License-Identifier: BSD-3-Clause
// What a user or the system asks of a program that runs; one implementation file per system.
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

// From now on, what would end the program is seen by `wait` alone. Made before any other thread.
class Wishes {
 public:
  Wishes();

  enum class Wish { end, reload };
  Wish wait() const;
};

}  // namespace pteron::cli
