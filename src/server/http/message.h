// SPDX-License-Identifier: BSD-3-Clause
// HTTP/1.1 requests and answers, and what a client may use up.
#pragma once

#include <pteron/types.h>

#include <chrono>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pteron::server::http {

using Headers = std::vector<std::pair<std::string, std::string>>;

struct Limits {
  u32 connections = 256;
  size_t header_bytes = 16 << 10, header_count = 100, target_bytes = 2 << 10;
  size_t body_bytes = 8 << 20;
  // An answer that is made faster than its reader takes it is given up at this size.
  size_t unsent_bytes = 4 << 20;
  // From a request's first byte to the end of its head; for its body; without a request; without progress of an answer.
  std::chrono::milliseconds head_time{10'000}, body_time{60'000}, idle_time{75'000}, write_time{30'000};
};

struct Request {
  std::string method, path, query;
  Headers headers;  // names in lower case
  std::string body;
  std::string client;  // its address
  bool keep_alive = true, chunked_answers = true;

  // Empty if there is none.
  std::string_view header(std::string_view name) const;
};

struct Response {
  int status = 200;
  std::string type = "application/json", body;
  Headers headers;
};

std::string_view reason_of(int status);

}  // namespace pteron::server::http
