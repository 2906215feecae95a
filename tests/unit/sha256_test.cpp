// SPDX-License-Identifier: BSD-3-Clause
#include "base/sha256.h"

#include <gtest/gtest.h>

namespace pteron {
namespace {

std::string digest(std::string_view text) {
  Sha256 hash;
  hash.update(std::as_bytes(std::span(text)));
  return hash.finish();
}

TEST(Sha256, MatchesTheStandardsExamples) {
  EXPECT_EQ(digest(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(digest("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(digest("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(digest(std::string(1'000'000, 'a')), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, DoesNotDependOnHowTheBytesArePieced) {
  std::string text(300, ' ');
  for (size_t i = 0; i < text.size(); ++i) text[i] = char(i * 31);
  for (size_t length = 0; length <= text.size(); length += 7)
    for (size_t piece : {1, 3, 55, 56, 63, 64, 65}) {
      Sha256 hash;
      const Bytes bytes = std::as_bytes(std::span(text)).first(length);
      for (size_t at = 0; at < length; at += piece) hash.update(bytes.subspan(at, std::min(piece, length - at)));
      EXPECT_EQ(hash.finish(), digest(std::string_view(text).substr(0, length))) << length << " in pieces of " << piece;
    }
}

}  // namespace
}  // namespace pteron
