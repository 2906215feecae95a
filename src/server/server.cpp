// SPDX-License-Identifier: BSD-3-Clause
#include "server/server.h"

#include "server/api/json.h"

#include <chrono>
#include <cstdio>

namespace pteron::server {
namespace {

constexpr u32 worker_count = 2;

// "2026-11-18T07:30:00Z"
std::string time_text(std::chrono::system_clock::time_point time) {
  using namespace std::chrono;
  const auto day = floor<days>(time);
  const year_month_day date(day);
  const hh_mm_ss clock(floor<seconds>(time - day));
  char out[32] = "";
  std::snprintf(out, sizeof out, "%04d-%02u-%02uT%02d:%02d:%02dZ", int(date.year()), unsigned(date.month()),
                unsigned(date.day()), int(clock.hours().count()), int(clock.minutes().count()),
                int(clock.seconds().count()));
  return out;
}

// One line per request, without anything that was said.
void log_access(const http::Request& request, int status, f64 seconds) {
  const std::string line = to_text({{"time", time_text(std::chrono::system_clock::now())},
                                    {"client", request.client},
                                    {"method", request.method},
                                    {"path", request.path},
                                    {"status", status},
                                    {"ms", i64(seconds * 1000)}});
  std::fprintf(stderr, "%s\n", line.c_str());
}

}  // namespace

Server::Server(ModelTable& models, ServerOptions options) : models_(models), options_(std::move(options)) {
  scheduler_.emplace(models_, metrics_, options_.scheduler);
  service_.emplace(models_, *scheduler_, metrics_, options_.service);
  workers_.emplace(worker_count);
}

Result<std::unique_ptr<Server>> Server::open(ModelTable& models, ServerOptions options) {
  TRY(http::Listener listener, http::Listener::open(options.host, options.port));
  std::unique_ptr<Server> server(new Server(models, std::move(options)));
  Server* self = server.get();
  TRY(self->loop_, http::Loop::create(std::move(listener), self->options_.http,
                                      [self](http::Request request, std::shared_ptr<http::Reply> reply) {
                                        self->on_request(std::move(request), std::move(reply));
                                      }));
  self->service_->connections = [self] { return self->loop_->connections(); };
  self->thread_ = std::thread([self] {
    self->loop_->run();
    const std::scoped_lock lock(self->mutex_);
    self->ended_ = true;
    self->changed_.notify_all();
  });
  return server;
}

void Server::on_request(http::Request request, std::shared_ptr<http::Reply> reply) {
  auto shared = std::make_shared<http::Request>(std::move(request));
  const auto start = std::chrono::steady_clock::now();
  reply->on_end = [this, shared, start](const http::Reply& ended) {
    const std::chrono::duration<f64> time = std::chrono::steady_clock::now() - start;
    metrics_.count_request(Service::name_of(shared->path), ended.status());
    if (options_.access_log) log_access(*shared, ended.status(), time.count());
  };
  workers_->add([this, shared, reply = std::move(reply)] { service_->handle(*shared, reply); });
}

void Server::forget_old_models() { scheduler_->forget_old_models(); }

void Server::stop(std::chrono::milliseconds patience) {
  loop_->stop();
  std::unique_lock lock(mutex_);
  if (changed_.wait_for(lock, patience, [&] { return ended_; })) return;
  lock.unlock();
  // Their streams end with an error event, which is still sent.
  workers_.reset();
  scheduler_.reset();
  lock.lock();
  if (changed_.wait_for(lock, std::chrono::seconds(2), [&] { return ended_; })) return;
  lock.unlock();
  loop_->abort();
}

Server::~Server() {
  if (!loop_) return;
  loop_->abort();
  if (thread_.joinable()) thread_.join();
  workers_.reset();
  scheduler_.reset();
}

}  // namespace pteron::server
