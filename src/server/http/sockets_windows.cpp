// SPDX-License-Identifier: BSD-3-Clause
#include "base/wide_windows.h"
#include "server/http/berkeley.h"

namespace pteron::server::http::berkeley {

void start() {
  WSADATA ignored;
  WSAStartup(MAKEWORD(2, 2), &ignored);
}

bool make_nonblocking(Handle handle) {
  u_long on = 1;
  SetHandleInformation(HANDLE(handle), HANDLE_FLAG_INHERIT, 0);
  return ioctlsocket(handle, FIONBIO, &on) == 0;
}

// SO_REUSEADDR would let others take the address over.
bool claim_address(Handle handle) {
  const int on = 1;
  return setsockopt(handle, SOL_SOCKET, SO_EXCLUSIVEADDRUSE, reinterpret_cast<const char*>(&on), sizeof on) == 0;
}

void close(Handle handle) { closesocket(handle); }
bool would_block() { return WSAGetLastError() == WSAEWOULDBLOCK; }
std::string problem() { return os::last_error(); }
std::string problem_of_address(int answer) {
  WSASetLastError(answer);
  return os::last_error();
}
int wait(std::span<pollfd> sockets, int timeout_ms) {
  return WSAPoll(sockets.data(), ULONG(sockets.size()), timeout_ms);
}

}  // namespace pteron::server::http::berkeley
