// SPDX-License-Identifier: BSD-3-Clause
#include "cli/interrupts.h"

#include <atomic>
#include <csignal>

namespace pteron::cli {
namespace {

// A signal handler can reach nothing else.
std::atomic<bool> interrupted = false;

void note(int) { interrupted = true; }

}  // namespace

Interrupts::Interrupts() {
  struct sigaction action{};
  action.sa_handler = note;
  sigaction(SIGINT, &action, nullptr);
}

Interrupts::~Interrupts() { std::signal(SIGINT, SIG_DFL); }

bool Interrupts::take() { return interrupted.exchange(false); }

}  // namespace pteron::cli
