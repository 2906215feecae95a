// SPDX-License-Identifier: BSD-3-Clause
#include "base/error.h"
#include "base/os.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

namespace pteron::os {
namespace {

class LinuxMappedFile final : public MappedFile {
 public:
  LinuxMappedFile(void* data, u64 size) : data_(data), size_(size) {}
  LinuxMappedFile(const LinuxMappedFile&) = delete;
  LinuxMappedFile& operator=(const LinuxMappedFile&) = delete;
  ~LinuxMappedFile() override {
    if (size_ > 0) munmap(data_, size_);
  }
  Bytes bytes() const override { return {static_cast<const std::byte*>(data_), size_}; }
  void release(u64 offset, u64 size) const override {
    const u64 page = u64(sysconf(_SC_PAGESIZE));
    const u64 first = (offset + page - 1) / page * page;
    const u64 last = (offset + size) / page * page;
    if (last > first) madvise(static_cast<std::byte*>(data_) + first, last - first, MADV_DONTNEED);
  }

 private:
  void* data_;
  u64 size_;
};

u64 status_field(const char* name) {
  std::FILE* file = std::fopen("/proc/self/status", "r");
  if (!file) return 0;
  char line[256];
  unsigned long long kib = 0;
  while (std::fgets(line, sizeof line, file))
    if (std::strncmp(line, name, std::strlen(name)) == 0) std::sscanf(line + std::strlen(name), ": %llu", &kib);
  std::fclose(file);
  return u64(kib) * 1024;
}

}  // namespace

Result<std::unique_ptr<MappedFile>> map_file(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return fail(errno == ENOENT ? ErrorKind::not_found : ErrorKind::invalid, "cannot open '", path,
                "': ", std::strerror(errno));
  struct stat info{};
  if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
    close(fd);
    return invalid("cannot read '", path, "': it is not a regular file");
  }
  const u64 size = u64(info.st_size);
  void* data = nullptr;
  if (size > 0) data = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0);
  close(fd);
  if (data == MAP_FAILED) return invalid("cannot map '", path, "': ", std::strerror(errno));
  return std::make_unique<LinuxMappedFile>(data, size);
}

bool stdin_is_terminal() { return isatty(STDIN_FILENO) == 1; }
bool stderr_is_terminal() { return isatty(STDERR_FILENO) == 1; }
bool stdout_is_terminal() { return isatty(STDOUT_FILENO) == 1; }

u32 terminal_width() {
  winsize size{};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
  return size.ws_col;
}

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

std::string cache_directory() {
  if (const std::string dir = environment("PTERON_CACHE"); !dir.empty()) return dir;
  if (const std::string dir = environment("XDG_CACHE_HOME"); !dir.empty()) return dir + "/pteron";
  if (const std::string home = environment("HOME"); !home.empty()) return home + "/.cache/pteron";
  return "";
}

u64 peak_resident_bytes() { return status_field("VmHWM"); }
u64 resident_bytes() { return status_field("VmRSS"); }

f64 cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) { return f64(t.tv_sec) + f64(t.tv_usec) * 1e-6; };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

f64 thread_cpu_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return f64(time.tv_sec) + f64(time.tv_nsec) * 1e-9;
}

}  // namespace pteron::os
