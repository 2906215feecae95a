// SPDX-License-Identifier: BSD-3-Clause
#include "cli/editor/terminal.h"

#include "base/os.h"
#include "cli/editor/stream_line.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>
#include <cerrno>
#include <csignal>
#include <cstdio>

namespace pteron::cli::terminal {

bool available() {
  const std::string kind = os::environment("TERM");
  return os::stdin_is_terminal() && os::stderr_is_terminal() && !kind.empty() && kind != "dumb";
}

const char* const end_keys = "Ctrl-D";

std::optional<std::string> read_line() { return read_stream_line(stdin); }

struct RawMode::Before {
  termios settings{};
};

RawMode::RawMode() : before_(std::make_unique<Before>()) {
  tcgetattr(STDIN_FILENO, &before_->settings);
  termios raw = before_->settings;
  raw.c_iflag &= ~tcflag_t(BRKINT | ICRNL | INLCR | INPCK | ISTRIP | IXON);
  raw.c_lflag &= ~tcflag_t(ECHO | ICANON | IEXTEN | ISIG);
  raw.c_cc[VMIN] = 1;
  raw.c_cc[VTIME] = 0;
  tcsetattr(STDIN_FILENO, TCSADRAIN, &raw);
  std::fputs("\x1b[?2004h", stderr);
}

RawMode::~RawMode() {
  std::fputs("\x1b[?2004l", stderr);
  tcsetattr(STDIN_FILENO, TCSADRAIN, &before_->settings);
}

std::string read(int timeout_ms) {
  for (;;) {
    pollfd wanted{STDIN_FILENO, POLLIN, 0};
    const int ready = poll(&wanted, 1, timeout_ms);
    if (ready == 0) return "";
    char bytes[4096];
    const ssize_t size = ready < 0 ? -1 : ::read(STDIN_FILENO, bytes, sizeof bytes);
    if (size < 0 && errno == EINTR) continue;
    return {bytes, size_t(size < 0 ? 0 : size)};
  }
}

ScreenSize screen_size() {
  winsize size{};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_row == 0) return {};
  return {size.ws_col, size.ws_row};
}

void suspend() { std::raise(SIGTSTP); }

}  // namespace pteron::cli::terminal
