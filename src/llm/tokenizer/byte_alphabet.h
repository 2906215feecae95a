// SPDX-License-Identifier: BSD-3-Clause
// Byte-level tokenizers write each byte as a printable character: itself where it is one, else from U+0100 on.
#pragma once

#include <pteron/types.h>

#include <optional>
#include <string>
#include <string_view>

namespace pteron::tokenizer {

u32 byte_to_letter(u8 byte);
std::string bytes_to_letters(std::string_view bytes);
// Nothing if a character is not of the alphabet.
std::optional<std::string> letters_to_bytes(std::string_view letters);

}  // namespace pteron::tokenizer
