// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nlohmann/json.hpp>

#include <cstdio>

namespace pteron::cli {

// On standard output. What is not UTF-8, a file's name perhaps, becomes replacement characters.
template <class Json>
void print_json(const Json& json) {
  std::printf("%s\n", json.dump(2, ' ', false, Json::error_handler_t::replace).c_str());
}

}  // namespace pteron::cli
