/* SPDX-License-Identifier: BSD-3-Clause
 * Runs a program in a new console, and presses Ctrl-C there as soon as it has written something.
 * usage: ctrl_c.exe PROGRAM [ARGUMENT...] */
#include <windows.h>

#include <stdio.h>
#include <string.h>

static BOOL WINAPI go_on(DWORD event) { return event == CTRL_C_EVENT; } /* it is pressed for all in the console */

static int failed(const char* what) {
  fprintf(stderr, "ctrl_c: %s failed with %lu\n", what, GetLastError());
  return 1;
}

static wchar_t* rest_of_command_line(void) {
  wchar_t* at = GetCommandLineW();
  at = *at == L'"' ? wcschr(at + 1, L'"') + 1 : at + wcscspn(at, L" ");
  return at + wcsspn(at, L" ");
}

int main(void) {
  HANDLE in = GetStdHandle(STD_INPUT_HANDLE), out = GetStdHandle(STD_OUTPUT_HANDLE), error = GetStdHandle(STD_ERROR_HANDLE);
  FreeConsole();
  if (!AllocConsole() || !SetConsoleCtrlHandler(go_on, TRUE)) return failed("a new console");

  HANDLE written, write_end;
  SECURITY_ATTRIBUTES inherited = {.nLength = sizeof inherited, .bInheritHandle = TRUE};
  if (!CreatePipe(&written, &write_end, &inherited, 0)) return failed("a pipe");
  SetHandleInformation(written, HANDLE_FLAG_INHERIT, 0);
  SetHandleInformation(in, HANDLE_FLAG_INHERIT, HANDLE_FLAG_INHERIT);
  SetHandleInformation(error, HANDLE_FLAG_INHERIT, HANDLE_FLAG_INHERIT);

  STARTUPINFOW start = {.cb = sizeof start, .dwFlags = STARTF_USESTDHANDLES, .hStdInput = in, .hStdOutput = write_end, .hStdError = error};
  PROCESS_INFORMATION program;
  if (!CreateProcessW(NULL, rest_of_command_line(), NULL, NULL, TRUE, 0, NULL, NULL, &start, &program)) return failed("the program");
  CloseHandle(write_end);

  char part[4096];
  DWORD count, passed_on, code;
  for (BOOL pressed = FALSE; ReadFile(written, part, sizeof part, &count, NULL) && count > 0; pressed = TRUE) {
    if (!pressed && !GenerateConsoleCtrlEvent(CTRL_C_EVENT, 0)) return failed("Ctrl-C");
    WriteFile(out, part, count, &passed_on, NULL);
  }
  WaitForSingleObject(program.hProcess, INFINITE);
  return GetExitCodeProcess(program.hProcess, &code) ? (int)code : failed("its end");
}
