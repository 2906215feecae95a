// SPDX-License-Identifier: BSD-3-Clause
#include "server/http/socket.h"

#include "server/http/berkeley.h"

#include <algorithm>

namespace pteron::server::http {
namespace {

constexpr size_t most_at_once = 1 << 20;
constexpr int end_of_sending = 1;  // SHUT_WR, SD_SEND

berkeley::Handle system(Socket::Handle handle) { return berkeley::Handle(handle); }

}  // namespace

Socket::~Socket() {
  if (*this) berkeley::close(system(handle_));
}

Socket Socket::accept(std::string& client) const {
  sockaddr_storage from{};
  socklen_t size = sizeof from;
  Socket out(Handle(::accept(system(handle_), reinterpret_cast<sockaddr*>(&from), &size)));
  if (!out || !berkeley::make_nonblocking(system(out.handle_))) return Socket();
  const int on = 1;
  setsockopt(system(out.handle_), IPPROTO_TCP, TCP_NODELAY, reinterpret_cast<const char*>(&on), sizeof on);
  char host[NI_MAXHOST] = "";
  getnameinfo(reinterpret_cast<sockaddr*>(&from), size, host, sizeof host, nullptr, 0, NI_NUMERICHOST);
  client = host;
  return out;
}

Transfer Socket::send(std::string_view bytes) const {
  const auto count = ::send(system(handle_), bytes.data(), int(std::min(bytes.size(), most_at_once)), 0);
  if (count >= 0) return {.bytes = size_t(count)};
  return {.gone = !berkeley::would_block()};
}

Transfer Socket::receive(std::span<char> into) const {
  const auto count = ::recv(system(handle_), into.data(), int(std::min(into.size(), most_at_once)), 0);
  if (count > 0) return {.bytes = size_t(count)};
  return {.gone = count == 0 || !berkeley::would_block()};
}

bool Socket::ended() const {
  char byte;
  return ::recv(system(handle_), &byte, 1, MSG_PEEK) == 0;
}

void Socket::end_sending() const { ::shutdown(system(handle_), end_of_sending); }

}  // namespace pteron::server::http
