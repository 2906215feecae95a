// SPDX-License-Identifier: BSD-3-Clause
// What Unicode says about characters, as Python sees it.
#pragma once

#include "llm/text/char_set.h"

#include <string>
#include <string_view>

namespace pteron {

CharSet word_characters();   // \w: letters, digits of all kinds and the underscore
CharSet space_characters();  // \s

bool is_word(u32 c);
bool is_digit(u32 c);
bool is_numeral(u32 c);  // also superscripts and the like
bool is_letter(u32 c);
bool is_space(u32 c);
bool is_printable(u32 c);

// One character may become up to three ("ß" is "SS" in upper case).
std::string lower_case(std::string_view text);
std::string upper_case(std::string_view text);
// Every word with a capital and otherwise small letters; or only the first letter of all.
std::string title_case(std::string_view text);
std::string capitalized(std::string_view text);

enum class Side { both, left, right };
// Without the white space at its ends, or without the characters of `set` if that is not empty.
std::string_view strip(std::string_view text, Side side = Side::both, std::string_view set = {});

}  // namespace pteron
