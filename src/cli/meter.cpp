// SPDX-License-Identifier: BSD-3-Clause
#include "cli/meter.h"

#include "base/os.h"
#include "cli/allocations.h"

#include <algorithm>
#include <chrono>
#include <cmath>

namespace pteron::cli {

Spread spread_of(std::vector<f64> values) {
  if (values.empty()) return {};
  std::sort(values.begin(), values.end());
  const auto at = [&](f64 part) {
    const f64 place = part * f64(values.size() - 1);
    const size_t below = size_t(place), above = std::min(below + 1, values.size() - 1);
    return std::lerp(values[below], values[above], place - f64(below));
  };
  return {at(0.5), at(0.25), at(0.75)};
}

Meter::Meter(const Device& device, u32 most_runs) : device_(device) {
  for (auto* values : {&wall_ms_, &cpu_ms_, &host_us_, &hidden_us_, &host_cpu_us_}) values->reserve(most_runs);
}

Meter::Reading Meter::read() const {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return {std::chrono::duration<f64>(now).count(), os::cpu_seconds(), os::thread_cpu_seconds(),
          allocations_of_this_thread(), device_.usage()};
}

void Meter::note(const Reading& before, const Reading& after) {
  const f64 wall = after.wall - before.wall;
  const f64 waited = f64(after.usage.waited_nanoseconds - before.usage.waited_nanoseconds) * 1e-9;
  // Work for the next step that was done while the GPU was busy delays nothing, unless the GPU was ready before it.
  const f64 prepared = f64(after.usage.prepared_nanoseconds - before.usage.prepared_nanoseconds) * 1e-9;
  const f64 hidden = std::min(prepared, waited);
  wall_ms_.push_back(wall * 1e3);
  cpu_ms_.push_back((after.cpu - before.cpu) * 1e3);
  host_us_.push_back((wall - waited - hidden) * 1e6);
  hidden_us_.push_back(hidden * 1e6);
  host_cpu_us_.push_back((after.host_cpu - before.host_cpu) * 1e6);
  dispatches_ += after.usage.dispatches - before.usage.dispatches;
  writes_ += after.usage.writes - before.usage.writes;
  submits_ += after.usage.submits - before.usage.submits;
  creates_ += after.usage.creates - before.usage.creates;
  allocations_ += after.allocations - before.allocations;
}

Meter::Counts Meter::counts() const {
  const f64 runs = f64(std::max<size_t>(wall_ms_.size(), 1));
  return {f64(dispatches_) / runs, f64(writes_) / runs, f64(submits_) / runs, f64(creates_) / runs,
          f64(allocations_) / runs};
}

}  // namespace pteron::cli
