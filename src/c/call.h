// SPDX-License-Identifier: BSD-3-Clause
// What all functions of the C interface share: nothing that is thrown gets further than `call`.
#pragma once

#include "base/error.h"

#include <pteron/c.h>

#include <exception>
#include <new>
#include <string>

struct pteron_error {
  pteron_status kind;
  std::string message;
};

namespace pteron::c {

inline pteron_status fail(pteron_error** out, pteron_status kind, const char* message) noexcept {
  if (!out) return kind;
  try {
    *out = new pteron_error{kind, message};
  } catch (...) {
    *out = nullptr;  // there is not even memory for a sentence
  }
  return kind;
}

// Calls a function that returns a Status.
template <class Function>
pteron_status call(pteron_error** error, Function function) noexcept {
  try {
    const Status status = function();
    if (status) return PTERON_OK;
    return fail(error, pteron_status(status.error().kind) + 1, status.error().to_string().c_str());
  } catch (const std::bad_alloc&) {
    return fail(error, PTERON_OUT_OF_MEMORY, "the host has too little memory for this call");
  } catch (const std::exception& e) {
    return fail(error, PTERON_INTERNAL, e.what());
  } catch (...) {
    return fail(error, PTERON_INTERNAL, "an unknown exception was thrown");
  }
}

inline Status require(bool given, const char* what) {
  if (!given) return invalid(what, " is NULL");
  return {};
}

}  // namespace pteron::c
