// SPDX-License-Identifier: BSD-3-Clause
#include "server/api/chunk_stream.h"

namespace pteron::server {

Json ChunkStream::chunk(Json choices) const {
  Json out{{"id", head_.id}, {"object", head_.object}, {"created", head_.created}, {"model", head_.model}};
  out["choices"] = std::move(choices);
  if (include_usage_) out["usage"] = nullptr;
  return out;
}

// The head goes out with the first bytes: until then an error can still have its own status.
void ChunkStream::write(const std::string& bytes) {
  if (!reply_.begun()) reply_.begin(200, "text/event-stream; charset=utf-8");
  reply_.write(bytes);
}

void ChunkStream::send(Json choices) { write(str("data: ", to_text(chunk(std::move(choices))), "\n\n")); }

void ChunkStream::ping() { write(": reading the prompt\n\n"); }

void ChunkStream::end(const Usage& usage) {
  if (include_usage_) {
    Json last = chunk(Json::array());
    last["usage"] = to_json(usage);
    write(str("data: ", to_text(last), "\n\n"));
  }
  write("data: [DONE]\n\n");
  reply_.end();
}

void ChunkStream::fail(const ApiError& error) {
  if (!reply_.begun()) return reply_.send(to_response(error));
  write(str("data: ", to_json(error), "\n\n"));
  reply_.end();
}

}  // namespace pteron::server
