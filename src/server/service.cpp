// SPDX-License-Identifier: BSD-3-Clause
#include "server/service.h"

#include "base/sha256.h"
#include "server/page/page.h"

#include <algorithm>
#include <array>

namespace pteron::server {
namespace {

// Compares digests, so the time says nothing about the key.
bool same_secret(std::string_view given, std::string_view wanted) {
  const auto digest = [](std::string_view text) {
    Sha256 hash;
    hash.update(std::as_bytes(std::span(text)));
    return hash.finish();
  };
  const std::string a = digest(given), b = digest(wanted);
  unsigned difference = 0;
  for (size_t i = 0; i < a.size(); ++i) difference |= unsigned(a[i] ^ b[i]);
  return difference == 0;
}

bool is_local(std::string_view origin) {
  for (const std::string_view start : {"http://", "https://"})
    for (const std::string_view host : {"localhost", "127.0.0.1", "[::1]"}) {
      if (!origin.starts_with(start) || !origin.substr(start.size()).starts_with(host)) continue;
      const std::string_view rest = origin.substr(start.size() + host.size());
      if (rest.empty() || (rest[0] == ':' && rest.find_first_not_of("0123456789", 1) == std::string_view::npos))
        return true;
    }
  return false;
}

}  // namespace

struct Service::Route {
  std::string_view path, method;
  Handler handler;
  bool open = false;  // without a key
};

std::span<const Service::Route> Service::routes() {
  static constexpr std::array<Route, 10> list{{
      {"/", "GET", &Service::page, true},
      {"/health", "GET", &Service::health, true},
      {"/metrics", "GET", &Service::metrics},
      {"/v1/models", "GET", &Service::list_models},
      {"/v1/chat/completions", "POST", &Service::chat},
      {"/v1/completions", "POST", &Service::completions},
      {"/v1/responses", "POST", &Service::responses},
      {"/v1/embeddings", "POST", &Service::embeddings},
      {"/tokenize", "POST", &Service::tokenize},
      {"/detokenize", "POST", &Service::detokenize},
  }};
  return list;
}

std::string Service::name_of(const std::string& path) {
  return std::ranges::find(routes(), path, &Route::path) != routes().end() ? path : "other";
}

void Service::handle(const http::Request& request, const std::shared_ptr<http::Reply>& reply) {
  try {
    allow_origin(request, *reply);
    if (request.method == "OPTIONS") return reply->send({.status = 204});
    const bool one_model = request.path.starts_with("/v1/models/");
    const auto route = std::ranges::find(routes(), one_model ? "/v1/models" : request.path, &Route::path);
    if (route == routes().end()) throw ApiError{.status = 404, .message = "there is nothing at this path"};
    if (!route->open) admit(request);
    if (request.method != route->method && !(request.method == "HEAD" && route->method == "GET"))
      throw ApiError{.status = 405, .message = str("this path takes ", route->method, " requests")};
    (this->*route->handler)(request, reply);
  } catch (const ApiError& error) {
    reply->send(to_response(error));
  } catch (const std::exception& error) {
    reply->send(to_response({.status = 500, .message = error.what(), .type = "server_error"}));
  }
}

void Service::admit(const http::Request& request) const {
  if (options_.api_key.empty()) return;
  std::string_view given = request.header("authorization");
  if (given.starts_with("Bearer ")) given.remove_prefix(7);
  if (same_secret(given, options_.api_key)) return;
  throw ApiError{.status = 401,
                 .message = "the API key is missing or wrong; send it as 'Authorization: Bearer KEY'",
                 .type = "authentication_error",
                 .code = "invalid_api_key"};
}

// A page of another site could otherwise use the server through its visitor's browser.
void Service::allow_origin(const http::Request& request, http::Reply& reply) const {
  const std::string_view origin = request.header("origin");
  if (origin.empty()) return;
  const auto& allowed = options_.origins;
  if (!is_local(origin) && std::ranges::find(allowed, origin) == allowed.end() &&
      std::ranges::find(allowed, "*") == allowed.end())
    throw ApiError{.status = 403,
                   .message = "pages of this origin may not use the server; it can be started with --cors"};
  reply.add_header("Access-Control-Allow-Origin", std::string(origin));
  reply.add_header("Vary", "Origin");
  reply.add_header("Access-Control-Allow-Methods", "GET, POST, OPTIONS");
  const std::string_view headers = request.header("access-control-request-headers");
  reply.add_header("Access-Control-Allow-Headers",
                   headers.empty() ? "authorization, content-type" : std::string(headers));
}

void Service::submit(std::vector<Job> jobs) {
  for (Job& job : jobs) job.deadline = job.submitted + options_.limits.time;
  if (!scheduler_.submit(std::move(jobs))) refuse_full();
}

void Service::refuse_full() {
  ++metrics_.refused;
  throw ApiError{.status = 429,
                 .message = "the server has as many requests waiting as it takes; ask again later",
                 .type = "rate_limit_error",
                 .code = "queue_full"};
}

void Service::health(const http::Request&, const std::shared_ptr<http::Reply>& reply) {
  reply->send({.body = to_text({{"status", "ok"}})});
}

void Service::metrics(const http::Request&, const std::shared_ptr<http::Reply>& reply) {
  std::optional<GpuUsage> gpu;  // all models share one
  if (const ModelPtr model = models_.find(""))
    if (const auto device = model->model.device()) gpu = device->usage();
  reply->send({.type = "text/plain; version=0.0.4", .body = metrics_.text(connections(), gpu)});
}

void Service::page(const http::Request&, const std::shared_ptr<http::Reply>& reply) {
  http::Response out{.type = "text/html; charset=utf-8", .body = std::string(page_html)};
  out.headers.emplace_back(
      "Content-Security-Policy",
      "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; connect-src 'self'");
  reply->send(out);
}

}  // namespace pteron::server
