// SPDX-License-Identifier: BSD-3-Clause
// What a program carries beside its graph, as named data:
//   pteron.model.json      name, architecture, license, context, special tokens
//   pteron.tokenizer.json  the file's tokenizer metadata as it is, without the prefix "tokenizer."
//   pteron.chat_template   the chat template, if there is one
#pragma once

#include "convert/model.h"
#include "format/program_writer.h"

namespace pteron::convert {

Result<std::vector<format::NamedBlob>> attachments(const Gguf& file, const Model& model);

}  // namespace pteron::convert
