// SPDX-License-Identifier: BSD-3-Clause
// Threads that read requests, so that a long one holds up neither connections nor the engine.
#pragma once

#include <pteron/types.h>

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace pteron::server {

class Workers {
 public:
  explicit Workers(u32 count);
  ~Workers();  // when everything is done
  void add(std::function<void()> work);

 private:
  void loop();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> waiting_;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace pteron::server
