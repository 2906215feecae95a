// SPDX-License-Identifier: BSD-3-Clause
#include "server/http/berkeley.h"

#include <fcntl.h>
#include <unistd.h>
#include <cerrno>
#include <csignal>
#include <cstring>

namespace pteron::server::http::berkeley {

// Sending to a client that is gone is an error of the call, not the end of the program.
void start() { std::signal(SIGPIPE, SIG_IGN); }

bool make_nonblocking(Handle handle) {
  const int flags = fcntl(handle, F_GETFL);
  return flags >= 0 && fcntl(handle, F_SETFL, flags | O_NONBLOCK) == 0 && fcntl(handle, F_SETFD, FD_CLOEXEC) == 0;
}

bool claim_address(Handle handle) {
  const int on = 1;
  return setsockopt(handle, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0;
}

void close(Handle handle) { ::close(handle); }
bool would_block() { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }
std::string problem() { return std::strerror(errno); }
std::string problem_of_address(int answer) { return gai_strerror(answer); }
int wait(std::span<pollfd> sockets, int timeout_ms) { return poll(sockets.data(), nfds_t(sockets.size()), timeout_ms); }

}  // namespace pteron::server::http::berkeley
