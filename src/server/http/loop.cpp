// SPDX-License-Identifier: BSD-3-Clause
#include "server/http/loop.h"

#include "base/error.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <set>

namespace pteron::server::http {
namespace {

constexpr u64 listening = 0, waking = ~u64(0);
constexpr size_t most_read_ahead = 64 << 10;
constexpr int tick_ms = 100;

}  // namespace

struct Loop::Connection {
  u64 id;
  Descriptor socket;
  std::string client;
  RequestParser parser;
  std::string input;
  std::shared_ptr<Channel> channel;  // of the answer under way
  Clock::time_point deadline;
  u32 watched = 0;
  bool reading = false;  // a request has begun to arrive
  bool closing = false;  // after the answer
};

// Outlives the loop in the hands of replies.
struct Loop::Waker {
  Descriptor event{::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)};
  std::mutex mutex;
  std::set<u64> woken;
  bool stop = false, abort = false;

  void ring() {
    const u64 one = 1;
    [[maybe_unused]] const auto written = ::write(event.get(), &one, sizeof one);
  }
  void wake(u64 id) {
    {
      const std::scoped_lock lock(mutex);
      woken.insert(id);
    }
    ring();
  }
};

Loop::Loop(Listener listener, Limits limits, Handler handler)
    : listener_(std::move(listener)),
      limits_(limits),
      handler_(std::move(handler)),
      epoll_(::epoll_create1(EPOLL_CLOEXEC)),
      waker_(std::make_shared<Waker>()) {}

Result<std::unique_ptr<Loop>> Loop::create(Listener listener, Limits limits, Handler handler) {
  std::unique_ptr<Loop> loop(new Loop(std::move(listener), limits, std::move(handler)));
  epoll_event accepting{.events = EPOLLIN, .data = {.u64 = listening}},
      woken{.events = EPOLLIN, .data = {.u64 = waking}};
  if (!loop->epoll_ || epoll_ctl(loop->epoll_.get(), EPOLL_CTL_ADD, loop->listener_.socket.get(), &accepting) != 0 ||
      epoll_ctl(loop->epoll_.get(), EPOLL_CTL_ADD, loop->waker_->event.get(), &woken) != 0)
    return internal_error("the system gives no event queue: ", std::strerror(errno));
  return loop;
}

Loop::~Loop() {
  for (const auto& [id, connection] : connections_)
    if (connection->channel) connection->channel->abandon();
}

void Loop::stop() {
  const std::scoped_lock lock(waker_->mutex);
  waker_->stop = true;
  waker_->ring();
}

void Loop::abort() {
  const std::scoped_lock lock(waker_->mutex);
  waker_->stop = waker_->abort = true;
  waker_->ring();
}

void Loop::run() {
  std::vector<epoll_event> events(64);
  while (!stopping_ || !connections_.empty()) {
    const int count = epoll_wait(epoll_.get(), events.data(), int(events.size()), tick_ms);
    for (int i = 0; i < count; ++i) {
      const u64 id = events[size_t(i)].data.u64;
      if (id == listening)
        accept_all();
      else if (id == waking)
        serve_woken();
      else if (const auto it = connections_.find(id); it != connections_.end())
        on_event(*it->second, events[size_t(i)].events);
    }
    close_overdue();
  }
}

void Loop::accept_all() {
  for (;;) {
    sockaddr_storage from{};
    socklen_t size = sizeof from;
    Descriptor socket(
        ::accept4(listener_.socket.get(), reinterpret_cast<sockaddr*>(&from), &size, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!socket) return;
    const int on = 1;
    setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    char host[NI_MAXHOST] = "";
    getnameinfo(reinterpret_cast<sockaddr*>(&from), size, host, sizeof host, nullptr, 0, NI_NUMERICHOST);
    const u64 id = next_id_++;
    auto& slot = connections_[id];
    slot.reset(new Connection{.id = id,
                              .socket = std::move(socket),
                              .client = host,
                              .parser = RequestParser(limits_),
                              .deadline = Clock::now() + limits_.idle_time});
    connection_count_ = u32(connections_.size());
    epoll_event event{.events = EPOLLIN | EPOLLRDHUP, .data = {.u64 = id}};
    slot->watched = event.events;
    epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, slot->socket.get(), &event);
    if (connections_.size() > limits_.connections)
      refuse(*slot, 503, str("the server has ", limits_.connections, " connections, which is its limit"));
  }
}

void Loop::on_event(Connection& connection, u32 events) {
  const u64 id = connection.id;
  if (events & EPOLLOUT) send_pending(connection);
  if (!connections_.contains(id)) return;
  if (events & (EPOLLIN | EPOLLRDHUP | EPOLLHUP | EPOLLERR)) {
    if (!receive(connection)) return close(id);
    advance(connection);
  }
}

// False: the client is gone. One that has said everything counts as gone too, because nothing else tells.
bool Loop::receive(Connection& connection) {
  char buffer[16 << 10];
  for (int turn = 0; turn < 16 && connection.input.size() < most_read_ahead; ++turn) {
    const ssize_t count = ::recv(connection.socket.get(), buffer, sizeof buffer, 0);
    if (count == 0) return false;
    if (count < 0) return errno == EAGAIN || errno == EINTR;
    if (connection.closing) continue;  // nobody listens any more
    connection.input.append(buffer, size_t(count));
  }
  char byte;
  return ::recv(connection.socket.get(), &byte, 1, MSG_PEEK) != 0;
}

void Loop::advance(Connection& connection) {
  if (connection.channel || connection.closing) return watch(connection);
  if (connection.input.empty()) return watch(connection);
  if (!std::exchange(connection.reading, true)) connection.deadline = Clock::now() + limits_.head_time;
  const auto before = connection.parser.state();
  const auto state = connection.parser.feed(connection.input);
  switch (state) {
    case RequestParser::State::failed:
      return refuse(connection, connection.parser.status(), connection.parser.problem());
    case RequestParser::State::complete: return dispatch(connection);
    case RequestParser::State::body:
      if (before != state) connection.deadline = Clock::now() + limits_.body_time;
      if (connection.parser.take_expectation())
        (void)::send(connection.socket.get(), "HTTP/1.1 100 Continue\r\n\r\n", 25, MSG_NOSIGNAL);
      break;
    case RequestParser::State::head: break;
  }
  watch(connection);
}

void Loop::dispatch(Connection& connection) {
  Request request = connection.parser.take();
  request.client = connection.client;
  if (stopping_) request.keep_alive = false;
  connection.reading = false;
  connection.channel = std::make_shared<Channel>([waker = waker_, id = connection.id] { waker->wake(id); });
  connection.deadline = Clock::time_point::max();
  auto reply = std::make_shared<Reply>(connection.channel, request, limits_);
  watch(connection);
  handler_(std::move(request), std::move(reply));
}

// The connection can't go on: where the next request begins is not known.
void Loop::refuse(Connection& connection, int status, const std::string& problem) {
  Request request;
  request.keep_alive = false;
  connection.closing = true;
  connection.input.clear();
  connection.channel = std::make_shared<Channel>([] {});
  const std::string type = status == 503 ? "server_error" : "invalid_request_error";
  Reply(connection.channel, request, limits_)
      .send({status,
             "application/json",
             str("{\"error\":{\"message\":\"", problem, "\",\"type\":\"", type, "\",\"param\":null,\"code\":null}}"),
             {}});
  send_pending(connection);
}

void Loop::send_pending(Connection& connection) {
  if (!connection.channel) return watch(connection);
  bool broken = false, progress = false, waiting = false;
  const bool done = connection.channel->drain([&](const Channel::View& view) -> size_t {
    size_t sent = 0;
    while (sent < view.unsent.size()) {
      const ssize_t count =
          ::send(connection.socket.get(), view.unsent.data() + sent, view.unsent.size() - sent, MSG_NOSIGNAL);
      if (count <= 0) {
        broken = errno != EAGAIN && errno != EINTR;
        break;
      }
      sent += size_t(count);
    }
    progress = sent > 0;
    waiting = sent < view.unsent.size();
    return sent;
  });
  if (broken || connection.channel->abandoned()) return close(connection.id);
  if (progress || !waiting || connection.deadline == Clock::time_point::max())
    connection.deadline = waiting ? Clock::now() + limits_.write_time : Clock::time_point::max();
  if (!done) return watch(connection);
  const bool finished = connection.closing || connection.channel->closes() || stopping_;
  connection.channel.reset();
  if (finished) {
    // What the client still sends is read for a moment: closing at once would throw the answer away.
    connection.closing = true;
    ::shutdown(connection.socket.get(), SHUT_WR);
    connection.deadline = Clock::now() + std::chrono::seconds(1);
    return watch(connection);
  }
  connection.deadline = Clock::now() + limits_.idle_time;
  advance(connection);
}

void Loop::watch(Connection& connection) {
  u32 events = EPOLLRDHUP;
  if (connection.closing || connection.input.size() < most_read_ahead) events |= EPOLLIN;
  if (connection.channel && connection.deadline != Clock::time_point::max()) events |= EPOLLOUT;
  if (events == connection.watched) return;
  connection.watched = events;
  epoll_event event{.events = events, .data = {.u64 = connection.id}};
  epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, connection.socket.get(), &event);
}

void Loop::close(u64 id) {
  const auto it = connections_.find(id);
  if (it == connections_.end()) return;
  if (it->second->channel) it->second->channel->abandon();
  connections_.erase(it);
  connection_count_ = u32(connections_.size());
}

void Loop::close_overdue() {
  const auto now = Clock::now();
  std::vector<u64> overdue;
  for (const auto& [id, connection] : connections_)
    if (connection->deadline <= now) overdue.push_back(id);
  for (const u64 id : overdue) {
    Connection& connection = *connections_.at(id);
    if (connection.channel || connection.closing || !connection.reading)
      close(id);
    else
      refuse(connection, 408, "the request did not arrive in time");
  }
}

void Loop::serve_woken() {
  u64 count = 0;
  [[maybe_unused]] const auto size = ::read(waker_->event.get(), &count, sizeof count);
  std::set<u64> woken;
  bool stop = false, abort = false;
  {
    const std::scoped_lock lock(waker_->mutex);
    woken.swap(waker_->woken);
    stop = waker_->stop;
    abort = waker_->abort;
  }
  if (stop && !stopping_) begin_stop();
  if (abort)
    while (!connections_.empty()) close(connections_.begin()->first);
  for (const u64 id : woken)
    if (const auto it = connections_.find(id); it != connections_.end()) send_pending(*it->second);
}

void Loop::begin_stop() {
  stopping_ = true;
  epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, listener_.socket.get(), nullptr);
  listener_.socket = Descriptor();
  std::vector<u64> idle;
  for (const auto& [id, connection] : connections_)
    if (!connection->channel) idle.push_back(id);
  for (const u64 id : idle) close(id);
}

}  // namespace pteron::server::http
