// SPDX-License-Identifier: BSD-3-Clause
// A conversation's state that was kept in a file.
#include "fuzz.h"
#include "server/engine/state_file.h"

#include <sys/mman.h>
#include <unistd.h>

namespace pteron::fuzz {

void target(Bytes input) {
  static const int file = memfd_create("state", 0);
  if (ftruncate(file, 0) != 0 || pwrite(file, input.data(), input.size(), 0) != ssize_t(input.size())) return;
  const std::filesystem::path path = "/proc/self/fd/" + std::to_string(file);
  if (const auto head = server::read_head(path)) (void)server::read_state(path, *head, 64);
}

}  // namespace pteron::fuzz
