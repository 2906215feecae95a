// SPDX-License-Identifier: BSD-3-Clause
// A browser: no files, no terminal, no environment, no processes to measure.
#include "base/error.h"
#include "base/os.h"

namespace pteron::os {

namespace {

Failure no_files(const char* what, const std::string& path) {
  return unsupported("cannot ", what, " '", path, "': a browser has no files; give the program's bytes or stream them");
}

}  // namespace

Result<std::unique_ptr<File>> open_file(const std::string& path) { return no_files("open", path); }

Status write_private_file(const std::string& path, std::span<const Bytes>) { return no_files("write", path); }
Status append_private_file(const std::string& path, Bytes) { return no_files("write", path); }

std::vector<std::string> begin_program(int, char**) { return {}; }
bool stdin_is_terminal() { return false; }
bool stderr_is_terminal() { return false; }
u32 terminal_width() { return 80; }
std::string environment(const char*) { return {}; }
void set_environment_default(const char*, const char*) {}
std::string cache_directory() { return {}; }

u64 peak_resident_bytes() { return resident_bytes(); }  // WebAssembly memory only grows
u64 resident_bytes() { return u64(__builtin_wasm_memory_size(0)) * 65536; }
f64 cpu_seconds() { return 0; }
f64 thread_cpu_seconds() { return 0; }

}  // namespace pteron::os
