// SPDX-License-Identifier: BSD-3-Clause
// JSON, as files of models and conversations have it; what is read is written and read once more.
#include "llm/json/json.h"
#include "fuzz.h"

#include <cstdlib>

namespace pteron::fuzz {

void target(Bytes input) {
  const auto parsed = Json::parse(text_of(input));
  if (!parsed) return;
  const std::string written = parsed->dump();
  const auto again = Json::parse(written);
  if (!again || again->dump() != written) std::abort();
}

}  // namespace pteron::fuzz
