// SPDX-License-Identifier: BSD-3-Clause
#include "base/error.h"
#include "llm/tokenizer/reader.h"

#include <algorithm>

namespace pteron::tokenizer {
namespace {

bool looks_like_tiktoken(std::string_view file) {
  const std::string_view line = file.substr(0, std::min(file.find('\n'), size_t(4096)));
  const size_t space = line.find(' ');
  const auto base64 = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '+' || c == '/' ||
           c == '=';
  };
  return space != std::string_view::npos && space > 0 && space % 4 == 0 && space + 1 < line.size() &&
         std::ranges::all_of(line.substr(0, space), base64) && line[space + 1] >= '0' && line[space + 1] <= '9';
}

// A file that was fetched in the wrong way, or is something else.
std::string what_it_is_instead(std::string_view file) {
  if (file.starts_with("version https://git-lfs"))
    return "it is a Git LFS pointer; fetch the file itself with 'git lfs pull'";
  if (file.starts_with("GGUF")) return "it is a GGUF model; convert it, its tokenizer goes with it";
  if (file.starts_with("<!DOCTYPE") || file.starts_with("<html")) return "it is a web page; download the file itself";
  if (file.size() >= 8 && file.substr(4, 2) == "ET") return "it is an ExecuTorch program";
  return "it is neither a Hugging Face tokenizer.json, a SentencePiece model nor a tiktoken file";
}

}  // namespace

Result<Definition> read_any(std::string_view file) {
  if (file.starts_with("\xEF\xBB\xBF")) file.remove_prefix(3);  // a byte-order mark
  if (file.empty()) return invalid("the file is empty");
  const size_t first = file.find_first_not_of(" \t\r\n");
  if (first != std::string_view::npos && file[first] == '{') return read_json(file);
  if (file[0] == '\n') return read_sentence_piece(file);  // the tag of the first piece
  if (looks_like_tiktoken(file)) return read_tiktoken(file);
  return invalid(what_it_is_instead(file));
}

}  // namespace pteron::tokenizer
