// SPDX-License-Identifier: BSD-3-Clause
// A TCP socket that accepts connections.
#pragma once

#include "server/http/socket.h"

#include <pteron/result.h>

#include <string>

namespace pteron::server::http {

struct Listener {
  Socket socket;
  std::string address;  // "127.0.0.1:8080"

  // The host is a numeric address or "localhost"; port 0: any that is free.
  static Result<Listener> open(const std::string& host, u32 port);
};

}  // namespace pteron::server::http
