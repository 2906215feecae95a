// SPDX-License-Identifier: BSD-3-Clause
// Everything that depends on the operating system; one implementation file per system. Paths, arguments and settings
// are UTF-8 everywhere.
#pragma once

#include <pteron/result.h>
#include <pteron/types.h>

#include <memory>
#include <span>
#include <string>
#include <vector>

namespace pteron::os {

// A file open for reading. Nothing is mapped: a file that was cut or written to since it was opened is an error of the
// read that meets it. One that another was renamed over, or that was deleted, stays as it was.
class File {
 public:
  virtual ~File() = default;
  virtual u64 size() const = 0;  // when it was opened
  virtual Status read(u64 offset, MutableBytes into) const = 0;
};
Result<std::unique_ptr<File>> open_file(const std::string& path);

// All bytes of a file that belongs into memory as a whole; one of more than `limit` bytes is refused unread.
constexpr u64 default_file_limit = u64(1) << 30;
Result<std::vector<std::byte>> read_file(const std::string& path, u64 limit = default_file_limit);

// Files that only this user may read. The parts stand behind each other; the file appears at once or not at all, in
// place of one that was there.
Status write_private_file(const std::string& path, std::span<const Bytes> parts);
// Behind what is in the file; makes it if there is none.
Status append_private_file(const std::string& path, Bytes bytes);

// The first call of a program: its arguments, after its streams were made ready for UTF-8 and for colours.
std::vector<std::string> begin_program(int argc, char** argv);

bool stdin_is_terminal();
bool stderr_is_terminal();
u32 terminal_width();
std::string environment(const char* name);  // empty if unset
void set_environment_default(const char* name, const char* value);
std::string cache_directory();  // where a user's cached files belong; not created

u64 peak_resident_bytes();
u64 resident_bytes();
f64 cpu_seconds();         // of all threads of this process, user and system
f64 thread_cpu_seconds();  // of the calling thread

}  // namespace pteron::os
