// SPDX-License-Identifier: BSD-3-Clause
// All connections on one thread: none of them can hold up another, however slow it is or many they are.
#pragma once

#include "server/http/listener.h"
#include "server/http/parser.h"
#include "server/http/poller.h"
#include "server/http/reply.h"

#include <atomic>
#include <map>

namespace pteron::server::http {

class Loop {
 public:
  // Called on the loop's thread, so it should only pass the request on.
  using Handler = std::function<void(Request, std::shared_ptr<Reply>)>;

  static Result<std::unique_ptr<Loop>> create(Listener listener, Limits limits, Handler handler);
  ~Loop();

  // Until `stop` was called and all answers were sent.
  void run();
  // From any thread: no new connections or requests; answers under way are completed.
  void stop();
  // And those too are broken off.
  void abort();

  u32 connections() const { return connection_count_; }
  const std::string& address() const { return listener_.address; }

 private:
  using Clock = std::chrono::steady_clock;
  struct Connection;
  struct Waker;

  Loop(Listener listener, Limits limits, Handler handler, std::unique_ptr<Poller> poller);
  void accept_all();
  void on_event(Connection& connection, Poller::Event event);
  bool receive(Connection& connection);
  void advance(Connection& connection);
  void refuse(Connection& connection, int status, const std::string& problem);
  void dispatch(Connection& connection);
  void send_pending(Connection& connection);
  void watch(Connection& connection);
  void close(u64 id);
  void close_overdue();
  void serve_woken();
  void begin_stop();

  Listener listener_;
  const Limits limits_;
  Handler handler_;
  std::unique_ptr<Poller> poller_;
  std::shared_ptr<Waker> waker_;
  std::map<u64, std::unique_ptr<Connection>> connections_;
  u64 next_id_ = 1;
  std::atomic<u32> connection_count_ = 0;
  bool stopping_ = false;
};

}  // namespace pteron::server::http
