// SPDX-License-Identifier: BSD-3-Clause
// What repeated runs cost: time of the wall clock and of all processor cores, time on the host outside of the wait for
// the GPU, and counts.
#pragma once

#include <pteron/device.h>

#include <vector>

namespace pteron::cli {

struct Spread {
  f64 median = 0, lower_quartile = 0, upper_quartile = 0;
};
Spread spread_of(std::vector<f64> values);

class Meter {
 public:
  Meter(const Device& device, u32 most_runs);

  template <class Fn>
  Status run(Fn fn) {
    const Reading before = read();
    Status status = fn();
    note(before, read());
    return status;
  }

  Spread wall_ms() const { return spread_of(wall_ms_); }
  Spread cpu_ms() const { return spread_of(cpu_ms_); }
  Spread host_us() const { return spread_of(host_us_); }
  Spread hidden_us() const { return spread_of(hidden_us_); }  // spent on the host while the GPU worked
  Spread host_cpu_us() const { return spread_of(host_cpu_us_); }

  struct Counts {  // per run
    f64 dispatches = 0, queue_writes = 0, submits = 0, creates = 0, host_allocations = 0;
  };
  Counts counts() const;

 private:
  struct Reading {
    f64 wall = 0, cpu = 0, host_cpu = 0;  // seconds
    u64 allocations = 0;
    GpuUsage usage;
  };
  Reading read() const;
  void note(const Reading& before, const Reading& after);

  const Device& device_;
  std::vector<f64> wall_ms_, cpu_ms_, host_us_, hidden_us_, host_cpu_us_;
  u64 dispatches_ = 0, writes_ = 0, submits_ = 0, creates_ = 0, allocations_ = 0;
};

}  // namespace pteron::cli
