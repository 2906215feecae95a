// SPDX-License-Identifier: BSD-3-Clause
// What `pteron tune` has found out: for a program on an adapter, the fastest kernels for its shapes. A small JSON file
// per program in the user's cache folder.
#pragma once

#include "cli/cli.h"

namespace pteron::cli {

struct Tuning {
  std::string model;
  AdapterDescription adapter;
  std::vector<std::string> routes;  // see LoadOptions::routes
};

// Where the tunings of this program are kept. Programs are told apart by their size and first bytes.
Result<std::string> tuning_path(const std::string& model);
// Returns the file.
Result<std::string> save_tuning(const Tuning& tuning);
// Adds the routes that were found for this program on the device, if any; only if there may be some is a device opened.
Status apply_tuning(const Common& common, const std::string& model, LoadOptions& load);

}  // namespace pteron::cli
