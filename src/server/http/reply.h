// SPDX-License-Identifier: BSD-3-Clause
// The answer to one request, written by any thread while the loop sends it.
#pragma once

#include "server/http/message.h"

#include <functional>
#include <memory>
#include <mutex>

namespace pteron::server::http {

// What a connection and the reply to its request share.
class Channel {
 public:
  explicit Channel(std::function<void()> wake) : wake_(std::move(wake)) {}

  // By the writer. False: nobody will read it.
  bool append(std::string_view bytes, size_t most_unsent);
  void finish(bool close);

  // By the loop.
  struct View {
    std::string_view unsent;
    bool finished, close;
  };
  template <class Send>  // size_t(View): how much was sent
  bool drain(Send send) {
    const std::scoped_lock lock(mutex_);
    sent_ += send(View{std::string_view(bytes_).substr(sent_), finished_, close_});
    if (sent_ == bytes_.size()) bytes_.clear(), sent_ = 0;
    return bytes_.empty() && finished_;
  }
  void abandon();
  bool abandoned() const;
  bool closes() const;

 private:
  mutable std::mutex mutex_;
  std::string bytes_;
  size_t sent_ = 0;
  bool finished_ = false, close_ = false, abandoned_ = false;
  std::function<void()> wake_;
};

class Reply {
 public:
  Reply(std::shared_ptr<Channel> channel, const Request& request, const Limits& limits);
  // A reply that nobody finished: an error if nothing was sent, else a broken connection.
  ~Reply();

  void add_header(std::string name, std::string value) { headers_.emplace_back(std::move(name), std::move(value)); }
  void send(const Response& response);
  // A stream: begin, write any number of times, end. `write` is false once the client is gone or too slow.
  void begin(int status, std::string_view type);
  bool write(std::string_view bytes);
  void end();

  bool begun() const { return status_ != 0; }
  bool gone() const { return channel_->abandoned(); }
  int status() const { return status_; }
  // Called once, when the answer is complete or given up, and before its last bytes are sent: who has an answer finds
  // it in the log and in the numbers.
  std::function<void(const Reply&)> on_end;

 private:
  std::string head(int status, std::string_view type, const Headers& more) const;
  void finish(std::string_view last, bool close);

  std::shared_ptr<Channel> channel_;
  Headers headers_;
  size_t most_unsent_;
  bool keep_alive_, chunked_, without_body_, finished_ = false;
  int status_ = 0;
};

}  // namespace pteron::server::http
