// SPDX-License-Identifier: BSD-3-Clause
#include "base/error.h"
#include "server/http/poller.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace pteron::server::http {
namespace {

class Epoll final : public Poller {
 public:
  explicit Epoll(Socket queue) : queue_(std::move(queue)) {}

  bool add(const Socket& socket, u64 id, Interest interest) override {
    return control(EPOLL_CTL_ADD, socket, id, interest);
  }
  void change(const Socket& socket, u64 id, Interest interest) override {
    control(EPOLL_CTL_MOD, socket, id, interest);
  }
  void remove(const Socket& socket) override { control(EPOLL_CTL_DEL, socket, 0, {}); }

  std::span<const Event> wait(int timeout_ms) override {
    const int count = epoll_wait(int(queue_.get()), ready_.data(), int(ready_.size()), timeout_ms);
    const size_t found = count < 0 ? 0 : size_t(count);
    for (size_t i = 0; i < found; ++i)
      events_[i] = {.id = ready_[i].data.u64,
                    .readable = (ready_[i].events & (EPOLLIN | EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0,
                    .writable = (ready_[i].events & EPOLLOUT) != 0};
    return std::span(events_).first(found);
  }

 private:
  bool control(int what, const Socket& socket, u64 id, Interest interest) {
    epoll_event event{.events = EPOLLRDHUP, .data = {.u64 = id}};
    if (interest.read) event.events |= EPOLLIN;
    if (interest.write) event.events |= EPOLLOUT;
    return epoll_ctl(int(queue_.get()), what, int(socket.get()), &event) == 0;
  }

  Socket queue_;
  std::array<epoll_event, 64> ready_;
  std::array<Event, 64> events_;
};

}  // namespace

Result<std::unique_ptr<Poller>> Poller::create() {
  Socket queue(epoll_create1(EPOLL_CLOEXEC));
  if (!queue) return internal_error("the system gives no event queue: ", std::strerror(errno));
  return std::make_unique<Epoll>(std::move(queue));
}

Bell::Bell() : socket_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {}

void Bell::ring() const {
  const u64 one = 1;
  [[maybe_unused]] const auto written = write(int(socket_.get()), &one, sizeof one);
}

void Bell::hush() const {
  u64 count = 0;
  [[maybe_unused]] const auto size = read(int(socket_.get()), &count, sizeof count);
}

}  // namespace pteron::server::http
