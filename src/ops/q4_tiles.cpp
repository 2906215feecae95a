// SPDX-License-Identifier: BSD-3-Clause
#include "ops/q4_tiles.h"

#include <cstring>

namespace pteron::ops {
namespace {

constexpr u32 zero_word = 0x88888888;  // eight weights of 0

u32 blocks_of(u32 columns) { return ceil_div(columns, columns_per_block); }

u32 word_at(const std::byte* at) {
  u32 word;
  std::memcpy(&word, at, sizeof word);
  return word;
}

void put_word(MutableBytes out, u64 index, u32 word) { std::memcpy(out.data() + index * 4, &word, 4); }

// One group is a block of 64 columns (rows of the file); args: words per column.
void pack_weights(const Packing& self, Bytes rows, u64, MutableBytes out) {
  const u64 words = self.args[0], count = rows.size() / self.row_bytes;
  const u64 blocks = ceil_div(u32(count), columns_per_block);
  for (u64 block = 0; block < blocks; ++block)
    for (u64 c = 0; c < columns_per_block; ++c) {
      const u64 column = block * columns_per_block + c;
      const std::byte* row = column < count ? rows.data() + column * self.row_bytes : nullptr;
      for (u64 k = 0; k < words; ++k)
        put_word(out, (block * words + k) * columns_per_block + c, row ? word_at(row + k * 4) : zero_word);
    }
}

// One group is the whole table of the file, [groups][columns]; args: columns, groups.
void pack_scales(const Packing& self, Bytes rows, u64, MutableBytes out) {
  const u64 columns = self.args[0], groups = self.args[1];
  for (u64 g = 0; g < groups; ++g)
    for (u64 n = 0; n < columns; ++n)
      put_word(out, (n / columns_per_block * groups + g) * columns_per_block + n % columns_per_block,
               word_at(rows.data() + g * self.row_bytes + n * 4));
}

// One group is a block of 64 columns (rows of the file); args: groups.
void pack_corrections(const Packing& self, Bytes rows, u64, MutableBytes out) {
  const u64 groups = self.args[0], count = rows.size() / self.row_bytes;
  for (u64 column = 0; column < count; ++column)
    for (u64 g = 0; g < groups; ++g)
      put_word(out, (column / columns_per_block * groups + g) * columns_per_block + column % columns_per_block,
               word_at(rows.data() + column * self.row_bytes + g * 4));
}

// One group is the whole bias; args: columns.
void pack_bias(const Packing& self, Bytes rows, u64, MutableBytes out) {
  std::memcpy(out.data(), rows.data(), u64(self.args[0]) * 4);
}

}  // namespace

Packing q4_weight_tiles(const TensorArg& weight, u32 depth) {
  const u32 words = depth / 8;
  return {"q4 weights", weight.dim(1), weight.dim(0), columns_per_block, u64(words) * columns_per_block * 4,
          pack_weights, {words}};
}

Packing q4_scale_tiles(const TensorArg& scales, u32 columns, u32 groups) {
  const u64 rows = scales.dim(0);
  return {"q4 scales", u64(scales.dim(1)) * 4, rows, rows, u64(blocks_of(columns)) * groups * columns_per_block * 4,
          pack_scales, {columns, groups}};
}

Packing q4_correction_tiles(const TensorArg& weight) {
  const u32 groups = weight.dim(1);
  return {"q4 corrections", u64(groups) * 4, weight.dim(0), columns_per_block, u64(groups) * columns_per_block * 4,
          pack_corrections, {groups}};
}

Packing q4_bias_tiles(const TensorArg& bias, u32 columns) {
  return {"q4 bias", bias.numel() * 4, 1, 1, u64(blocks_of(columns)) * columns_per_block * 4, pack_bias, {columns}};
}

}  // namespace pteron::ops
