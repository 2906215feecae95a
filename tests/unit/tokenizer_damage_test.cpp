// SPDX-License-Identifier: BSD-3-Clause
// Tokenizer files that are not what they should be. What good ones give is compared with the reference packages in
// tests/llm/tokenizer_check.py.
#include "base/utf8.h"
#include "support/corrupt.h"
#include "support/fixture.h"

#include <pteron/tokenizer.h>

#include <gtest/gtest.h>

#include <algorithm>

namespace pteron::test {
namespace {

File bytes_of(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

File json_file() { return read_bytes(data_folder() / "tiny_tokenizer" / "tokenizer.json"); }

// A field of a protocol buffer that holds bytes.
std::string field(u32 number, const std::string& bytes) {
  std::string out(1, char(number << 3 | 2));
  for (size_t size = bytes.size(); out.size() == 1 || size > 0; size >>= 7)
    out += char((size & 0x7F) | (size >= 0x80 ? 0x80 : 0));
  return out + bytes;
}

std::string piece(const std::string& text, f32 score, char type) {
  std::string bytes = field(1, text) + char(2 << 3 | 5);
  bytes.append(reinterpret_cast<const char*>(&score), sizeof score);
  return field(1, bytes + char(3 << 3) + type);
}

// As SentencePiece writes models: every byte, and some words. `type` 1 is unigram, 2 is BPE.
File sentence_piece_file(char type) {
  std::string out = piece("<unk>", 0, 2) + piece("<s>", 0, 3) + piece("</s>", 0, 3);
  for (u32 byte = 0; byte < 256; ++byte) {
    char name[8];
    std::snprintf(name, sizeof name, "<0x%02X>", byte);
    out += piece(name, 0, 6);
  }
  f32 score = 0;
  for (const char* text : {"▁", "a", "b", "c", "▁a", "ab", "abc", "▁abc", "é", "日本"})
    out += piece(text, score -= 1, 1);
  out += field(2, {char(3 << 3), type, char(0x98), 0x02, 1});  // trainer: the type, byte_fallback
  return bytes_of(out + field(3, field(1, "identity") + std::string{char(3 << 3), 1}));
}

File tiktoken_file() {
  constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (u32 byte = 0; byte < 256; ++byte)
    out += std::string{digits[byte >> 2], digits[(byte & 3) << 4]} + "== " + std::to_string(byte) + "\n";
  return bytes_of(out + "YWI= 256\nYWJj 257\n");  // "ab", "abc"
}

// The metadata of a GGUF file as converted programs carry it.
File metadata_file() {
  std::string tokens = "\"<s>\"", types = "3";
  for (std::string_view letter : {"a", "b", "c", "Ġ", "Ã", "©", "æ", "Ĺ", "¥", "ľ", "¬", "ab", "abc"}) {
    tokens += std::string(", \"").append(letter) + '"';
    types += ", 1";
  }
  return bytes_of(R"({"ggml.model": "gpt2", "ggml.pre": "smollm", "ggml.bos_token_id": 0, "ggml.add_bos_token": true,
    "ggml.merges": ["a b", "ab c"], "ggml.tokens": [)" +
                  tokens + "], \"ggml.token_type\": [" + types + "]}");
}

// Whatever was read must be a tokenizer that gives tokens and text.
void use(const File& file, u32& refused) {
  const auto tokenizer = Tokenizer::load(file);
  if (!tokenizer) {
    ++refused;
    EXPECT_FALSE(tokenizer.error().message.empty());
    return;
  }
  const auto ids = tokenizer->encode("abc ab 日本 é\n<|im_start|>123");
  if (!ids) return;
  for (u32 id : *ids) EXPECT_LT(id, tokenizer->vocab_size());
  const auto text = tokenizer->decode(*ids);
  EXPECT_TRUE(!text || utf8::valid(*text));
  StreamDecoder stream(*tokenizer);
  for (u32 id = 0; id < std::min(tokenizer->vocab_size(), 300u); ++id) (void)stream.push(id);
  EXPECT_TRUE(utf8::valid(stream.finish()));
}

class TokenizerFile : public testing::TestWithParam<std::pair<const char*, File>> {};

TEST_P(TokenizerFile, IsReadAndSurvivesDamage) {
  const File& file = GetParam().second;
  const auto good = Tokenizer::load(file);
  ASSERT_TRUE(good.has_value()) << good.error().to_string();
  EXPECT_EQ(*good->decode(*good->encode("abc ab 日本 é")), "abc ab 日本 é");
  u32 refused = 0;
  for_each_corruption(file, 1000, 7, [&](const File& broken) { use(broken, refused); });
  for (size_t size = 0; size < file.size(); size += 1 + file.size() / 200)
    use(File(file.begin(), file.begin() + std::ptrdiff_t(size)), refused);
  EXPECT_GT(refused, 200u);
}

INSTANTIATE_TEST_SUITE_P(Each, TokenizerFile,
                         testing::Values(std::pair{"Json", json_file()},
                                         std::pair{"SentencePiece", sentence_piece_file(2)},
                                         std::pair{"Unigram", sentence_piece_file(1)},
                                         std::pair{"Tiktoken", tiktoken_file()},
                                         std::pair{"Metadata", metadata_file()}),
                         [](const auto& of) { return std::string(of.param.first); });

TEST(Tokenizer, RefusesFilesThatAreNone) {
  for (std::string_view text :
       {"", "hello", "{}", "[]", "null", "\xFF\xFE", "AAAA 0\n", "{\"model\": 5}", "\n\n\n", "PK\x03\x04"})
    EXPECT_FALSE(Tokenizer::load(bytes_of(text)).has_value()) << text;
}

std::string error_of(std::string_view text) {
  const auto tokenizer = Tokenizer::load(bytes_of(text));
  return tokenizer ? "" : tokenizer.error().to_string();
}

std::string metadata_with(std::string_view members) {
  return std::string(R"({"ggml.model": "llama", "ggml.tokens": ["<unk>", "<s>", "</s>", "a", "b"], )") +
         R"("ggml.scores": [0, 0, 0, -1, -2], "ggml.token_type": [2, 3, 3, 1, 1])" + std::string(members) + "}";
}

// Found by reading: a byte that was no number counted as less than 256, and was then taken.
TEST(Tokenizer, RefusesListsOfAnotherTypeOrLength) {
  EXPECT_EQ(error_of(metadata_with("")), "");
  for (const char* bytes : {R"(["a"])", "[-1]", "[256]", "[null]", "[1.5]", "[[]]", "[4294967296]", "5"})
    EXPECT_NE(error_of(metadata_with(std::string(R"(, "ggml.precompiled_charsmap": )") + bytes)).find("list of bytes"),
              std::string::npos)
        << bytes;
  for (const char* key : {"scores", "token_type", "tokens", "merges"})
    for (const char* value :
         {R"(["a", "b", "c", "d", 5])", R"([{}, {}, {}, {}, {}])", "5", "{}", R"("abcde")", "[[1, 2, 3, 4, 5]]"})
      EXPECT_NE(error_of(metadata_with(std::string(", \"ggml.") + key + "\": " + value)), "") << key << " " << value;
  for (const char* key : {"scores", "token_type"})
    for (const char* value : {"[1]", "[1, 1, 1, 1, 1, 1]"})
      EXPECT_NE(error_of(metadata_with(std::string(", \"ggml.") + key + "\": " + value)), "") << key << " " << value;
}

TEST(Tokenizer, RefusesNumbersThatNoTokenCanHave) {
  for (const char* id : {"-1", "5", "4294967295", "4294967296", "9223372036854775807", "1e3", "\"1\""}) {
    for (const char* key : {"bos_token_id", "eos_token_id", "padding_token_id"})
      EXPECT_NE(error_of(metadata_with(std::string(", \"ggml.") + key + "\": " + id)), "") << key << " " << id;
    const std::string added = std::string(R"({"model": {"type": "BPE", "vocab": {"a": 0}, "merges": []},)") +
                              R"( "added_tokens": [{"content": "<x>", "id": )" + id + "}]}";
    if (std::string_view(id) != "5") EXPECT_NE(error_of(added), "") << id;
    const std::string vocabulary =
        std::string(R"({"model": {"type": "BPE", "vocab": {"a": 0, "b": )") + id + "}, \"merges\": []}}";
    if (std::string_view(id) != "5") EXPECT_NE(error_of(vocabulary), "") << id;
  }
  const auto tokenizer = Tokenizer::load(bytes_of(metadata_with("")));
  ASSERT_TRUE(tokenizer.has_value());
  for (const u32 id : {5u, 0x7FFF'FFFFu, UINT32_MAX}) {
    EXPECT_FALSE(tokenizer->decode(std::span(&id, 1)).has_value()) << id;
    EXPECT_FALSE(StreamDecoder(*tokenizer).push(id).has_value()) << id;
    EXPECT_EQ(tokenizer->bytes(id), "");
  }
}

// llama.cpp read "<0x-1>" as the byte 255.
TEST(Tokenizer, OnlyTwoHexadecimalDigitsAreAByte) {
  for (const char* token : {"<0x-1>", "<0x+1>", "<0x 1>", "<0x1>", "<0x001>", "<0xGG>", "<0x>", "<0x0x>", "<0xFF"}) {
    std::string file = R"({"ggml.model": "llama", "ggml.tokens": ["<unk>", "<s>", "</s>", ")" + std::string(token);
    file += R"("], "ggml.scores": [0, 0, 0, 0], "ggml.token_type": [2, 3, 3, 6]})";
    const auto tokenizer = Tokenizer::load(bytes_of(file));
    if (!tokenizer) continue;  // also right
    const u32 id = 3;
    const auto text = tokenizer->decode(std::span(&id, 1));
    EXPECT_TRUE(!text || *text == token) << token << " became '" << *text << "'";
  }
}

TEST(Tokenizer, DeepPatternsAreRefused) {
  for (const auto& [open, close] : {std::pair("(", ")"), std::pair("(?:a|", ")"), std::pair("(?:", ")*")})
    for (const u32 depth : {1'000u, 100'000u}) {
      std::string pattern;
      for (u32 i = 0; i < depth; ++i) pattern += open;
      pattern += 'a';
      for (u32 i = 0; i < depth; ++i) pattern += close;
      EXPECT_NE(
          error_of(R"({"model": {"type": "BPE", "vocab": {"a": 0}, "merges": []}, "pre_tokenizer": {"type": "Split",)"
                   R"( "behavior": "Isolated", "pattern": {"Regex": ")" +
                   pattern + "\"}}}"),
          "")
          << open << " " << depth;
    }
}

}  // namespace
}  // namespace pteron::test
