// SPDX-License-Identifier: BSD-3-Clause
#include "cli/editor/terminal.h"

#include "base/os.h"
#include "base/wide_windows.h"
#include "cli/editor/stream_line.h"

#include <windows.h>

#include <cstdio>

namespace pteron::cli::terminal {
namespace {

HANDLE input() { return GetStdHandle(STD_INPUT_HANDLE); }
HANDLE output() { return GetStdHandle(STD_ERROR_HANDLE); }

DWORD raw(DWORD mode) {
  mode &= ~DWORD(ENABLE_LINE_INPUT | ENABLE_ECHO_INPUT | ENABLE_PROCESSED_INPUT);
  return mode | ENABLE_VIRTUAL_TERMINAL_INPUT;
}

// The character of a key that went down; 0 if it has none, or for other events.
wchar_t character(const INPUT_RECORD& event) {
  const bool key = event.EventType == KEY_EVENT && event.Event.KeyEvent.bKeyDown;
  return key ? event.Event.KeyEvent.uChar.UnicodeChar : L'\0';
}

// All that has been typed so far.
std::wstring take_typed() {
  std::wstring out;
  DWORD waiting = 0;
  while (GetNumberOfConsoleInputEvents(input(), &waiting) && waiting > 0) {
    INPUT_RECORD event{};
    DWORD count = 0;
    if (!ReadConsoleInputW(input(), &event, 1, &count)) break;
    if (const wchar_t c = character(event); c != L'\0') out.append(event.Event.KeyEvent.wRepeatCount, c);
  }
  return out;
}

constexpr wchar_t end_of_input = L'\x1a';  // Ctrl-Z

// A console's bytes are wrong beyond ASCII in most versions of Windows, whatever its code page is; its text is right.
std::optional<std::string> read_console_line() {
  std::wstring line;
  while (!line.ends_with(L'\n')) {
    wchar_t part[256];
    DWORD count = 0;
    const bool done = ReadConsoleW(input(), part, DWORD(std::size(part)), &count, nullptr);
    if (!done || count == 0) {
      Sleep(100);  // Ctrl-C is noted on another thread, a moment later
      return std::nullopt;
    }
    line.append(part, count);
  }
  if (line.front() == end_of_input) return std::nullopt;
  line.erase(line.find_last_not_of(L"\r\n") + 1);
  return os::to_utf8(line);
}

}  // namespace

const char* const end_keys = "Ctrl-Z and Enter";

std::optional<std::string> read_line() {
  return os::stdin_is_terminal() ? read_console_line() : read_stream_line(stdin);
}

// Consoles before Windows 10 know no sequences; lines are read plainly there.
bool available() {
  DWORD before = 0;
  if (!os::stdin_is_terminal() || !os::stderr_is_terminal() || !GetConsoleMode(input(), &before)) return false;
  const bool able = SetConsoleMode(input(), raw(before)) != 0;
  SetConsoleMode(input(), before);
  DWORD mode = 0;
  return able && GetConsoleMode(output(), &mode) && (mode & ENABLE_VIRTUAL_TERMINAL_PROCESSING) != 0;
}

struct RawMode::Before {
  DWORD mode = 0;
};

RawMode::RawMode() : before_(std::make_unique<Before>()) {
  GetConsoleMode(input(), &before_->mode);
  SetConsoleMode(input(), raw(before_->mode));
  std::fputs("\x1b[?2004h", stderr);
}

RawMode::~RawMode() {
  std::fputs("\x1b[?2004l", stderr);
  SetConsoleMode(input(), before_->mode);
}

// Events that are no characters (keys that are released, the window's size) wake it too, and the time starts again.
std::string read(int timeout_ms) {
  std::wstring typed;
  const auto half = [&] { return !typed.empty() && IS_HIGH_SURROGATE(typed.back()); };
  while (typed.empty() || half()) {
    if (WaitForSingleObject(input(), timeout_ms < 0 ? INFINITE : DWORD(timeout_ms)) != WAIT_OBJECT_0) break;
    typed += take_typed();
  }
  return os::to_utf8(typed);
}

ScreenSize screen_size() {
  CONSOLE_SCREEN_BUFFER_INFO info{};
  if (!GetConsoleScreenBufferInfo(output(), &info)) return {};
  return {u32(info.srWindow.Right - info.srWindow.Left + 1), u32(info.srWindow.Bottom - info.srWindow.Top + 1)};
}

void suspend() {}

}  // namespace pteron::cli::terminal
