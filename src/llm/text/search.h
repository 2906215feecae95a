// SPDX-License-Identifier: BSD-3-Clause
// Finding text in text in linear time, whatever the texts are.
#pragma once

#include <pteron/types.h>

#include <string_view>
#include <vector>

namespace pteron {

// Of each prefix of `text`: the length of its longest proper suffix that is also a prefix.
std::vector<u32> borders(std::string_view text);

// The first place at or behind `from`, or npos.
size_t find_text(std::string_view text, std::string_view wanted, size_t from = 0);
// The last place, or npos.
size_t find_last_text(std::string_view text, std::string_view wanted);

}  // namespace pteron
