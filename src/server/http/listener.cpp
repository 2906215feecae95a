// SPDX-License-Identifier: BSD-3-Clause
#include "server/http/listener.h"

#include "base/error.h"

#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>

namespace pteron::server::http {

Descriptor::~Descriptor() {
  if (fd_ >= 0) ::close(fd_);
}

namespace {

Result<std::string> address_of(int fd) {
  sockaddr_storage storage{};
  socklen_t size = sizeof storage;
  char host[NI_MAXHOST], port[NI_MAXSERV];
  if (getsockname(fd, reinterpret_cast<sockaddr*>(&storage), &size) != 0 ||
      getnameinfo(reinterpret_cast<sockaddr*>(&storage), size, host, sizeof host, port, sizeof port,
                  NI_NUMERICHOST | NI_NUMERICSERV) != 0)
    return internal_error("the socket has no address");
  return storage.ss_family == AF_INET6 ? str("[", host, "]:", port) : str(host, ":", port);
}

}  // namespace

Result<Listener> Listener::open(const std::string& host, u32 port) {
  addrinfo wanted{}, *found = nullptr;
  wanted.ai_socktype = SOCK_STREAM;
  wanted.ai_flags = AI_PASSIVE | AI_NUMERICSERV | (host == "localhost" ? 0 : AI_NUMERICHOST);
  if (const int error = getaddrinfo(host.c_str(), std::to_string(port).c_str(), &wanted, &found); error != 0)
    return invalid("'", host, "' is no address to listen on: ", gai_strerror(error), "; give one such as 127.0.0.1");
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> release(found, freeaddrinfo);
  Descriptor fd(::socket(found->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  const int on = 1;
  if (!fd || setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
      ::bind(fd.get(), found->ai_addr, found->ai_addrlen) != 0 || ::listen(fd.get(), 512) != 0)
    return invalid("can't listen on ", host, " port ", port, ": ", std::strerror(errno),
                   "; is another server there? Choose another --port");
  TRY(std::string address, address_of(fd.get()));
  return Listener{std::move(fd), std::move(address)};
}

}  // namespace pteron::server::http
