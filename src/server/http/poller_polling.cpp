// SPDX-License-Identifier: BSD-3-Clause
// The system looks at every socket each time, which is fine for some hundred.
#include "server/http/berkeley.h"
#include "server/http/poller.h"

#include <map>
#include <vector>

namespace pteron::server::http {
namespace {

class Polling final : public Poller {
 public:
  bool add(const Socket& socket, u64 id, Interest interest) override {
    change(socket, id, interest);
    return bool(socket);
  }
  void change(const Socket& socket, u64 id, Interest interest) override { watched_[socket.get()] = {id, interest}; }
  void remove(const Socket& socket) override { watched_.erase(socket.get()); }

  std::span<const Event> wait(int timeout_ms) override {
    asked_.clear();
    for (const auto& [handle, watched] : watched_) {
      const int wanted = (watched.interest.read ? POLLIN : 0) | (watched.interest.write ? POLLOUT : 0);
      asked_.push_back({.fd = berkeley::Handle(handle), .events = short(wanted), .revents = 0});
    }
    events_.clear();
    if (berkeley::wait(asked_, timeout_ms) <= 0) return {};
    auto watched = watched_.begin();
    for (const pollfd& answer : asked_) {
      const u64 id = (watched++)->second.id;
      if (answer.revents == 0) continue;
      events_.push_back({.id = id,
                         .readable = (answer.revents & (POLLIN | POLLHUP | POLLERR)) != 0,
                         .writable = (answer.revents & POLLOUT) != 0});
    }
    return events_;
  }

 private:
  struct Watched {
    u64 id = 0;
    Interest interest;
  };
  std::map<Socket::Handle, Watched> watched_;
  std::vector<pollfd> asked_;
  std::vector<Event> events_;
};

}  // namespace

Result<std::unique_ptr<Poller>> Poller::create() { return std::make_unique<Polling>(); }

// A socket that sends to itself.
Bell::Bell() : socket_(Socket::Handle(::socket(AF_INET, SOCK_DGRAM, 0))) {
  sockaddr_in address{};
  socklen_t size = sizeof address;
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  auto* self = reinterpret_cast<sockaddr*>(&address);
  const auto handle = berkeley::Handle(socket_.get());
  if (!berkeley::make_nonblocking(handle) || ::bind(handle, self, size) != 0 || getsockname(handle, self, &size) != 0 ||
      ::connect(handle, self, size) != 0)
    socket_ = Socket();
}

void Bell::ring() const { (void)socket_.send("!"); }

void Bell::hush() const {
  char bytes[16];
  while (socket_.receive(bytes).bytes > 0) {}
}

}  // namespace pteron::server::http
