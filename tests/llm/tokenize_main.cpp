// SPDX-License-Identifier: BSD-3-Clause
// Encodes texts for a comparison with reference packages.
//
//   tokenize_texts TOKENIZER [--parts] [--plain] [--bare] [--json OUT] [--time]
//
// --parts: the file is TokenizerParts as JSON; --plain: special tokens are only text; --bare: no tokens around the
// text;
// --json: writes the tokenizer as a tokenizer.json; --time: writes how long it took, in CPU time, and nothing else.
// Reads texts from standard input, each behind its length (u32, little-endian). For each it writes the number of
// tokens, the tokens, the length of the decoded text and that text; for an error 2^32-1 and the message as a text.
// Decoding in a stream must give the same, in whole characters, or the program fails.
#include <pteron/tokenizer.h>

#include <nlohmann/json.hpp>

#include <cstdio>
#include <cstring>
#include <ctime>
#include <fstream>
#include <iostream>
#include <iterator>

namespace pteron {
namespace {

std::string read_all(std::istream& in) {
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

Bytes as_bytes(const std::string& s) { return std::as_bytes(std::span(s)); }

TokenizerParts parts_from(const nlohmann::json& json) {
  TokenizerParts out;
  out.model = json.value("model", "");
  out.pre = json.value("pre", "");
  out.tokens = json.value("tokens", out.tokens);
  out.scores = json.value("scores", out.scores);
  out.token_type = json.value("token_type", out.token_type);
  out.merges = json.value("merges", out.merges);
  const auto take = [&](const char* key, auto& to) {
    if (json.contains(key)) to = json[key].get<typename std::remove_reference_t<decltype(to)>::value_type>();
  };
  take("bos_token_id", out.bos_token_id);
  take("eos_token_id", out.eos_token_id);
  take("unknown_token_id", out.unknown_token_id);
  take("padding_token_id", out.padding_token_id);
  take("add_bos_token", out.add_bos_token);
  take("add_eos_token", out.add_eos_token);
  take("add_space_prefix", out.add_space_prefix);
  take("remove_extra_whitespaces", out.remove_extra_whitespaces);
  return out;
}

void put(u32 value) { std::cout.write(reinterpret_cast<const char*>(&value), sizeof value); }
void put(const std::string& text) {
  put(u32(text.size()));
  std::cout.write(text.data(), std::streamsize(text.size()));
}

bool is_whole(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::ignore).size() ==
         nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace).size();
}

std::string streamed(const Tokenizer& tokenizer, const std::vector<u32>& ids) {
  StreamDecoder stream(tokenizer, false);
  std::string out;
  for (u32 id : ids) {
    const auto part = stream.push(id);
    if (!part || !is_whole(*part)) return "(half a character)";
    out += *part;
  }
  return out + stream.finish();
}

int run(int argc, char** argv) {
  std::string path, json_out;
  bool parts = false, time = false;
  EncodeOptions options;
  for (int i = 1; i < argc; ++i) {
    const std::string arg = argv[i];
    if (arg == "--parts")
      parts = true;
    else if (arg == "--plain")
      options.parse_special = false;
    else if (arg == "--bare")
      options.add_special = false;
    else if (arg == "--time")
      time = true;
    else if (arg == "--json" && i + 1 < argc)
      json_out = argv[++i];
    else
      path = arg;
  }
  std::ifstream file(path, std::ios::binary);
  const std::string bytes = read_all(file);
  const auto cpu_seconds = [] { return f64(std::clock()) / CLOCKS_PER_SEC; };
  const f64 loading = cpu_seconds();
  const auto tokenizer =
      parts ? Tokenizer::from_parts(parts_from(nlohmann::json::parse(bytes))) : Tokenizer::load(as_bytes(bytes));
  if (!tokenizer) {
    std::fprintf(stderr, "%s\n", tokenizer.error().to_string().c_str());
    return 3;
  }
  if (time) std::fprintf(stderr, "load %.3f s\n", cpu_seconds() - loading);
  if (!json_out.empty()) std::ofstream(json_out, std::ios::binary) << tokenizer->to_json();

  const std::string input = read_all(std::cin);
  f64 seconds = 0;
  u64 total = 0;
  for (size_t at = 0; at + 4 <= input.size();) {
    u32 size = 0;
    std::memcpy(&size, input.data() + at, 4);
    const std::string_view text = std::string_view(input).substr(at + 4, size);
    at += 4 + size;
    const f64 start = time ? cpu_seconds() : 0;
    const auto ids = tokenizer->encode(text, options);
    seconds += time ? cpu_seconds() - start : 0;
    total += size;
    if (time) continue;
    if (!ids) {
      put(UINT32_MAX);
      put(ids.error().to_string());
      continue;
    }
    put(u32(ids->size()));
    std::cout.write(reinterpret_cast<const char*>(ids->data()), std::streamsize(ids->size() * sizeof(u32)));
    const auto decoded = tokenizer->decode(*ids, false);
    put(decoded ? *decoded : decoded.error().to_string());
    if (!decoded || streamed(*tokenizer, *ids) != *decoded) {
      std::fprintf(stderr, "decoding in a stream differs from decoding at once\n");
      return 4;
    }
  }
  if (time) std::fprintf(stderr, "encode %.2f MB/s\n", f64(total) / seconds / 1e6);
  return 0;
}

}  // namespace
}  // namespace pteron

int main(int argc, char** argv) { return pteron::run(argc, argv); }
