// SPDX-License-Identifier: BSD-3-Clause
#include "server/http/reply.h"

#include "base/text.h"

namespace pteron::server::http {

bool Channel::append(std::string_view bytes, size_t most_unsent) {
  {
    const std::scoped_lock lock(mutex_);
    if (bytes_.size() - sent_ + bytes.size() > most_unsent) abandoned_ = true;
    if (!abandoned_) bytes_ += bytes;
  }
  wake_();
  return !abandoned();
}

void Channel::finish(bool close) {
  {
    const std::scoped_lock lock(mutex_);
    finished_ = true;
    close_ = close;
  }
  wake_();
}

void Channel::abandon() {
  const std::scoped_lock lock(mutex_);
  abandoned_ = true;
}

bool Channel::abandoned() const {
  const std::scoped_lock lock(mutex_);
  return abandoned_;
}

bool Channel::closes() const {
  const std::scoped_lock lock(mutex_);
  return close_;
}

Reply::Reply(std::shared_ptr<Channel> channel, const Request& request, const Limits& limits)
    : channel_(std::move(channel)),
      most_unsent_(limits.unsent_bytes),
      keep_alive_(request.keep_alive),
      chunked_(request.chunked_answers),
      without_body_(request.method == "HEAD") {}

Reply::~Reply() {
  if (finished_) return;
  if (begun())
    finish("", true);
  else
    send({500, "text/plain", "the request was dropped\n", {}});
}

std::string Reply::head(int status, std::string_view type, const Headers& more) const {
  std::string out = str("HTTP/1.1 ", status, " ", reason_of(status), "\r\n");
  if (!type.empty()) out += str("Content-Type: ", type, "\r\n");
  if (!keep_alive_) out += "Connection: close\r\n";
  for (const Headers* list : {&headers_, &more})
    for (const auto& [name, value] : *list) out += str(name, ": ", value, "\r\n");
  return out;
}

void Reply::send(const Response& response) {
  if (begun()) return;
  status_ = response.status;
  std::string bytes = head(response.status, response.body.empty() ? "" : response.type, response.headers);
  bytes += str("Content-Length: ", response.body.size(), "\r\n\r\n");
  if (!without_body_) bytes += response.body;
  finish(bytes, !keep_alive_);
}

void Reply::begin(int status, std::string_view type) {
  status_ = status;
  if (!chunked_) keep_alive_ = false;
  std::string bytes = head(status, type, {});
  if (chunked_) bytes += "Transfer-Encoding: chunked\r\n";
  bytes += "Cache-Control: no-cache\r\nX-Accel-Buffering: no\r\n\r\n";
  channel_->append(bytes, most_unsent_);
}

bool Reply::write(std::string_view bytes) {
  if (bytes.empty() || finished_) return !gone();
  if (!chunked_) return channel_->append(bytes, most_unsent_);
  char size[20];
  std::snprintf(size, sizeof size, "%zx\r\n", bytes.size());
  return channel_->append(str(size, bytes, "\r\n"), most_unsent_);
}

void Reply::end() {
  if (finished_) return;
  finish(chunked_ ? "0\r\n\r\n" : "", !keep_alive_);
}

void Reply::finish(std::string_view last, bool close) {
  finished_ = true;
  if (on_end) on_end(*this);
  // An answer of any size that is complete may wait: it was made for this reader alone.
  if (!last.empty()) channel_->append(last, ~size_t(0));
  channel_->finish(close);
}

}  // namespace pteron::server::http
