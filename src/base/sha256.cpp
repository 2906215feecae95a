// SPDX-License-Identifier: BSD-3-Clause
#include "base/sha256.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace pteron {
namespace {

constexpr u32 block_bytes = 64;

// The first 32 bits of the fractional parts of the cube roots of the first 64 primes.
constexpr std::array<u32, 64> round_constants{
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

u32 load_big_endian(const std::byte* at) { return u32(at[0]) << 24 | u32(at[1]) << 16 | u32(at[2]) << 8 | u32(at[3]); }

}  // namespace

void Sha256::compress(const std::byte* block) {
  std::array<u32, 64> w;
  for (size_t i = 0; i < 16; ++i) w[i] = load_big_endian(block + 4 * i);
  for (u32 i = 16; i < 64; ++i) {
    const u32 a = w[i - 15], b = w[i - 2];
    const u32 s0 = std::rotr(a, 7) ^ std::rotr(a, 18) ^ (a >> 3);
    const u32 s1 = std::rotr(b, 17) ^ std::rotr(b, 19) ^ (b >> 10);
    w[i] = w[i - 16] + s0 + w[i - 7] + s1;
  }
  auto [a, b, c, d, e, f, g, h] = state_;
  for (u32 i = 0; i < 64; ++i) {
    const u32 s1 = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25);
    const u32 choice = (e & f) ^ (~e & g);
    const u32 t1 = h + s1 + choice + round_constants[i] + w[i];
    const u32 s0 = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22);
    const u32 majority = (a & b) ^ (a & c) ^ (b & c);
    h = g, g = f, f = e, e = d + t1, d = c, c = b, b = a, a = t1 + s0 + majority;
  }
  const std::array<u32, 8> mixed{a, b, c, d, e, f, g, h};
  for (u32 i = 0; i < 8; ++i) state_[i] += mixed[i];
}

void Sha256::update(Bytes bytes) {
  const u64 filled = total_ % block_bytes;
  total_ += bytes.size();
  if (filled > 0) {
    const u64 take = std::min<u64>(block_bytes - filled, bytes.size());
    std::copy_n(bytes.begin(), take, pending_.begin() + i64(filled));
    bytes = bytes.subspan(take);
    if (filled + take < block_bytes) return;
    compress(pending_.data());
  }
  for (; bytes.size() >= block_bytes; bytes = bytes.subspan(block_bytes)) compress(bytes.data());
  std::copy(bytes.begin(), bytes.end(), pending_.begin());
}

std::string Sha256::finish() {
  const u64 bits = total_ * 8;
  std::array<std::byte, block_bytes + 8> tail{std::byte(0x80)};
  const u64 zeros_end = (total_ % block_bytes < 56 ? 56 : 120) - total_ % block_bytes;
  for (u32 i = 0; i < 8; ++i) tail[zeros_end + i] = std::byte(bits >> (56 - 8 * i));
  update(Bytes(tail).first(zeros_end + 8));
  std::string out;
  for (u32 word : state_)
    for (i32 shift = 28; shift >= 0; shift -= 4) out += "0123456789abcdef"[word >> shift & 15];
  return out;
}

}  // namespace pteron
