// SPDX-License-Identifier: BSD-3-Clause
#include "server/metrics.h"

#include "base/text.h"

#include <algorithm>

namespace pteron::server {

void Histogram::observe(f64 seconds) {
  const std::scoped_lock lock(mutex_);
  ++counts_[size_t(std::ranges::lower_bound(bounds, seconds) - bounds.begin())];
  sum_ += seconds;
}

void Histogram::write(std::string& out, std::string_view name, std::string_view help) const {
  const std::scoped_lock lock(mutex_);
  out += str("# HELP ", name, " ", help, "\n# TYPE ", name, " histogram\n");
  u64 total = 0;
  for (size_t i = 0; i < counts_.size(); ++i) {
    total += counts_[i];
    out += str(name, "_bucket{le=\"", i < bounds.size() ? str(bounds[i]) : "+Inf", "\"} ", total, "\n");
  }
  out += str(name, "_sum ", sum_, "\n", name, "_count ", total, "\n");
}

void Metrics::count_request(const std::string& path, int status) {
  const std::scoped_lock lock(mutex_);
  ++requests_[{path, status}];
}

std::string Metrics::text(u32 connections, const std::optional<GpuUsage>& gpu) const {
  std::string out;
  const auto value = [&](std::string_view name, std::string_view type, std::string_view help, u64 number) {
    out += str("# HELP ", name, " ", help, "\n# TYPE ", name, " ", type, "\n", name, " ", number, "\n");
  };
  out += "# HELP pteron_requests_total Answers by path and status.\n# TYPE pteron_requests_total counter\n";
  {
    const std::scoped_lock lock(mutex_);
    for (const auto& [key, count] : requests_)
      out += str("pteron_requests_total{path=\"", key.first, "\",status=\"", key.second, "\"} ", count, "\n");
  }
  value("pteron_prompt_tokens_total", "counter", "Tokens of prompts.", prompt_tokens);
  value("pteron_cached_tokens_total", "counter", "Tokens of prompts that were not read again.", cached_tokens);
  value("pteron_generated_tokens_total", "counter", "Tokens of answers.", answer_tokens);
  value("pteron_drafted_tokens_total", "counter", "Tokens that were drafted and verified.", drafted_tokens);
  value("pteron_held_tokens_total", "counter", "Drafted tokens that became part of answers.", held_tokens);
  value("pteron_jobs_total", "counter", "Answers that were begun.", jobs);
  value("pteron_cancelled_total", "counter", "Answers whose client went away.", cancelled);
  value("pteron_failed_total", "counter", "Answers that ended with an error.", failed);
  value("pteron_refused_total", "counter", "Requests refused because the queue was full.", refused);
  value("pteron_devices_lost_total", "counter", "Times that the GPU had to be opened again.", devices_lost);
  value("pteron_active", "gauge", "Answers under way.", active);
  value("pteron_queued", "gauge", "Answers that wait.", queued);
  value("pteron_idle_sessions", "gauge", "States that are kept for their prompts.", idle_sessions);
  value("pteron_session_bytes", "gauge", "Bytes on the GPU of all states.", session_bytes);
  value("pteron_connections", "gauge", "Open connections.", connections);
  if (gpu) {
    value("pteron_gpu_buffers", "gauge", "Buffers on the GPU.", gpu->buffers);
    value("pteron_gpu_bytes", "gauge", "Bytes of all buffers on the GPU.", gpu->buffer_bytes);
    value("pteron_gpu_bind_groups", "gauge", "Bind groups on the GPU.", gpu->bind_groups);
    value("pteron_gpu_pipelines", "gauge", "Compiled kernels on the GPU.", gpu->pipelines);
  }
  first_token.write(out, "pteron_first_token_seconds", "From the request to the first token.");
  between_tokens.write(out, "pteron_between_tokens_seconds", "Between two tokens of an answer.");
  return out;
}

}  // namespace pteron::server
