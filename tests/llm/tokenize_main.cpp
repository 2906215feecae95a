// SPDX-License-Identifier: BSD-3-Clause
// Encodes and decodes for a comparison with reference packages.
//
//   tokenize_texts TOKENIZER [--plain] [--bare] [--decode | --time]
//
//   --plain    special tokens in a text are only text
//   --bare     no special tokens around it
//   --decode   the input is tokens rather than texts
//   --time     only tell how long it takes, in CPU time
//
// Reads items from standard input, each behind its length in bytes (u32, little-endian). For each it writes the number
// of tokens, the tokens and the decoded text behind its length; for an error 2^32-1 and the message. It fails if
// decoding in a stream gives half a character, or another text where there are no bad bytes.
#include "base/utf8.h"

#include <pteron/tokenizer.h>

#include <cstdio>
#include <cstring>
#include <ctime>
#include <fstream>
#include <iostream>
#include <iterator>

namespace pteron {
namespace {

struct Arguments {
  std::string tokenizer;
  bool decode = false, time = false;
  EncodeOptions encode;
};

Arguments parse(int argc, char** argv) {
  Arguments out;
  for (int i = 1; i < argc; ++i) {
    const std::string_view arg = argv[i];
    if (arg == "--plain")
      out.encode.parse_special = false;
    else if (arg == "--bare")
      out.encode.add_special = false;
    else if (arg == "--decode")
      out.decode = true;
    else if (arg == "--time")
      out.time = true;
    else
      out.tokenizer = arg;
  }
  return out;
}

std::string read_all(std::istream& in) {
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

Result<Tokenizer> load(const Arguments& arguments) {
  std::ifstream file(arguments.tokenizer, std::ios::binary);
  const std::string bytes = read_all(file);
  return Tokenizer::load(std::as_bytes(std::span(bytes)));
}

// Calls use(bytes) for each item of the input.
template <class Use>
void for_each_item(const std::string& input, Use use) {
  for (size_t at = 0; at + 4 <= input.size();) {
    u32 size = 0;
    std::memcpy(&size, input.data() + at, 4);
    use(std::string_view(input).substr(at + 4, size));
    at += 4 + size;
  }
}

void put(u32 value) { std::cout.write(reinterpret_cast<const char*>(&value), sizeof value); }
void put(const std::string& text) {
  put(u32(text.size()));
  std::cout.write(text.data(), std::streamsize(text.size()));
}

bool stream_agrees(const Tokenizer& tokenizer, const std::vector<u32>& ids, const std::string& decoded) {
  StreamDecoder stream(tokenizer, false);
  std::string all;
  for (u32 id : ids) {
    const auto part = stream.push(id);
    if (!part || utf8::find_invalid(*part) != part->size()) return false;
    all += *part;
  }
  all += stream.finish();
  return all == decoded || decoded.find(utf8::replacement) != std::string::npos;
}

Result<std::vector<u32>> tokens_of(const Tokenizer& tokenizer, std::string_view item, const Arguments& arguments) {
  if (!arguments.decode) return tokenizer.encode(item, arguments.encode);
  std::vector<u32> ids(item.size() / sizeof(u32));
  std::memcpy(ids.data(), item.data(), ids.size() * sizeof(u32));
  return ids;
}

bool answer(const Tokenizer& tokenizer, std::string_view item, const Arguments& arguments) {
  const auto ids = tokens_of(tokenizer, item, arguments);
  const auto decoded = ids ? tokenizer.decode(*ids, false) : Result<std::string>("");
  if (!ids || !decoded) {
    put(UINT32_MAX);
    put((ids ? decoded.error() : ids.error()).to_string());
    return true;
  }
  put(u32(ids->size()));
  std::cout.write(reinterpret_cast<const char*>(ids->data()), std::streamsize(ids->size() * sizeof(u32)));
  put(*decoded);
  return stream_agrees(tokenizer, *ids, *decoded);
}

int run(const Arguments& arguments) {
  const auto cpu_seconds = [] { return f64(std::clock()) / CLOCKS_PER_SEC; };
  const f64 start = cpu_seconds();
  const auto tokenizer = load(arguments);
  if (!tokenizer) {
    std::fprintf(stderr, "%s\n", tokenizer.error().to_string().c_str());
    return 3;
  }
  const f64 loaded = cpu_seconds();
  const std::string input = read_all(std::cin);
  if (arguments.time) {
    const f64 before = cpu_seconds();
    for_each_item(input, [&](std::string_view text) { (void)tokenizer->encode(text, arguments.encode); });
    std::printf("load %.3f s, encode %.2f MB/s\n", loaded - start, f64(input.size()) / (cpu_seconds() - before) / 1e6);
    return 0;
  }
  bool good = true;
  for_each_item(input, [&](std::string_view item) { good &= answer(*tokenizer, item, arguments); });
  if (!good) std::fprintf(stderr, "decoding in a stream differs from decoding at once\n");
  return good ? 0 : 4;
}

}  // namespace
}  // namespace pteron

int main(int argc, char** argv) { return pteron::run(pteron::parse(argc, argv)); }
