// SPDX-License-Identifier: BSD-3-Clause
#include "differential/crashes.h"

#include <unistd.h>

#include <cinttypes>
#include <csignal>
#include <cstdio>

namespace pteron::differential {
namespace {

volatile std::sig_atomic_t running_high, running_low;

void report_crash(int signal) {
  std::printf("\n%s in the graph of seed %" PRIu64 "\n", signal == SIGALRM ? "no end" : "crashed",
              u64(u32(running_high)) << 32 | u32(running_low));
  std::fflush(stdout);
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

}  // namespace

void catch_crashes() {
  for (int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGABRT, SIGALRM}) std::signal(signal, report_crash);
}

Patience::Patience(u64 seed, u32 seconds) {
  running_high = std::sig_atomic_t(u32(seed >> 32));
  running_low = std::sig_atomic_t(u32(seed));
  alarm(seconds);
}

Patience::~Patience() { alarm(0); }

}  // namespace pteron::differential
