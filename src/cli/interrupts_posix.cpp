// SPDX-License-Identifier: BSD-3-Clause
#include "cli/interrupts.h"

#include <atomic>
#include <csignal>
#include <initializer_list>

namespace pteron::cli {
namespace {

// A signal handler can reach nothing else.
std::atomic<bool> interrupted = false;

void note(int) { interrupted = true; }

sigset_t waited_for() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&set, signal);
  return set;
}

}  // namespace

Interrupts::Interrupts() {
  struct sigaction action{};
  action.sa_handler = note;
  sigaction(SIGINT, &action, nullptr);
}

Interrupts::~Interrupts() { std::signal(SIGINT, SIG_DFL); }

bool Interrupts::take() { return interrupted.exchange(false); }

Wishes::Wishes() {
  const sigset_t set = waited_for();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
}

Wishes::Wish Wishes::wait() const {
  const sigset_t set = waited_for();
  int signal = 0;
  sigwait(&set, &signal);
  return signal == SIGHUP ? Wish::reload : Wish::end;
}

}  // namespace pteron::cli
