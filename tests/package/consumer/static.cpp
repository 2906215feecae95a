// SPDX-License-Identifier: BSD-3-Clause
#include <pteron/pteron.h>

#include <cstdio>

int main() {
  const auto program = pteron::Program::load("no such file");  // takes the library in
  return program || std::puts(pteron::version()) < 0;
}
