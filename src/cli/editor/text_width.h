// SPDX-License-Identifier: BSD-3-Clause
// How text takes place on a terminal.
#pragma once

#include <pteron/types.h>

#include <string_view>

namespace pteron::cli {

// What the cursor steps over at once: a character with its marks, a flag, an emoji that is several joined ones.
struct Cluster {
  size_t size = 0;  // in bytes
  u32 columns = 0;
};

// At a place of valid UTF-8 that is not its end.
Cluster cluster_at(std::string_view text, size_t at);
// Where the cluster that ends at `at`, or holds it, starts.
size_t cluster_before(std::string_view text, size_t at);

}  // namespace pteron::cli
