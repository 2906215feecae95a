// SPDX-License-Identifier: BSD-3-Clause
// What a server counts, as Prometheus reads it.
#pragma once

#include <pteron/device.h>

#include <array>
#include <atomic>
#include <map>
#include <mutex>
#include <optional>
#include <string>

namespace pteron::server {

// Seconds, in buckets that grow fourfold per two steps.
class Histogram {
 public:
  void observe(f64 seconds);
  void write(std::string& out, std::string_view name, std::string_view help) const;

 private:
  static constexpr std::array<f64, 13> bounds{0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60};
  mutable std::mutex mutex_;
  std::array<u64, bounds.size() + 1> counts_{};
  f64 sum_ = 0;
};

struct Metrics {
  std::atomic<u64> prompt_tokens = 0, cached_tokens = 0, answer_tokens = 0;
  std::atomic<u64> drafted_tokens = 0, held_tokens = 0;
  std::atomic<u64> jobs = 0, cancelled = 0, failed = 0, refused = 0, devices_lost = 0;
  std::atomic<u64> active = 0, queued = 0, idle_sessions = 0, session_bytes = 0;  // now
  Histogram first_token, between_tokens;

  void count_request(const std::string& path, int status);
  std::string text(u32 connections, const std::optional<GpuUsage>& gpu) const;

 private:
  mutable std::mutex mutex_;
  std::map<std::pair<std::string, int>, u64> requests_;
};

}  // namespace pteron::server
