// SPDX-License-Identifier: BSD-3-Clause
// Makers and propagators of errors.
#pragma once

#include "base/text.h"

#include <pteron/result.h>

#include <utility>

namespace pteron {

using Failure = std::unexpected<Error>;

template <class... Ts>
Failure fail(ErrorKind kind, const Ts&... parts) {
  return Failure(Error{kind, str(parts...), {}});
}
template <class... Ts>
Failure invalid(const Ts&... parts) {
  return fail(ErrorKind::invalid, parts...);
}
template <class... Ts>
Failure not_found(const Ts&... parts) {
  return fail(ErrorKind::not_found, parts...);
}
template <class... Ts>
Failure unsupported(const Ts&... parts) {
  return fail(ErrorKind::unsupported, parts...);
}
template <class... Ts>
Failure internal_error(const Ts&... parts) {
  return fail(ErrorKind::internal, parts...);
}

// Adds a frame to the error of a result that has one.
template <class T, class... Ts>
Result<T> within(Result<T> r, const Ts&... frame) {
  if (r) return r;
  return Failure(std::move(r.error()).within(str(frame...)));
}

}  // namespace pteron

#define PTERON_JOIN_(a, b) a##b
#define PTERON_JOIN(a, b) PTERON_JOIN_(a, b)

// TRY(auto x, expr): x is the value, or the function returns the error.
#define TRY(declaration, ...) PTERON_TRY_(declaration, PTERON_JOIN(try_, __LINE__), __VA_ARGS__)
#define PTERON_TRY_(declaration, tmp, ...)            \
  auto tmp = (__VA_ARGS__);                           \
  if (!tmp) [[unlikely]]                              \
    return ::pteron::Failure(std::move(tmp).error()); \
  declaration = *std::move(tmp)

// TRY_DO(expr): for a Status.
#define TRY_DO(...)                                          \
  do {                                                       \
    if (auto status_ = (__VA_ARGS__); !status_) [[unlikely]] \
      return ::pteron::Failure(std::move(status_).error());  \
  } while (false)
