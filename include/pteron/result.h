// SPDX-License-Identifier: BSD-3-Clause
// Errors are values. Every fallible function returns Result<T>; no exception leaves the library.
#pragma once

#include <expected>
#include <string>
#include <string_view>

namespace pteron {

enum class ErrorKind {
  invalid,        // the file or the call is wrong; the message says what to change
  not_found,      // a file, method, key or adapter that was asked for does not exist
  unsupported,    // valid, but outside of what this build or this device can do
  out_of_memory,  // the GPU's memory
  device_lost,    // the GPU went away; open a new Device
  cancelled,      // the caller asked to stop
  internal,       // a bug in Pteron
};

std::string_view name_of(ErrorKind kind);

// A full sentence and where it happened: "loading m.pte: method forward: op 17 aten.add.Tensor: <message>".
struct Error {
  ErrorKind kind = ErrorKind::internal;
  std::string message;
  std::string context;

  std::string to_string() const { return context + message; }

  // Puts an outer frame in front of the context chain.
  Error&& within(std::string_view frame) && {
    context = std::string(frame) + ": " + context;
    return std::move(*this);
  }
};

template <class T>
using Result = std::expected<T, Error>;
using Status = Result<void>;

}  // namespace pteron
