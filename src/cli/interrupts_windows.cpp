// SPDX-License-Identifier: BSD-3-Clause
#include "cli/interrupts.h"

#include <windows.h>

#include <atomic>

namespace pteron::cli {
namespace {

// Windows calls these on a thread of its own.
std::atomic<bool> interrupted = false;
std::atomic<bool> to_end = false;

BOOL WINAPI note(DWORD event) {
  if (event != CTRL_C_EVENT) return FALSE;
  interrupted = true;
  return TRUE;
}

// When the window is closed or the user logs out, the program is killed as soon as this returns, and after a few
// seconds anyway.
BOOL WINAPI note_end(DWORD event) {
  to_end = true;
  to_end.notify_all();
  if (event != CTRL_C_EVENT && event != CTRL_BREAK_EVENT) Sleep(INFINITE);
  return TRUE;
}

}  // namespace

Interrupts::Interrupts() { SetConsoleCtrlHandler(note, TRUE); }
Interrupts::~Interrupts() { SetConsoleCtrlHandler(note, FALSE); }

bool Interrupts::take() { return interrupted.exchange(false); }

Wishes::Wishes() { SetConsoleCtrlHandler(note_end, TRUE); }

// Windows has no signal that could ask for `reload`.
Wishes::Wish Wishes::wait() const {
  to_end.wait(false);
  return Wish::end;
}

}  // namespace pteron::cli
