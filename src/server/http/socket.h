// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <pteron/types.h>

#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace pteron::server::http {

// What became of sending or receiving.
struct Transfer {
  size_t bytes = 0;
  bool gone = false;  // the other side; with neither, try again later
};

// A connection, or what accepts some; closed with its owner. No call waits.
class Socket {
 public:
  using Handle = i64;  // holds that of any system

  explicit Socket(Handle handle = none) : handle_(handle) {}
  Socket(Socket&& other) noexcept : handle_(std::exchange(other.handle_, none)) {}
  Socket& operator=(Socket&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Socket();
  Handle get() const { return handle_; }
  explicit operator bool() const { return handle_ != none; }

  // The next connection that waits, and who made it; none if there is no more.
  Socket accept(std::string& client) const;
  Transfer send(std::string_view bytes) const;
  Transfer receive(std::span<char> into) const;
  // Whether the other side will send nothing more, as far as is known before the rest is received.
  bool ended() const;
  void end_sending() const;

 private:
  static constexpr Handle none = -1;

  Handle handle_;
};

}  // namespace pteron::server::http
