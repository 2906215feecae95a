// SPDX-License-Identifier: BSD-3-Clause
#include "base/os.h"
#include "base/os_posix.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <string_view>

namespace pteron::os {
namespace {

u64 status_field(std::string_view name) {
  std::FILE* file = std::fopen("/proc/self/status", "r");
  if (!file) return 0;
  char line[256];
  u64 kib = 0;
  while (std::fgets(line, sizeof line, file)) {
    const std::string_view text = line;
    if (!text.starts_with(name)) continue;
    const std::string_view number = text.substr(std::min(text.find_first_of("0123456789"), text.size()));
    std::from_chars(number.data(), number.data() + number.size(), kib);
  }
  std::fclose(file);
  return kib * 1024;
}

}  // namespace

timespec time_of_change(const struct stat& info) { return info.st_mtim; }

std::string cache_directory() {
  if (const std::string dir = environment("PTERON_CACHE"); !dir.empty()) return dir;
  if (const std::string dir = environment("XDG_CACHE_HOME"); !dir.empty()) return dir + "/pteron";
  if (const std::string home = environment("HOME"); !home.empty()) return home + "/.cache/pteron";
  return "";
}

u64 peak_resident_bytes() { return status_field("VmHWM"); }
u64 resident_bytes() { return status_field("VmRSS"); }

}  // namespace pteron::os
