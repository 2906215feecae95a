// SPDX-License-Identifier: BSD-3-Clause
#include "server/http/loop.h"

#include "base/error.h"

#include <set>

namespace pteron::server::http {
namespace {

constexpr u64 listening = 0, waking = ~u64(0);
constexpr size_t most_read_ahead = 64 << 10;
constexpr int tick_ms = 100;

}  // namespace

struct Loop::Connection {
  u64 id;
  Socket socket;
  std::string client;
  RequestParser parser;
  std::string input;
  std::shared_ptr<Channel> channel;  // of the answer under way
  Clock::time_point deadline;
  Poller::Interest watched;
  bool reading = false;  // a request has begun to arrive
  bool closing = false;  // after the answer
};

// Outlives the loop in the hands of replies.
struct Loop::Waker {
  Bell bell;
  std::mutex mutex;
  std::set<u64> woken;
  bool stop = false, abort = false;

  void wake(u64 id) {
    {
      const std::scoped_lock lock(mutex);
      woken.insert(id);
    }
    bell.ring();
  }
};

Loop::Loop(Listener listener, Limits limits, Handler handler, std::unique_ptr<Poller> poller)
    : listener_(std::move(listener)),
      limits_(limits),
      handler_(std::move(handler)),
      poller_(std::move(poller)),
      waker_(std::make_shared<Waker>()) {}

Result<std::unique_ptr<Loop>> Loop::create(Listener listener, Limits limits, Handler handler) {
  TRY(auto poller, Poller::create());
  std::unique_ptr<Loop> loop(new Loop(std::move(listener), limits, std::move(handler), std::move(poller)));
  if (!loop->poller_->add(loop->listener_.socket, listening, {.read = true}) ||
      !loop->poller_->add(loop->waker_->bell.socket(), waking, {.read = true}))
    return internal_error("the system can't wait for this server's sockets; has the process too many files open?");
  return loop;
}

Loop::~Loop() {
  for (const auto& [id, connection] : connections_)
    if (connection->channel) connection->channel->abandon();
}

void Loop::stop() {
  const std::scoped_lock lock(waker_->mutex);
  waker_->stop = true;
  waker_->bell.ring();
}

void Loop::abort() {
  const std::scoped_lock lock(waker_->mutex);
  waker_->stop = waker_->abort = true;
  waker_->bell.ring();
}

void Loop::run() {
  while (!stopping_ || !connections_.empty()) {
    for (const Poller::Event& event : poller_->wait(tick_ms)) {
      if (event.id == listening)
        accept_all();
      else if (event.id == waking)
        serve_woken();
      else if (const auto it = connections_.find(event.id); it != connections_.end())
        on_event(*it->second, event);
    }
    close_overdue();
  }
}

void Loop::accept_all() {
  for (;;) {
    std::string client;
    Socket socket = listener_.socket.accept(client);
    if (!socket) return;
    const u64 id = next_id_++;
    auto& slot = connections_[id];
    slot.reset(new Connection{.id = id,
                              .socket = std::move(socket),
                              .client = std::move(client),
                              .parser = RequestParser(limits_),
                              .deadline = Clock::now() + limits_.idle_time});
    connection_count_ = u32(connections_.size());
    slot->watched = {.read = true};
    poller_->add(slot->socket, id, slot->watched);
    if (connections_.size() > limits_.connections)
      refuse(*slot, 503, str("the server has ", limits_.connections, " connections, which is its limit"));
  }
}

void Loop::on_event(Connection& connection, Poller::Event event) {
  const u64 id = connection.id;
  if (event.writable) send_pending(connection);
  if (!connections_.contains(id)) return;
  if (!event.readable) return;
  if (!receive(connection)) return close(id);
  advance(connection);
}

// False: the client is gone. One that has said everything counts as gone too, because nothing else tells.
bool Loop::receive(Connection& connection) {
  char buffer[16 << 10];
  for (int turn = 0; turn < 16 && connection.input.size() < most_read_ahead; ++turn) {
    const Transfer got = connection.socket.receive(buffer);
    if (got.gone) return false;
    if (got.bytes == 0) return true;
    if (connection.closing) continue;  // nobody listens any more
    connection.input.append(buffer, got.bytes);
  }
  return !connection.socket.ended();
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
      if (connection.parser.take_expectation()) (void)connection.socket.send("HTTP/1.1 100 Continue\r\n\r\n");
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
      const Transfer put = connection.socket.send(view.unsent.substr(sent));
      broken = put.gone;
      if (put.bytes == 0) break;
      sent += put.bytes;
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
    connection.socket.end_sending();
    connection.deadline = Clock::now() + std::chrono::seconds(1);
    return watch(connection);
  }
  connection.deadline = Clock::now() + limits_.idle_time;
  advance(connection);
}

void Loop::watch(Connection& connection) {
  const Poller::Interest wanted{.read = connection.closing || connection.input.size() < most_read_ahead,
                                .write = connection.channel && connection.deadline != Clock::time_point::max()};
  if (wanted == connection.watched) return;
  connection.watched = wanted;
  poller_->change(connection.socket, connection.id, wanted);
}

void Loop::close(u64 id) {
  const auto it = connections_.find(id);
  if (it == connections_.end()) return;
  if (it->second->channel) it->second->channel->abandon();
  poller_->remove(it->second->socket);
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
  waker_->bell.hush();
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
  poller_->remove(listener_.socket);
  listener_.socket = Socket();
  std::vector<u64> idle;
  for (const auto& [id, connection] : connections_)
    if (!connection->channel) idle.push_back(id);
  for (const u64 id : idle) close(id);
}

}  // namespace pteron::server::http
