// SPDX-License-Identifier: BSD-3-Clause
// The endpoints.
#pragma once

#include "server/api/sampling.h"
#include "server/engine/scheduler.h"
#include "server/http/reply.h"

namespace pteron::server {

struct ServiceOptions {
  RequestLimits limits;
  std::string api_key;               // empty: none is asked for
  std::vector<std::string> origins;  // pages besides those of this machine that may ask; "*": all
};

class Service {
 public:
  Service(ModelTable& models, Scheduler& scheduler, Metrics& metrics, ServiceOptions options)
      : models_(models), scheduler_(scheduler), metrics_(metrics), options_(std::move(options)) {}

  // Answers now or later; on any thread.
  void handle(const http::Request& request, const std::shared_ptr<http::Reply>& reply);
  // The path if there is something, else "other": what is counted must not grow with what clients make up.
  static std::string name_of(const std::string& path);
  std::function<u32()> connections = [] { return 0u; };

 private:
  using Handler = void (Service::*)(const http::Request&, const std::shared_ptr<http::Reply>&);
  struct Route;
  static std::span<const Route> routes();

  void admit(const http::Request& request) const;
  void allow_origin(const http::Request& request, http::Reply& reply) const;
  void submit(std::vector<Job> jobs);
  [[noreturn]] void refuse_full();

  void health(const http::Request&, const std::shared_ptr<http::Reply>& reply);
  void metrics(const http::Request&, const std::shared_ptr<http::Reply>& reply);
  void page(const http::Request&, const std::shared_ptr<http::Reply>& reply);
  void list_models(const http::Request&, const std::shared_ptr<http::Reply>& reply);
  void tokenize(const http::Request& request, const std::shared_ptr<http::Reply>& reply);
  void detokenize(const http::Request& request, const std::shared_ptr<http::Reply>& reply);
  void chat(const http::Request& request, const std::shared_ptr<http::Reply>& reply);
  void completions(const http::Request& request, const std::shared_ptr<http::Reply>& reply);
  void embeddings(const http::Request& request, const std::shared_ptr<http::Reply>& reply);
  void responses(const http::Request& request, const std::shared_ptr<http::Reply>& reply);

  ModelTable& models_;
  Scheduler& scheduler_;
  Metrics& metrics_;
  const ServiceOptions options_;
};

}  // namespace pteron::server
