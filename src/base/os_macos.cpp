// SPDX-License-Identifier: BSD-3-Clause
#include "base/os.h"
#include "base/os_posix.h"

#include <mach/mach.h>

namespace pteron::os {
namespace {

mach_task_basic_info task() {
  mach_task_basic_info info{};
  mach_msg_type_number_t count = MACH_TASK_BASIC_INFO_COUNT;
  task_info(mach_task_self(), MACH_TASK_BASIC_INFO, reinterpret_cast<task_info_t>(&info), &count);
  return info;
}

}  // namespace

timespec time_of_change(const struct stat& info) { return info.st_mtimespec; }

std::string cache_directory() {
  if (const std::string dir = environment("PTERON_CACHE"); !dir.empty()) return dir;
  if (const std::string home = environment("HOME"); !home.empty()) return home + "/Library/Caches/pteron";
  return "";
}

u64 peak_resident_bytes() { return task().resident_size_max; }
u64 resident_bytes() { return task().resident_size; }

}  // namespace pteron::os
