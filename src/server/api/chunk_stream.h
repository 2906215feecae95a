// SPDX-License-Identifier: BSD-3-Clause
// Server-sent events of chunks that all have the same members.
#pragma once

#include "server/api/chat_writer.h"

namespace pteron::server {

class ChunkStream {
 public:
  ChunkStream(http::Reply& reply, ObjectHead head, bool include_usage)
      : reply_(reply), head_(std::move(head)), include_usage_(include_usage) {}

  void send(Json choices);
  void end(const Usage& usage);
  void fail(const ApiError& error);
  // A comment, so that nobody in between closes a silent connection.
  void ping();

 private:
  Json chunk(Json choices) const;
  void write(const std::string& bytes);

  http::Reply& reply_;
  ObjectHead head_;
  bool include_usage_;
};

}  // namespace pteron::server
