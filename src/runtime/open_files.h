// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "runtime/opening.h"

namespace pteron {

struct OpenFiles {
  std::vector<std::shared_ptr<format::DataSource>> sources;  // the .pte, then the .ptd files
  ProgramFiles files;
};

// Runs an Opening over sources that answer at once.
Result<OpenFiles> open_files(std::shared_ptr<format::DataSource> program, const std::vector<std::string>& data_files);

}  // namespace pteron
