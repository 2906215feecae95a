// SPDX-License-Identifier: BSD-3-Clause
// Reads requests from bytes that arrive in pieces. Strict: what two readers could understand differently is refused.
#pragma once

#include "server/http/message.h"

#include <optional>

namespace pteron::server::http {

class RequestParser {
 public:
  enum class State { head, body, complete, failed };

  explicit RequestParser(const Limits& limits) : limits_(limits) {}

  // Takes what belongs to the request from the front of `input`.
  State feed(std::string& input);
  State state() const { return state_; }
  // Whether the client waits for "100 Continue" before it sends the body; true once.
  bool take_expectation();
  // The complete request; the parser is ready for the next one.
  Request take();

  // If it failed: the status to answer with, and a sentence.
  int status() const { return status_; }
  const std::string& problem() const { return problem_; }

 private:
  enum class Chunk { size, data, data_end, trailer };

  State fail(int status, std::string problem);
  State read_head(std::string_view head);
  bool read_request_line(std::string_view line);
  bool read_header(std::string_view line);
  bool read_framing();
  State read_body(std::string& input);
  State read_chunks(std::string& input);
  State read_chunks(std::string_view& rest);
  bool read_chunk_size(std::string_view line);

  const Limits& limits_;
  State state_ = State::head;
  Request request_;
  std::optional<size_t> length_;
  bool chunked_ = false, expects_ = false;
  Chunk chunk_ = Chunk::size;
  size_t chunk_left_ = 0, trailer_bytes_ = 0, searched_ = 0;
  int status_ = 0;
  std::string problem_;
};

}  // namespace pteron::server::http
