// SPDX-License-Identifier: BSD-3-Clause
// What the dispatches of a step ask of a GPU, for `info --cost` and `bench`.
#pragma once

#include <pteron/program.h>

#include <nlohmann/json.hpp>

namespace pteron::cli {

nlohmann::ordered_json costs_to_json(std::span<const DispatchCost> costs);
// A line for all that are equal, and the sum.
void print_costs(std::span<const DispatchCost> costs);

}  // namespace pteron::cli
