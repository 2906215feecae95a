// SPDX-License-Identifier: BSD-3-Clause
#include "base/os.h"

#include "base/error.h"
#include "base/path.h"
#include "base/wide_windows.h"

#include <windows.h>

#include <fcntl.h>
#include <io.h>
#include <psapi.h>
#include <shellapi.h>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <utility>

namespace pteron::os {
namespace {

class Handle {
 public:
  explicit Handle(HANDLE handle) : handle_(handle) {}
  Handle(Handle&& other) noexcept : handle_(std::exchange(other.handle_, INVALID_HANDLE_VALUE)) {}
  Handle& operator=(Handle&&) = delete;
  ~Handle() { close(); }

  void close() {
    if (*this) CloseHandle(std::exchange(handle_, INVALID_HANDLE_VALUE));
  }
  HANDLE get() const { return handle_; }
  explicit operator bool() const { return handle_ != INVALID_HANDLE_VALUE; }

 private:
  HANDLE handle_;
};

constexpr u64 joined(DWORD high, DWORD low) { return u64(high) << 32 | low; }
u64 size_of(const BY_HANDLE_FILE_INFORMATION& info) { return joined(info.nFileSizeHigh, info.nFileSizeLow); }
u64 number(const FILETIME& time) { return joined(time.dwHighDateTime, time.dwLowDateTime); }
constexpr DWORD at_most(u64 size) { return DWORD(std::min<u64>(size, 1 << 30)); }

class WindowsFile final : public File {
 public:
  WindowsFile(Handle file, const BY_HANDLE_FILE_INFORMATION& info, std::string path)
      : file_(std::move(file)), opened_(info), path_(std::move(path)) {}

  u64 size() const override { return size_of(opened_); }
  Status read(u64 offset, MutableBytes into) const override {
    if (offset > size() || into.size() > size() - offset)
      return invalid("bytes ", offset, " to ", offset, " + ", into.size(), " of '", path_, "' were asked for; it has ",
                     size());
    while (!into.empty()) {
      OVERLAPPED place{};
      place.Offset = DWORD(offset);
      place.OffsetHigh = DWORD(offset >> 32);
      DWORD count = 0;
      const bool done = ReadFile(file_.get(), into.data(), at_most(into.size()), &count, &place);
      if (!done && GetLastError() != ERROR_HANDLE_EOF) return invalid("cannot read '", path_, "': ", last_error());
      if (count == 0) return changed();
      into = into.subspan(count);
      offset += count;
    }
    return check_unchanged();
  }

 private:
  Status check_unchanged() const {
    BY_HANDLE_FILE_INFORMATION now{};
    if (!GetFileInformationByHandle(file_.get(), &now)) return invalid("cannot read '", path_, "': ", last_error());
    const bool same = size_of(now) == size() && number(now.ftLastWriteTime) == number(opened_.ftLastWriteTime);
    return same ? Status() : changed();
  }
  Status changed() const {
    return invalid("'", path_, "' changed while it was in use: it had ", size(),
                   " bytes when it was opened and was cut or written to since; load it again, and replace files by "
                   "renaming others over them");
  }

  Handle file_;
  BY_HANDLE_FILE_INFORMATION opened_;
  std::string path_;
};

bool write_all(const Handle& file, Bytes bytes) {
  while (!bytes.empty()) {
    DWORD count = 0;
    if (!WriteFile(file.get(), bytes.data(), at_most(bytes.size()), &count, nullptr)) return false;
    bytes = bytes.subspan(count);
  }
  return true;
}

bool is_console(DWORD stream) {
  DWORD mode = 0;
  return GetConsoleMode(GetStdHandle(stream), &mode) != 0;
}

// Sequences that move the cursor and give colours; consoles before Windows 10 show them as they are.
void understand_sequences(DWORD stream) {
  DWORD mode = 0;
  const HANDLE console = GetStdHandle(stream);
  if (GetConsoleMode(console, &mode)) SetConsoleMode(console, mode | ENABLE_VIRTUAL_TERMINAL_PROCESSING);
}

// The console's, which outlive the program.
UINT input_code_page = 0, output_code_page = 0;
void restore_code_pages() {
  SetConsoleCP(input_code_page);
  SetConsoleOutputCP(output_code_page);
}

}  // namespace

Result<std::unique_ptr<File>> open_file(const std::string& path) {
  // Others may write to it, rename it and delete it meanwhile, as elsewhere. The flag lets folders be told by a better
  // sentence than the system's.
  Handle file(CreateFileW(to_wide(path).c_str(), GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE,
                          nullptr, OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS, nullptr));
  if (!file) {
    const DWORD code = GetLastError();
    const bool missing = code == ERROR_FILE_NOT_FOUND || code == ERROR_PATH_NOT_FOUND;
    return fail(missing ? ErrorKind::not_found : ErrorKind::invalid, "cannot open '", path, "': ", last_error());
  }
  BY_HANDLE_FILE_INFORMATION info{};
  if (GetFileType(file.get()) != FILE_TYPE_DISK || !GetFileInformationByHandle(file.get(), &info) ||
      (info.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY) != 0)
    return invalid("cannot read '", path, "': it is not a regular file");
  return std::make_unique<WindowsFile>(std::move(file), info, path);
}

std::filesystem::path path(const std::string& utf8) { return to_wide(utf8); }
std::string text(const std::filesystem::path& path) { return to_utf8(path.native()); }

// A user's folders are private there unless someone shared them.
Status write_private_file(const std::string& path, std::span<const Bytes> parts) {
  const std::wstring target = to_wide(path), part = target + L".part";
  Handle file(CreateFileW(part.c_str(), GENERIC_WRITE, 0, nullptr, CREATE_ALWAYS, FILE_ATTRIBUTE_NORMAL, nullptr));
  bool written = bool(file);
  for (const Bytes bytes : parts) written = written && write_all(file, bytes);
  if (written) file.close();
  if (written && MoveFileExW(part.c_str(), target.c_str(), MOVEFILE_REPLACE_EXISTING)) return {};
  const Failure why = unsupported("'", path, "' can't be written: ", last_error());
  file.close();
  DeleteFileW(part.c_str());
  return why;
}

Status append_private_file(const std::string& path, Bytes bytes) {
  const Handle file(CreateFileW(to_wide(path).c_str(), FILE_APPEND_DATA, FILE_SHARE_READ | FILE_SHARE_WRITE, nullptr,
                                OPEN_ALWAYS, FILE_ATTRIBUTE_NORMAL, nullptr));
  if (file && write_all(file, bytes)) return {};
  return unsupported("'", path, "' can't be written: ", last_error());
}

std::vector<std::string> begin_program(int, char**) {
  input_code_page = GetConsoleCP();
  output_code_page = GetConsoleOutputCP();
  SetConsoleCP(CP_UTF8);
  SetConsoleOutputCP(CP_UTF8);
  std::atexit(restore_code_pages);
  for (const DWORD stream : {STD_OUTPUT_HANDLE, STD_ERROR_HANDLE}) understand_sequences(stream);
  for (std::FILE* stream : {stdout, stderr}) _setmode(_fileno(stream), _O_BINARY);  // lines end as everywhere
  int count = 0;
  wchar_t** wide = CommandLineToArgvW(GetCommandLineW(), &count);
  std::vector<std::string> out;
  for (int i = 0; i < count; ++i) out.push_back(to_utf8(wide[i]));
  LocalFree(wide);
  return out;
}

bool stdin_is_terminal() { return is_console(STD_INPUT_HANDLE); }
bool stderr_is_terminal() { return is_console(STD_ERROR_HANDLE); }

u32 terminal_width() {
  CONSOLE_SCREEN_BUFFER_INFO info{};
  if (!GetConsoleScreenBufferInfo(GetStdHandle(STD_ERROR_HANDLE), &info)) return 80;
  return u32(info.srWindow.Right - info.srWindow.Left + 1);
}

std::string environment(const char* name) {
  const wchar_t* value = _wgetenv(to_wide(name).c_str());
  return value ? to_utf8(value) : "";
}

void set_environment_default(const char* name, const char* value) {
  if (environment(name).empty()) _wputenv_s(to_wide(name).c_str(), to_wide(value).c_str());
}

std::string cache_directory() {
  if (const std::string dir = environment("PTERON_CACHE"); !dir.empty()) return dir;
  if (const std::string dir = environment("LOCALAPPDATA"); !dir.empty()) return dir + "\\pteron";
  return "";
}

namespace {

PROCESS_MEMORY_COUNTERS memory() {
  PROCESS_MEMORY_COUNTERS counters{};
  K32GetProcessMemoryInfo(GetCurrentProcess(), &counters, sizeof counters);
  return counters;
}

// Of user and system; counted in steps of 100 ns.
f64 seconds(const FILETIME& system, const FILETIME& user) { return f64(number(system) + number(user)) * 1e-7; }

}  // namespace

u64 peak_resident_bytes() { return memory().PeakWorkingSetSize; }
u64 resident_bytes() { return memory().WorkingSetSize; }

f64 cpu_seconds() {
  FILETIME created{}, ended{}, system{}, user{};
  GetProcessTimes(GetCurrentProcess(), &created, &ended, &system, &user);
  return seconds(system, user);
}

f64 thread_cpu_seconds() {
  FILETIME created{}, ended{}, system{}, user{};
  GetThreadTimes(GetCurrentThread(), &created, &ended, &system, &user);
  return seconds(system, user);
}

}  // namespace pteron::os
