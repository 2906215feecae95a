// SPDX-License-Identifier: BSD-3-Clause
// Sockets as every system has them, behind the one line of the project that asks which one this is: the calls are the
// same, their headers are not. What differs besides is declared here and lies in sockets_SYSTEM.cpp.
#pragma once

#if __has_include(<winsock2.h>)
#include <winsock2.h>
#include <ws2tcpip.h>
#else
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#endif

#include <span>
#include <string>

namespace pteron::server::http::berkeley {

using Handle = decltype(pollfd::fd);

// Called before any other; more than once is fine.
void start();
// Whether calls return at once from now on. Programs that are started do not inherit it.
bool make_nonblocking(Handle handle);
// Lets a server that was stopped start again at once, and no other listen at the same address.
bool claim_address(Handle handle);
void close(Handle handle);
// Of the last call that failed.
bool would_block();
std::string problem();
// Of what getaddrinfo answered.
std::string problem_of_address(int answer);
// poll(2)
int wait(std::span<pollfd> sockets, int timeout_ms);

}  // namespace pteron::server::http::berkeley
