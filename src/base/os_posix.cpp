// SPDX-License-Identifier: BSD-3-Clause
// What Linux and macOS have in common.
#include "base/os_posix.h"

#include "base/error.h"
#include "base/os.h"
#include "base/path.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <unistd.h>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace pteron::os {
namespace {

class PosixFile final : public File {
 public:
  PosixFile(int fd, const struct stat& info, std::string path) : fd_(fd), opened_(info), path_(std::move(path)) {}
  PosixFile(const PosixFile&) = delete;
  PosixFile& operator=(const PosixFile&) = delete;
  ~PosixFile() override { close(fd_); }

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
    const timespec before = time_of_change(opened_), after = time_of_change(now);
    const bool same =
        now.st_size == opened_.st_size && after.tv_sec == before.tv_sec && after.tv_nsec == before.tv_nsec;
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

// Writes all of it, whatever the system takes at once.
bool write_all(int fd, Bytes bytes) {
  while (!bytes.empty()) {
    const ssize_t count = write(fd, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    bytes = bytes.subspan(size_t(count));
  }
  return true;
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
  return std::make_unique<PosixFile>(fd, info, path);
}

std::filesystem::path path(const std::string& utf8) { return utf8; }
std::string text(const std::filesystem::path& path) { return path.native(); }

Status write_private_file(const std::string& path, std::span<const Bytes> parts) {
  const std::string part = path + ".part";
  unlink(part.c_str());
  const int fd = open(part.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  bool written = fd >= 0;
  for (const Bytes bytes : parts) written = written && write_all(fd, bytes);
  if (fd >= 0 && close(fd) != 0) written = false;
  if (written && rename(part.c_str(), path.c_str()) == 0) return {};
  const Failure why = unsupported("'", path, "' can't be written: ", std::strerror(errno));
  unlink(part.c_str());
  return why;
}

Status append_private_file(const std::string& path, Bytes bytes) {
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  const bool written = fd >= 0 && write_all(fd, bytes);
  const Failure why = unsupported("'", path, "' can't be written: ", std::strerror(errno));
  if (fd >= 0) close(fd);
  if (written) return {};
  return why;
}

std::vector<std::string> begin_program(int argc, char** argv) { return {argv, argv + argc}; }

bool stdin_is_terminal() { return isatty(STDIN_FILENO) == 1; }
bool stderr_is_terminal() { return isatty(STDERR_FILENO) == 1; }

u32 terminal_width() {
  winsize size{};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
  return size.ws_col;
}

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

void set_environment_default(const char* name, const char* value) { setenv(name, value, 0); }

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
