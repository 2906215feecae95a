// SPDX-License-Identifier: BSD-3-Clause
#include "server/http/listener.h"

#include "base/error.h"
#include "server/http/berkeley.h"

#include <memory>

namespace pteron::server::http {
namespace {

Result<std::string> address_of(berkeley::Handle handle) {
  sockaddr_storage storage{};
  socklen_t size = sizeof storage;
  char host[NI_MAXHOST], port[NI_MAXSERV];
  if (getsockname(handle, reinterpret_cast<sockaddr*>(&storage), &size) != 0 ||
      getnameinfo(reinterpret_cast<sockaddr*>(&storage), size, host, sizeof host, port, sizeof port,
                  NI_NUMERICHOST | NI_NUMERICSERV) != 0)
    return internal_error("the socket has no address");
  return storage.ss_family == AF_INET6 ? str("[", host, "]:", port) : str(host, ":", port);
}

}  // namespace

Result<Listener> Listener::open(const std::string& host, u32 port) {
  berkeley::start();
  addrinfo wanted{}, *found = nullptr;
  wanted.ai_socktype = SOCK_STREAM;
  wanted.ai_flags = AI_PASSIVE | AI_NUMERICSERV | (host == "localhost" ? 0 : AI_NUMERICHOST);
  if (const int error = getaddrinfo(host.c_str(), std::to_string(port).c_str(), &wanted, &found); error != 0)
    return invalid("'", host, "' is no address to listen on: ", berkeley::problem_of_address(error),
                   "; give one such as 127.0.0.1");
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> release(found, freeaddrinfo);
  Socket socket(Socket::Handle(::socket(found->ai_family, SOCK_STREAM, 0)));
  const auto handle = berkeley::Handle(socket.get());
  if (!socket || !berkeley::make_nonblocking(handle) || !berkeley::claim_address(handle) ||
      ::bind(handle, found->ai_addr, found->ai_addrlen) != 0 || ::listen(handle, 512) != 0)
    return invalid("can't listen on ", host, " port ", port, ": ", berkeley::problem(),
                   "; is another server there? Choose another --port");
  TRY(std::string address, address_of(handle));
  return Listener{std::move(socket), std::move(address)};
}

}  // namespace pteron::server::http
