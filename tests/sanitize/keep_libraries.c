// SPDX-License-Identifier: BSD-3-Clause
// Preloaded for the leak sanitizer: it names the library that a leak is of only as long as that is loaded.
int dlclose(void* library) {
  (void)library;
  return 0;
}
