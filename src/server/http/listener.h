// SPDX-License-Identifier: BSD-3-Clause
// A TCP socket that accepts connections.
#pragma once

#include <pteron/result.h>
#include <pteron/types.h>

#include <string>
#include <utility>

namespace pteron::server::http {

// A file descriptor that is closed with its owner.
class Descriptor {
 public:
  explicit Descriptor(int fd = -1) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Descriptor();
  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }

 private:
  int fd_;
};

struct Listener {
  Descriptor socket;
  std::string address;  // "127.0.0.1:8080"

  // The host is a numeric address or "localhost"; port 0: any that is free.
  static Result<Listener> open(const std::string& host, u32 port);
};

}  // namespace pteron::server::http
