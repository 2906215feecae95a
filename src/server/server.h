// SPDX-License-Identifier: BSD-3-Clause
// A running server: connections, workers, endpoints and engine put together.
#pragma once

#include "server/http/loop.h"
#include "server/service.h"
#include "server/workers.h"

namespace pteron::server {

struct ServerOptions {
  std::string host = "127.0.0.1";
  u32 port = 8080;
  http::Limits http;
  SchedulerOptions scheduler;
  ServiceOptions service;
  bool access_log = true;
};

class Server {
 public:
  // The models stay the caller's.
  static Result<std::unique_ptr<Server>> open(ModelTable& models, ServerOptions options);
  ~Server();

  const std::string& address() const { return loop_->address(); }
  // Models were loaded again: states of the old ones are dropped.
  void forget_old_models();
  // No new requests; waits for answers under way, then breaks off the rest.
  void stop(std::chrono::milliseconds patience);

 private:
  Server(ModelTable& models, ServerOptions options);
  void on_request(http::Request request, std::shared_ptr<http::Reply> reply);

  ModelTable& models_;
  const ServerOptions options_;
  Metrics metrics_;
  std::optional<Scheduler> scheduler_;
  std::optional<Service> service_;
  std::optional<Workers> workers_;
  std::unique_ptr<http::Loop> loop_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool ended_ = false;  // the loop
  std::thread thread_;
};

}  // namespace pteron::server
