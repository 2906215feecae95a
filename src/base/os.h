// SPDX-License-Identifier: BSD-3-Clause
// Everything that depends on the operating system; one implementation file per system.
#pragma once

#include <pteron/result.h>
#include <pteron/types.h>

#include <memory>
#include <string>

namespace pteron::os {

class MappedFile {
 public:
  virtual ~MappedFile() = default;
  virtual Bytes bytes() const = 0;
  // Lets the system drop the pages that lie wholly inside of [offset, offset + size).
  virtual void release(u64 offset, u64 size) const = 0;
};
Result<std::unique_ptr<MappedFile>> map_file(const std::string& path);

bool stdin_is_terminal();
bool stderr_is_terminal();
bool stdout_is_terminal();
u32 terminal_width();
std::string environment(const char* name);  // empty if unset
std::string cache_directory();              // where a user's cached files belong; not created

u64 peak_resident_bytes();
u64 resident_bytes();
f64 cpu_seconds();         // of all threads of this process, user and system
f64 thread_cpu_seconds();  // of the calling thread

}  // namespace pteron::os
