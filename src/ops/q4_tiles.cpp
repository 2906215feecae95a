// SPDX-License-Identifier: BSD-3-Clause
#include "ops/q4_tiles.h"

#include "base/half.h"

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

// A float of the file, as it is or as a half.
template <Kept kept>
Status put_float(MutableBytes out, u64 index, const std::byte* at) {
  if constexpr (kept == Kept::as_floats) {
    put_word(out, index, word_at(at));
    return {};
  }
  const f32 value = std::bit_cast<f32>(word_at(at));
  if (!is_normal_half(value))
    return invalid("a scale or minimum is ", value,
                   ", but its constant's name promises halves; convert the model again");
  const u16 half = float_to_half(value);
  std::memcpy(out.data() + index * sizeof half, &half, sizeof half);
  return {};
}

// Where a column's value for a group is.
u64 tile_index(u64 column, u64 group, u64 groups) {
  return (column / columns_per_block * groups + group) * columns_per_block + column % columns_per_block;
}

// One group is a block of 64 columns (rows of the file); args: words per column.
Status pack_weights(const Packing& self, Bytes rows, u64, MutableBytes out) {
  const u64 words = self.args[0], count = rows.size() / self.row_bytes;
  const u64 blocks = blocks_of(u32(count));
  for (u64 column = 0; column < blocks * columns_per_block; ++column) {
    const std::byte* row = column < count ? rows.data() + column * self.row_bytes : nullptr;
    for (u64 k = 0; k < words; ++k) put_word(out, tile_index(column, k, words), row ? word_at(row + k * 4) : zero_word);
  }
  return {};
}

// One group is the whole table of the file, [groups][columns]; args: columns, groups.
template <Kept kept>
Status pack_scales(const Packing& self, Bytes rows, u64, MutableBytes out) {
  const u64 columns = self.args[0], groups = self.args[1];
  for (u64 g = 0; g < groups; ++g)
    for (u64 n = 0; n < columns; ++n)
      TRY_DO(put_float<kept>(out, tile_index(n, g, groups), rows.data() + g * self.row_bytes + n * 4));
  return {};
}

// One group is a block of 64 columns (rows of the file); args: groups.
template <Kept kept>
Status pack_rows(const Packing& self, Bytes rows, u64, MutableBytes out) {
  const u64 groups = self.args[0], count = rows.size() / self.row_bytes;
  for (u64 column = 0; column < count; ++column)
    for (u64 g = 0; g < groups; ++g)
      TRY_DO(put_float<kept>(out, tile_index(column, g, groups), rows.data() + column * self.row_bytes + g * 4));
  return {};
}

// One group is the whole bias; args: columns.
Status pack_bias(const Packing& self, Bytes rows, u64, MutableBytes out) {
  std::memcpy(out.data(), rows.data(), u64(self.args[0]) * 4);
  return {};
}

u64 size_of(Kept kept) { return kept == Kept::as_halves ? sizeof(u16) : sizeof(f32); }

}  // namespace

Packing q4_weight_tiles(const TensorArg& weight, u32 depth) {
  const u32 words = depth / 8;
  return {"q4 weights", weight.dim(1), weight.dim(0), columns_per_block, u64(words) * columns_per_block * 4,
          pack_weights, {words}};
}

Packing q4_scale_tiles(const TensorArg& scales, u32 columns, u32 groups, Kept kept) {
  const u64 rows = scales.dim(0), bytes = u64(blocks_of(columns)) * groups * columns_per_block * size_of(kept);
  const bool halves = kept == Kept::as_halves;
  return {halves ? "q4 half scales" : "q4 scales",
          u64(scales.dim(1)) * 4,
          rows,
          rows,
          bytes,
          halves ? pack_scales<Kept::as_halves> : pack_scales<Kept::as_floats>,
          {columns, groups}};
}

Packing q4_row_tiles(const TensorArg& rows, Kept kept) {
  const u32 groups = rows.dim(1);
  const bool halves = kept == Kept::as_halves;
  return {halves ? "q4 half rows" : "q4 rows",
          u64(groups) * 4,
          rows.dim(0),
          columns_per_block,
          u64(groups) * columns_per_block * size_of(kept),
          halves ? pack_rows<Kept::as_halves> : pack_rows<Kept::as_floats>,
          {groups}};
}

Packing q4_bias_tiles(const TensorArg& bias, u32 columns) {
  return {"q4 bias", bias.numel() * 4, 1, 1, u64(blocks_of(columns)) * columns_per_block * 4, pack_bias, {columns}};
}

}  // namespace pteron::ops
