// SPDX-License-Identifier: BSD-3-Clause
// What is wrong with a request. Thrown while one is read, and caught where it is answered.
#pragma once

#include "base/error.h"
#include "server/http/message.h"

#include <string>

namespace pteron::server {

struct ApiError {
  int status = 400;
  std::string message;
  std::string type = "invalid_request_error";
  std::string param, code;  // empty: null
};

std::string to_json(const ApiError& error);
http::Response to_response(const ApiError& error);
// An error of the engine that ends an answer.
ApiError to_api_error(const Error& error);

template <class... Ts>
[[noreturn]] void refuse(const std::string& param, const Ts&... parts) {
  throw ApiError{.message = str(parts...), .param = param};
}

// The value, or an error that the client made.
template <class T>
T value_or_refuse(Result<T> result, const std::string& param) {
  if (!result) refuse(param, result.error().to_string());
  return std::move(*result);
}

}  // namespace pteron::server
