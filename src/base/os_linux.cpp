// SPDX-License-Identifier: BSD-3-Clause
#include "base/error.h"
#include "base/os.h"

#include <fcntl.h>
#include <sys/ioctl.h>
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

class LinuxFile final : public File {
 public:
  LinuxFile(int fd, const struct stat& info, std::string path) : fd_(fd), opened_(info), path_(std::move(path)) {}
  LinuxFile(const LinuxFile&) = delete;
  LinuxFile& operator=(const LinuxFile&) = delete;
  ~LinuxFile() override { close(fd_); }

  u64 size() const override { return u64(opened_.st_size); }
  Status read(u64 offset, MutableBytes into) const override {
    if (offset > size() || into.size() > size() - offset)
      return invalid("bytes ", offset, " to ", offset, " + ", into.size(), " of '", path_, "' were asked for; it has ",
                     size());
    while (!into.empty()) {
      const ssize_t count = pread(fd_, into.data(), into.size(), off_t(offset));
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) return invalid("cannot read '", path_, "': ", std::strerror(errno));
      if (count == 0) return changed();
      into = into.subspan(size_t(count));
      offset += u64(count);
    }
    return check_unchanged();
  }

 private:
  // The system notes the time before it changes the bytes, so this is asked after they were read.
  Status check_unchanged() const {
    struct stat now{};
    if (fstat(fd_, &now) != 0) return invalid("cannot read '", path_, "': ", std::strerror(errno));
    const bool same = now.st_size == opened_.st_size && now.st_mtim.tv_sec == opened_.st_mtim.tv_sec &&
                      now.st_mtim.tv_nsec == opened_.st_mtim.tv_nsec;
    return same ? Status() : changed();
  }
  Status changed() const {
    return invalid("'", path_, "' changed while it was in use: it had ", size(),
                   " bytes when it was opened and was cut or written to since; load it again, and replace files by "
                   "renaming others over them");
  }

  int fd_;
  struct stat opened_;
  std::string path_;
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

Result<std::unique_ptr<File>> open_file(const std::string& path) {
  // A pipe would keep an open waiting for its other end; non-blocking, it is opened and refused.
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0)
    return fail(errno == ENOENT ? ErrorKind::not_found : ErrorKind::invalid, "cannot open '", path,
                "': ", std::strerror(errno));
  struct stat info{};
  if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
    close(fd);
    return invalid("cannot read '", path, "': it is not a regular file");
  }
  return std::make_unique<LinuxFile>(fd, info, path);
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
