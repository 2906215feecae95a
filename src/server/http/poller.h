// SPDX-License-Identifier: BSD-3-Clause
// Waiting for many sockets at once; one implementation file per kind of system.
#pragma once

#include "server/http/socket.h"

#include <pteron/result.h>

#include <memory>
#include <span>

namespace pteron::server::http {

class Poller {
 public:
  struct Interest {
    bool read = false, write = false;
    friend bool operator==(Interest, Interest) = default;
  };
  struct Event {
    u64 id = 0;
    bool readable = false;  // also if the other side is gone
    bool writable = false;
  };

  static Result<std::unique_ptr<Poller>> create();
  virtual ~Poller() = default;

  // False if the system can't.
  virtual bool add(const Socket& socket, u64 id, Interest interest) = 0;
  virtual void change(const Socket& socket, u64 id, Interest interest) = 0;
  // Before the socket is closed.
  virtual void remove(const Socket& socket) = 0;
  // Until something happens, or for so long. Valid until the next call.
  virtual std::span<const Event> wait(int timeout_ms) = 0;
};

// Wakes a poller from any thread: it becomes readable when it is rung, until it is hushed.
class Bell {
 public:
  Bell();
  void ring() const;
  void hush() const;
  const Socket& socket() const { return socket_; }

 private:
  Socket socket_;
};

}  // namespace pteron::server::http
